package cachekit_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// A segment is repeated count times.
type segment struct {
	Hex   hexBytes
	Count int
}

// build concatenates segments.
func build(segments []segment) []byte {
	var b []byte
	for _, s := range segments {
		b = append(b, bytes.Repeat(s.Hex, s.Count)...)
	}
	return b
}

// wireVectors are the vectors of wire-format.json 1.4.0.
type wireVectors struct {
	Vectors []struct {
		Name, Format string
		Input        hexBytes `json:"input_hex"`
		Envelope     hexBytes `json:"envelope_hex"`
	}
	Constructed []struct {
		Name, Format string
		Size         int       `json:"envelope_size"`
		Checksum     hexBytes  `json:"checksum_hex"`
		Envelope     []segment `json:"envelope_construction"`
		Input        []segment `json:"input_construction"`
	} `json:"constructed_vectors"`
	Reject []struct {
		Name     string
		Envelope hexBytes `json:"envelope_hex"`
		Size     uint64   `json:"original_size"`
	} `json:"reject_vectors"`
	PayloadReject []struct {
		Name     string
		Envelope hexBytes `json:"envelope_hex"`
		Input    hexBytes `json:"input_hex"`
	} `json:"payload_reject_vectors"`
	Temporal []struct {
		Payload hexBytes `json:"payload_hex"`
	} `json:"temporal_sentinel_vectors"`
}

func loadWire(t testing.TB) (w wireVectors) {
	t.Helper()
	load(t, "wire-format.json", &w)
	count(t, "vectors", len(w.Vectors), 18)
	count(t, "constructed_vectors", len(w.Constructed), 4)
	count(t, "reject_vectors", len(w.Reject), 14)
	count(t, "payload_reject_vectors", len(w.PayloadReject), 2)
	count(t, "temporal_sentinel_vectors", len(w.Temporal), 3)
	return w
}

func TestWireVectors(t *testing.T) {
	for _, v := range loadWire(t).Vectors {
		data, format, err := retrieve(t, v.Envelope)
		if err != nil || !bytes.Equal(data, v.Input) || format != v.Format {
			t.Errorf("%s: got %x, %q, %v", v.Name, data, format, err)
		}
		env, err := cachekit.StoreFormat(nil, v.Input, v.Format)
		if err != nil {
			t.Errorf("%s: storing: %v", v.Name, err)
		}
		if data, format, err := retrieve(t, env); err != nil || !bytes.Equal(data, v.Input) || format != v.Format {
			t.Errorf("%s: storing and retrieving: got %x, %q, %v", v.Name, data, format, err)
		}
	}
}

func TestWireConstructed(t *testing.T) {
	for _, v := range loadWire(t).Constructed {
		env, input := build(v.Envelope), build(v.Input)
		if len(env) != v.Size {
			t.Fatalf("%s: built %d bytes, want %d", v.Name, len(env), v.Size)
		}
		data, format, err := retrieve(t, env)
		if err != nil || !bytes.Equal(data, input) || format != v.Format {
			t.Errorf("%s: got %d bytes, %q, %v", v.Name, len(data), format, err)
		}
		if sum := cachekit.Checksum(input); !bytes.Equal(sum[:], v.Checksum) {
			t.Errorf("%s: checksum %x, want %x", v.Name, sum, v.Checksum)
		}
	}
}

// allocated returns the bytes that f allocates. Nothing else may run.
func allocated(f func()) uint64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// sink keeps what a test allocates.
var sink []byte

func TestAllocated(t *testing.T) {
	// The probe must see a reader that believes the envelope.
	const size = 512 << 20
	got := allocated(func() { sink = make([]byte, size) })
	sink = nil
	if got < size {
		t.Errorf("allocated saw %d of %d bytes", got, size)
	}
}

func TestWireReject(t *testing.T) {
	const preScan = "deserialization failed: decode pre-scan: declares more elements than the input can back"
	kinds := map[string]error{
		"reject_original_size_over_cap":       cachekit.ErrInputTooLarge,
		"reject_original_size_wraps_u32":      cachekit.ErrDeserializationFailed,
		"reject_original_size_sign_bit":       cachekit.ErrDeserializationFailed,
		"reject_zero_length_compressed_data":  cachekit.ErrDecompressionBomb,
		"reject_ratio_bomb":                   cachekit.ErrDecompressionBomb,
		"reject_ratio_float32_rounds":         cachekit.ErrDecompressionBomb,
		"reject_decompressed_length_mismatch": cachekit.ErrSizeValidationFailed,
		"reject_checksum_mismatch":            cachekit.ErrChecksumMismatch,
		"reject_envelope_arity_5":             cachekit.ErrDeserializationFailed,
		"reject_envelope_arity_3":             cachekit.ErrDeserializationFailed,
		"reject_checksum_nine_elements":       cachekit.ErrDeserializationFailed,
		"reject_checksum_seven_elements":      cachekit.ErrDeserializationFailed,
		"reject_legacy_element_above_255":     cachekit.ErrDeserializationFailed,
		"reject_envelope_slots_overclaim":     cachekit.ErrDeserializationFailed,
	}
	bounded := 0
	for _, v := range loadWire(t).Reject {
		want := kinds[v.Name]
		if want == nil {
			t.Fatalf("unknown vector %s", v.Name)
		}
		_, _, err := retrieve(t, v.Envelope)
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", v.Name, err, want)
			continue
		}
		for _, k := range envelopeKinds {
			if k.err != want && errors.Is(err, k.err) {
				t.Errorf("%s: %v is also %v", v.Name, err, k.err)
			}
		}
		var s *cachekit.StructureError
		if v.Name == "reject_envelope_slots_overclaim" {
			if err.Error() != preScan || !errors.As(err, &s) {
				t.Errorf("%s: got %q, want %q", v.Name, err, preScan)
			}
		} else if errors.As(err, &s) {
			t.Errorf("%s: %v comes from the pre-scan", v.Name, err)
		}
		if v.Name == "reject_original_size_over_cap" || v.Name == "reject_ratio_bomb" {
			bounded++
			for _, f := range []func(){
				func() { cachekit.Retrieve(nil, v.Envelope) },
				func() { cachekit.Validate(v.Envelope) },
			} {
				if n := allocated(f); n >= v.Size {
					t.Errorf("%s: allocated %d bytes, claimed are %d", v.Name, n, v.Size)
				}
			}
		}
	}
	count(t, "allocation bounds", bounded, 2)
}

// A block that is within the ratio but does not hold what it claims must not
// make dst grow either.
func TestRetrieveGrowsByWhatIsThere(t *testing.T) {
	const size = 100_000_000
	literals := incompressible(size/1000, 1)
	block := append([]byte{0xf0}, bytes.Repeat([]byte{0xff}, (len(literals)-15)/255)...)
	block = append(append(block, byte((len(literals)-15)%255)), literals...)
	for _, v := range []struct {
		name  string
		block []byte
		want  error
	}{
		{"broken", make([]byte, size/1000), cachekit.ErrDecompressionFailed},
		{"unending", append([]byte{0xf0}, bytes.Repeat([]byte{0xff}, size/1000)...), cachekit.ErrDecompressionFailed},
		{"short", block, cachekit.ErrChecksumMismatch},
	} {
		env := append([]byte{0x94, 0xc6}, binary.BigEndian.AppendUint32(nil, uint32(len(v.block)))...)
		env = append(env, v.block...)
		env = append(env, 0x98, 0, 0, 0, 0, 0, 0, 0, 0, 0xce)
		env = binary.BigEndian.AppendUint32(env, size)
		env = append(env, 0xa0)
		var err error
		n := allocated(func() { _, _, err = cachekit.Retrieve(nil, env) })
		if !errors.Is(err, v.want) || n >= size/10 {
			t.Errorf("%s: allocated %d bytes, error %v", v.name, n, err)
		}
	}
}

func TestWirePayloadReject(t *testing.T) {
	for _, v := range loadWire(t).PayloadReject {
		data, _, err := retrieve(t, v.Envelope)
		if err != nil || !bytes.Equal(data, v.Input) {
			t.Errorf("%s: got %x, %v", v.Name, data, err)
		}
		err = cachekit.CheckStructure(data, cachekit.MaxDepth)
		if err == nil || !strings.HasPrefix(err.Error(), "declares more ") {
			t.Errorf("%s: payload structure: %v", v.Name, err)
		}
	}
}
