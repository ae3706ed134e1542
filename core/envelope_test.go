package cachekit_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

func TestCrateEncodeInto(t *testing.T) {
	e, err := cachekit.NewEnvelope([]byte("payload"), "msgpack")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range section[struct {
		EncodedLen int `json:"encoded_len"`
		Buffer     int
		Result     string
	}](t, "encode_into", 4) {
		if n := e.EncodedLen(); n != v.EncodedLen {
			t.Errorf("encoded length %d, want %d", n, v.EncodedLen)
		}
		buf := bytes.Repeat([]byte{0xa5}, v.Buffer)
		err := e.EncodeInto(buf)
		if !strings.HasPrefix(v.Result, "serialization failed") {
			if got := fmt.Sprintf("%x", buf); err != nil || got != v.Result {
				t.Errorf("buffer of %d bytes: got %s, %v, want %s", v.Buffer, got, err, v.Result)
			}
		} else if !sameEnvelopeError(err, v.Result) || !bytes.Equal(buf, bytes.Repeat([]byte{0xa5}, v.Buffer)) {
			t.Errorf("buffer of %d bytes: got %x, %v, want %s", v.Buffer, buf, err, v.Result)
		}
	}
}

func TestEnvelopeErrors(t *testing.T) {
	// Nothing looks at the block before the limits are checked, so a slice of
	// memory that is never touched will do.
	huge := make([]byte, cachekit.MaxCompressed+1)
	for _, v := range []struct {
		name      string
		e         cachekit.Envelope
		into, out error
	}{
		{"block over the limit", cachekit.Envelope{Block: huge}, cachekit.ErrInputTooLarge, cachekit.ErrInputTooLarge},
		{"block at the limit", cachekit.Envelope{Block: huge[1:]}, cachekit.ErrInputTooLarge, cachekit.ErrDecompressionFailed},
		{"label over the limit", cachekit.Envelope{Format: strings.Repeat("f", cachekit.MaxCompressed)}, cachekit.ErrInputTooLarge, cachekit.ErrDecompressionBomb},
		{"size over the limit", cachekit.Envelope{Block: huge[:10], Size: cachekit.MaxPayload + 1}, nil, cachekit.ErrInputTooLarge},
		{"ratio over the limit", cachekit.Envelope{Block: huge[:10], Size: 10_001}, nil, cachekit.ErrDecompressionBomb},
		{"ratio at the limit", cachekit.Envelope{Block: huge[:10], Size: 10_000}, nil, cachekit.ErrDecompressionFailed},
		{"no block", cachekit.Envelope{}, nil, cachekit.ErrDecompressionBomb},
		{"label", cachekit.Envelope{Block: []byte{0}, Format: "a\xff"}, cachekit.ErrSerializationFailed, cachekit.ErrChecksumMismatch},
	} {
		var buf []byte
		if v.into != cachekit.ErrInputTooLarge {
			buf = make([]byte, v.e.EncodedLen())
		}
		if err := v.e.EncodeInto(buf); !errors.Is(err, v.into) {
			t.Errorf("%s: encoding: %v, want %v", v.name, err, v.into)
		}
		if out, err := v.e.Extract(prefix); !errors.Is(err, v.out) || !bytes.Equal(out, prefix) {
			t.Errorf("%s: extracting: %d bytes, %v, want %v", v.name, len(out), err, v.out)
		}
	}
	if _, err := cachekit.NewEnvelope(huge, ""); !errors.Is(err, cachekit.ErrInputTooLarge) {
		t.Errorf("payload over the limit: %v", err)
	}
	if _, err := cachekit.Store(nil, huge); !errors.Is(err, cachekit.ErrInputTooLarge) {
		t.Errorf("storing over the limit: %v", err)
	}
	if _, err := cachekit.EstimateRatio(huge); !errors.Is(err, cachekit.ErrInputTooLarge) {
		t.Errorf("estimating over the limit: %v", err)
	}
	for n, want := range map[int]error{cachekit.MaxCompressed: cachekit.ErrDeserializationFailed, len(huge): cachekit.ErrInputTooLarge} {
		if _, _, err := cachekit.Retrieve(nil, huge[:n]); !errors.Is(err, want) || cachekit.Validate(huge[:n]) {
			t.Errorf("retrieving %d bytes: %v, want %v", n, err, want)
		}
	}
	if _, err := cachekit.NewEnvelope(nil, "a\xff"); !errors.Is(err, cachekit.ErrSerializationFailed) {
		t.Errorf("label that is not UTF-8: %v", err)
	}
	if _, err := cachekit.ParseEnvelope(huge); !errors.Is(err, cachekit.ErrInputTooLarge) {
		t.Errorf("envelope over the limit: %v", err)
	}
}

// parseExtract is what Retrieve does, in two steps.
func parseExtract(t testing.TB, env []byte) ([]byte, string, error) {
	t.Helper()
	e, err := cachekit.ParseEnvelope(env)
	if err != nil {
		return nil, "", err
	}
	var outs [3][]byte
	for i, dst := range [][]byte{nil, bytes.Clone(prefix), append(make([]byte, 0, 1<<10), prefix...)} {
		n := len(dst)
		out, fault := e.Extract(dst)
		if i > 0 && (fault == nil) != (err == nil) || !bytes.HasPrefix(out, dst) {
			t.Errorf("Extract into %d of %d bytes: %v, else %v", n, cap(dst), fault, err)
		}
		outs[i], err = out[n:], fault
	}
	if !bytes.Equal(outs[0], outs[1]) || !bytes.Equal(outs[0], outs[2]) {
		t.Error("Extract depends on dst")
	}
	if err != nil {
		return nil, "", err
	}
	return outs[0], e.Format, nil
}

// In every row of the vectors the two steps give what Retrieve gives.
func TestEnvelopeIsRetrieve(t *testing.T) {
	var envs [][]byte
	for name, rows := range map[string]int{"retrieve_shape": 217, "retrieve_bounds": 29, "retrieve_lz4": 30} {
		for _, v := range section[retrieveRow](t, name, rows) {
			envs = append(envs, v.Envelope)
		}
	}
	for _, v := range loadWire(t).Vectors {
		envs = append(envs, v.Envelope)
	}
	for _, env := range envs {
		want, wantFormat, wantErr := retrieve(t, env)
		got, format, err := parseExtract(t, env)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !bytes.Equal(got, want) || format != wantFormat {
			t.Errorf("%x: got %x, %q, %v, want %x, %q, %v", env, got, format, err, want, wantFormat, wantErr)
		}
	}
}

func TestEnvelopeRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 1000, 70_000} {
		payload := corpus(t, "records", n)
		want, err := cachekit.StoreFormat(nil, payload, "json")
		if err != nil {
			t.Fatal(err)
		}
		e, err := cachekit.NewEnvelope(payload, "json")
		if err != nil {
			t.Fatal(err)
		}
		if e.Checksum != cachekit.Checksum(payload) || int(e.Size) != n || e.Format != "json" {
			t.Errorf("%d bytes: checksum %x, size %d, label %q", n, e.Checksum, e.Size, e.Format)
		}
		got := make([]byte, e.EncodedLen())
		if err := e.EncodeInto(got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: encoded into %d, %v, Store gives %d", n, len(got), err, len(want))
		}
		// The payload may overwrite the block.
		buf := append(make([]byte, 0, n+len(e.Block)), e.Block...)
		moved := e
		moved.Block = buf[:len(e.Block):len(e.Block)]
		if out, err := moved.Extract(buf[:0]); err != nil || !bytes.Equal(out, payload) {
			t.Errorf("%d bytes: extracting over the block: %d bytes, %v", n, len(out), err)
		}
	}
}

func TestHardwareAcceleration(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("no other source to compare with")
	}
	_, flags, _ := strings.Cut(string(info), "\nflags")
	flags, _, _ = strings.Cut(flags, "\n")
	has := strings.Fields(flags)
	if want := slices.Contains(has, "aes") && slices.Contains(has, "pclmulqdq"); cachekit.HardwareAcceleration() != want {
		t.Errorf("got %v, the kernel says %v", !want, want)
	}
}
