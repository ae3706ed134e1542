package cachekit_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

func TestCrateStore(t *testing.T) {
	long, fixed := 0, 0
	for _, v := range section[struct {
		Payload   string
		Len       int
		Sum       hexBytes `json:"payload_sha256"`
		Checksum  hexBytes
		BlockLen  int `json:"block_len"`
		Ratio     float64
		Format    *string
		FormatLen int `json:"format_len"`
		Envelope  hexBytes
	}](t, "store", 122) {
		name := fmt.Sprintf("%s of %d bytes", v.Payload, v.Len)
		payload := corpus(t, v.Payload, v.Len)
		if sum := sha256.Sum256(payload); !bytes.Equal(sum[:], v.Sum) {
			t.Fatalf("%s: not the payload that was stored", name)
		}
		if sum := cachekit.Checksum(payload); !bytes.Equal(sum[:], v.Checksum) || !cachekit.VerifyChecksum(payload, sum) {
			t.Errorf("%s: checksum %x, want %x", name, sum, v.Checksum)
		}
		format := strings.Repeat("f", v.FormatLen)
		if v.Format != nil {
			format = *v.Format
		}
		if v.Envelope != nil {
			data, f, err := retrieve(t, v.Envelope)
			if err != nil || !bytes.Equal(data, payload) || v.Format != nil && f != format || len(f) != len(format) {
				t.Errorf("%s: retrieving the original's: %d bytes, %q, %v", name, len(data), f, err)
			}
		} else {
			long++
		}
		env, err := cachekit.StoreFormat(nil, payload, format)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		data, f, err := retrieveWith(t, cachekit.Codec{Strict: true}, env)
		if err != nil || !bytes.Equal(data, payload) || f != format {
			t.Errorf("%s: storing and retrieving: %d bytes, %q, %v", name, len(data), f, err)
		}
		ratio, err := cachekit.EstimateRatio(payload)
		// Long matches apart, compressors are much alike where there is room.
		if err != nil || v.Len >= 1024 && ratio < 0.9*min(v.Ratio, 20) {
			t.Errorf("%s: ratio %v, %v, the original's is %v", name, ratio, err, v.Ratio)
		}
		if v.Len >= 64 {
			continue
		}
		fixed++
		if !bytes.Equal(env, v.Envelope) {
			t.Errorf("%s: got %x, want %x", name, env, v.Envelope)
		}
		if ratio != v.Ratio {
			t.Errorf("%s: ratio %v, want %v", name, ratio, v.Ratio)
		}
	}
	count(t, "store with a hash only", long, 11)
	count(t, "store with a fixed block", fixed, 28)
}

func TestCrateChecksum(t *testing.T) {
	for _, v := range section[struct {
		Data     hexBytes
		Payload  string
		Len      int
		Checksum hexBytes
	}](t, "checksum", 20) {
		data := []byte(v.Data)
		if v.Payload != "" {
			data = corpus(t, v.Payload, v.Len)
		}
		sum := cachekit.Checksum(data)
		if !bytes.Equal(sum[:], v.Checksum) {
			t.Errorf("%s of %d bytes: got %x, want %x", v.Payload, len(data), sum, v.Checksum)
		}
		for i := range 64 {
			bad := sum
			bad[i/8] ^= 1 << (i % 8)
			if cachekit.VerifyChecksum(data, bad) {
				t.Errorf("%s of %d bytes: verified with bit %d flipped", v.Payload, len(data), i)
			}
		}
	}
}

func TestCrateLimits(t *testing.T) {
	var all struct{ Limits map[string]int }
	load(t, "crate-0.7.2.json", &all)
	want := map[string]int{
		"max_uncompressed_size":  cachekit.MaxPayload,
		"max_compressed_size":    cachekit.MaxCompressed,
		"max_compression_ratio":  cachekit.MaxRatio,
		"max_domain_length":      cachekit.MaxDomainSize,
		"max_tenant_salt_length": cachekit.MaxTenantSaltSize,
		"max_decrypt_only_keys":  cachekit.MaxDecryptOnlyKeys,
	}
	if !maps.Equal(all.Limits, want) {
		t.Errorf("got %v, want %v", want, all.Limits)
	}
}

// retrieveRow is a row of the sections on reading.
type retrieveRow struct {
	Name      string
	Envelope  hexBytes
	Data      hexBytes
	DataLen   int      `json:"data_len"`
	DataSum   hexBytes `json:"data_sha256"`
	Format    *string
	FormatLen int      `json:"format_len"`
	FormatSum hexBytes `json:"format_sha256"`
	Text      string
}

// check compares what we read with what the original read.
func (v *retrieveRow) check(data []byte, format string, err error) bool {
	if v.Text != "" {
		return sameEnvelopeError(err, v.Text)
	}
	if err != nil {
		return false
	}
	if v.DataSum != nil {
		if sum := sha256.Sum256(data); len(data) != v.DataLen || !bytes.Equal(sum[:], v.DataSum) {
			return false
		}
	} else if !bytes.Equal(data, v.Data) {
		return false
	}
	if v.FormatSum != nil {
		sum := sha256.Sum256([]byte(format))
		return len(format) == v.FormatLen && bytes.Equal(sum[:], v.FormatSum)
	}
	return v.Format != nil && format == *v.Format
}

// crateOnly names the rows in which the original's decoder reads more than the
// protocol has. We refuse them.
var crateOnly = []string{
	"checksum bin16 of 8",
	"checksum bin32 of 8",
	"checksum bin8 of 40",
	"checksum bin8 of 8",
	"checksum bin8 of 9",
	"compressed as fixstr",
	"compressed as str8 invalid utf-8",
	"compressed as str8 invalid utf-8 second",
	"compressed empty str",
	"format as bin8 utf-8",
	"map bin keys",
	"map extra unknown ext value",
	"map extra unknown key",
	"map extra unknown nested, 100 levels",
	"map integer keys",
	"map integer keys with unknown 9",
	"map invalid utf-8 key",
	"map named",
	"map named legacy payload",
	"map named reversed",
	"map uint16 integer keys",
	"map16 named",
	"map32 named",
	"wrong order: checksum first",
}

func TestCrateShape(t *testing.T) {
	var differ []string
	for _, v := range section[retrieveRow](t, "retrieve_shape", 217) {
		data, format, err := retrieve(t, v.Envelope)
		if v.check(data, format, err) {
			continue
		}
		differ = append(differ, v.Name)
		if !sameEnvelopeError(err, "deserialization failed: of the protocol's own") {
			t.Errorf("%s: got %x, %q, %v, want %s", v.Name, data, format, err, v.Text)
		}
	}
	slices.Sort(differ)
	if !slices.Equal(differ, crateOnly) {
		t.Errorf("we differ from the original in\n%s\nwant\n%s", strings.Join(differ, "\n"), strings.Join(crateOnly, "\n"))
	}
}

func TestCrateStrict(t *testing.T) {
	trailing := 0
	for _, v := range section[retrieveRow](t, "retrieve_shape", 217) {
		_, _, tolerant := retrieve(t, v.Envelope)
		_, _, strict := retrieveWith(t, cachekit.Codec{Strict: true}, v.Envelope)
		if !strings.HasPrefix(v.Name, "trailing ") {
			if (strict == nil) != (tolerant == nil) || strict != nil && strict.Error() != tolerant.Error() {
				t.Errorf("%s: strictly %v, else %v", v.Name, strict, tolerant)
			}
			continue
		}
		trailing++
		if tolerant != nil || !sameEnvelopeError(strict, "deserialization failed: trailing") {
			t.Errorf("%s: strictly %v, else %v", v.Name, strict, tolerant)
		}
	}
	count(t, "trailing bytes", trailing, 4)
}

func TestCrateBounds(t *testing.T) {
	for _, v := range section[retrieveRow](t, "retrieve_bounds", 29) {
		if data, format, err := retrieve(t, v.Envelope); !v.check(data, format, err) {
			t.Errorf("%s: got %x, %q, %v, want %s", v.Name, data, format, err, v.Text)
		}
	}
}

func TestCrateLZ4(t *testing.T) {
	for _, v := range section[retrieveRow](t, "retrieve_lz4", 30) {
		if data, format, err := retrieve(t, v.Envelope); !v.check(data, format, err) {
			t.Errorf("%s: got %x, %q, %v, want %s", v.Name, data, format, err, v.Text)
		}
	}
}

func TestCrateFlips(t *testing.T) {
	plain := section[retrieveRow](t, "retrieve_shape", 217)[0].Envelope
	for _, v := range section[struct {
		Xor     hexBytes
		Results []string
	}](t, "retrieve_flips", 3) {
		count(t, "results", len(v.Results), len(plain))
		for i, want := range v.Results {
			env := bytes.Clone(plain)
			env[i] ^= v.Xor[0]
			data, format, err := retrieve(t, env)
			if strings.HasPrefix(want, "ok ") {
				if got := fmt.Sprintf("ok data=%x format=%s", data, format); got != want || err != nil {
					t.Errorf("byte %d ^ %x: got %s, %v, want %s", i, v.Xor, got, err, want)
				}
			} else if !sameEnvelopeError(err, want) {
				t.Errorf("byte %d ^ %x: got %v, want %s", i, v.Xor, err, want)
			}
		}
	}
}
