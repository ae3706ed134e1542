package cachekit_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// The fuzz targets of spec section 10 on envelopes; each names its row. Those on
// ciphertexts are in fuzz_encryption_test.go, those on keys in fuzz_key_test.go,
// the one that compares the pre-scan with another decoder in structure_test.go,
// and the ones on the parts in the internal packages.

// addEnvelopes seeds a fuzz target with the envelopes of the vectors.
func addEnvelopes(f *testing.F) {
	for _, v := range loadWire(f).Vectors {
		f.Add([]byte(v.Envelope))
	}
	for _, v := range loadWire(f).Reject {
		f.Add([]byte(v.Envelope))
	}
	for _, s := range []string{"retrieve_lz4", "retrieve_bounds"} {
		rows := map[string]int{"retrieve_lz4": 30, "retrieve_bounds": 29}[s]
		for _, v := range section[retrieveRow](f, s, rows) {
			f.Add([]byte(v.Envelope))
		}
	}
}

// oneOf fails unless err is of exactly one kind of envelope error, and that is
// one of kinds.
func oneOf(t *testing.T, err error, kinds ...error) {
	t.Helper()
	n, allowed := 0, false
	for _, k := range envelopeKinds {
		if errors.Is(err, k.err) {
			n++
		}
	}
	for _, k := range kinds {
		allowed = allowed || errors.Is(err, k)
	}
	if n != 1 || !allowed {
		t.Fatalf("%v is of %d kinds, want one of %v", err, n, kinds)
	}
}

// readKinds are the kinds of error that reading has.
var readKinds = []error{
	cachekit.ErrInputTooLarge, cachekit.ErrDeserializationFailed, cachekit.ErrDecompressionBomb,
	cachekit.ErrDecompressionFailed, cachekit.ErrChecksumMismatch, cachekit.ErrSizeValidationFailed,
}

// FuzzStore is byte_storage_compress: what is stored comes back, with its label.
func FuzzStore(f *testing.F) {
	f.Add([]byte(nil), "msgpack")
	f.Add(corpus(f, "records", 700), "json")
	f.Add(corpus(f, "xorshift", 64), "")
	f.Fuzz(func(t *testing.T, payload []byte, format string) {
		env, err := cachekit.StoreFormat(nil, payload, format)
		if errors.Is(err, cachekit.ErrSerializationFailed) {
			return // not UTF-8
		}
		if err != nil {
			t.Fatal(err)
		}
		data, fmt, err := retrieveWith(t, cachekit.Codec{Strict: true}, env)
		if err != nil || !bytes.Equal(data, payload) || fmt != format {
			t.Fatalf("got %d bytes, %q, %v", len(data), fmt, err)
		}
		ratio, err := cachekit.EstimateRatio(payload)
		if err != nil || (ratio == 0) != (len(payload) == 0) || ratio < 0 {
			t.Fatalf("ratio %v, %v", ratio, err)
		}
	})
}

// FuzzRetrieve is byte_storage_decompress: any bytes are refused with one kind
// of error, or give what can be stored again.
func FuzzRetrieve(f *testing.F) {
	addEnvelopes(f)
	// A low limit, so that the fuzzer cannot fill the memory by right.
	c := cachekit.Codec{MaxPayload: 1 << 20}
	f.Fuzz(func(t *testing.T, env []byte) {
		data, format, err := retrieveWith(t, c, env)
		if err != nil {
			oneOf(t, err, readKinds...)
			return
		}
		if len(data) > c.MaxPayload {
			t.Fatalf("%d bytes are over the limit", len(data))
		}
		again, err := cachekit.StoreFormat(nil, data, format)
		if err != nil {
			t.Fatal(err)
		}
		if d, f, err := retrieve(t, again); err != nil || !bytes.Equal(d, data) || f != format {
			t.Fatalf("stored again: %d bytes, %q, %v", len(d), f, err)
		}
	})
}

// FuzzCorruptedEnvelope is byte_storage_corrupted_envelope: parsing and
// extracting any bytes fails closed, and as Retrieve does.
func FuzzCorruptedEnvelope(f *testing.F) {
	addEnvelopes(f)
	f.Fuzz(func(t *testing.T, env []byte) {
		e, err := cachekit.ParseEnvelope(env)
		if err != nil {
			oneOf(t, err, cachekit.ErrDeserializationFailed)
			if e.Block != nil || e.Format != "" || e.Size != 0 || e.Checksum != [8]byte{} {
				t.Fatalf("an error and %+v", e)
			}
			return
		}
		if len(e.Block) > 1<<14 {
			t.Skip("may hold more than 16 MB by right")
		}
		data, format, err := parseExtract(t, env)
		want, wantFormat, wantErr := retrieve(t, env)
		if !bytes.Equal(data, want) || format != wantFormat || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("got %d bytes, %q, %v; Retrieve %d, %q, %v", len(data), format, err, len(want), wantFormat, wantErr)
		}
		if err == nil && (len(data) != int(e.Size) || !cachekit.VerifyChecksum(data, e.Checksum)) {
			t.Fatalf("got %d bytes with another checksum or not %d", len(data), e.Size)
		}
	})
}

// assemble writes an envelope whose size may be any number, in the widest form
// of everything.
func assemble(block []byte, sum [8]byte, size uint64, format string) []byte {
	env := binary.BigEndian.AppendUint32([]byte{0xdd, 0, 0, 0, 4, 0xc6}, uint32(len(block)))
	env = append(append(env, block...), 0xdd, 0, 0, 0, 8)
	for _, c := range sum {
		env = append(env, 0xcc, c)
	}
	env = binary.BigEndian.AppendUint64(append(env, 0xcf), size)
	env = binary.BigEndian.AppendUint32(append(env, 0xdb), uint32(len(format)))
	return append(env, format...)
}

// FuzzIntegerOverflow is byte_storage_integer_overflow: no size, checksum or
// length of the label leads anywhere but to the checks on them.
func FuzzIntegerOverflow(f *testing.F) {
	f.Add([]byte{0}, uint64(0), uint64(0x2d06800538d394c2), uint16(7))
	f.Add([]byte("\x30abc"), uint64(1<<32+3), uint64(0), uint16(0))
	f.Add([]byte("\x30abc"), uint64(1<<63+3), uint64(1), uint16(300))
	f.Add(make([]byte, 5000), uint64(math.MaxUint32/1000), uint64(1), uint16(65535))
	f.Fuzz(func(t *testing.T, block []byte, size, sum uint64, label uint16) {
		format := strings.Repeat("f", int(label))
		env := assemble(block, [8]byte(binary.BigEndian.AppendUint64(nil, sum)), size, format)
		data, got, err := retrieve(t, env)
		switch {
		case size > math.MaxUint32:
			oneOf(t, err, cachekit.ErrDeserializationFailed)
		case size > cachekit.MaxPayload:
			oneOf(t, err, cachekit.ErrInputTooLarge)
		case len(block) == 0 || size > 1000*uint64(len(block)):
			oneOf(t, err, cachekit.ErrDecompressionBomb)
		case err != nil:
			oneOf(t, err, cachekit.ErrDecompressionFailed, cachekit.ErrChecksumMismatch, cachekit.ErrSizeValidationFailed)
		case uint64(len(data)) != size || got != format:
			t.Fatalf("got %d bytes and a label of %d, want %d and %d", len(data), len(got), size, label)
		}
	})
}

// FuzzChecksumCollision is byte_storage_checksum_collision: a changed block, or
// a checksum of all ones, gives no other payload. The size cannot be what is
// wrong, as the checksum is compared first.
func FuzzChecksumCollision(f *testing.F) {
	f.Add(corpus(f, "records", 300), uint16(3), byte(0x80))
	f.Add([]byte("hello, cachekit!"), uint16(0), byte(1))
	f.Add([]byte(nil), uint16(0), byte(0x0f))
	f.Fuzz(func(t *testing.T, payload []byte, at uint16, xor byte) {
		e, err := cachekit.NewEnvelope(payload, "")
		if err != nil {
			t.Fatal(err)
		}
		ones := e
		copy(ones.Checksum[:], "\xff\xff\xff\xff\xff\xff\xff\xff")
		if _, err := ones.Extract(nil); ones.Checksum != e.Checksum && err != cachekit.ErrChecksumMismatch {
			t.Fatalf("checksum of ones: %v", err)
		}
		e.Block[int(at)%len(e.Block)] ^= xor
		data, err := e.Extract(nil)
		if err != nil {
			oneOf(t, err, cachekit.ErrChecksumMismatch, cachekit.ErrDecompressionFailed)
		} else if !bytes.Equal(data, payload) {
			t.Fatalf("byte %d ^ %#x gives another payload", at, xor)
		}
	})
}

// FuzzFormatInjection is byte_storage_format_injection: a label is opaque, and
// no reader gives one that is not UTF-8.
func FuzzFormatInjection(f *testing.F) {
	for _, s := range []string{"../../../etc/passwd", "a\x00b", "a\r\nSet-Cookie: b", "\u202egpj.exe", "\ufeffmsgpack", "\xff", "\xed\xa0\x80", strings.Repeat("字", 10_000)} {
		f.Add(s, []byte("payload"))
	}
	f.Fuzz(func(t *testing.T, format string, payload []byte) {
		env, err := cachekit.StoreFormat(nil, payload, format)
		if !utf8.ValidString(format) {
			oneOf(t, err, cachekit.ErrSerializationFailed)
			_, _, err = retrieve(t, assemble([]byte{0}, cachekit.Checksum(nil), 0, format))
			oneOf(t, err, cachekit.ErrDeserializationFailed)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		data, got, err := retrieve(t, env)
		if err != nil || !bytes.Equal(data, payload) || got != format {
			t.Fatalf("got %d bytes, %q, %v", len(data), got, err)
		}
	})
}

// FuzzEmptyData is byte_storage_empty_data: short blocks with sizes and
// checksums that may contradict them.
func FuzzEmptyData(f *testing.F) {
	f.Add([]byte(nil), uint32(0), true)
	f.Add([]byte(nil), uint32(1), true)
	f.Add([]byte{0}, uint32(0), true)
	f.Add([]byte{0}, uint32(1), true)
	f.Add([]byte{0x0f}, uint32(0), true)
	f.Add([]byte{0x10, 'a'}, uint32(0), false)
	f.Add([]byte{0}, uint32(1<<29+1), false)
	f.Fuzz(func(t *testing.T, block []byte, size uint32, empty bool) {
		block = block[:min(len(block), 8)]
		sum := [8]byte{}
		if empty {
			sum = cachekit.Checksum(nil)
		}
		data, _, err := retrieve(t, assemble(block, sum, uint64(size), ""))
		switch {
		case err != nil:
			oneOf(t, err, readKinds...)
		case len(block) == 0:
			t.Fatal("an empty block passes")
		case len(data) != int(size):
			t.Fatalf("got %d bytes, want %d", len(data), size)
		}
	})
}

// FuzzCompressionBomb is compression_bomb: what claims too much is refused for
// that, in both ways of reading, and before the memory for it is asked for.
func FuzzCompressionBomb(f *testing.F) {
	f.Add([]byte{0}, uint32(1001))
	f.Add([]byte("\x1fa\x01\x00\xff\xff\xff\xff\xff\x00\x00"), uint32(10_000))
	f.Add(bytes.Repeat([]byte{0xff}, 2000), uint32(2_000_000))
	f.Add(bytes.Repeat([]byte{0xff}, 2000), uint32(2_000_001))
	f.Add([]byte{0}, uint32(512<<20))
	f.Add([]byte{0}, uint32(512<<20+1))
	f.Add([]byte{0}, uint32(math.MaxUint32))
	f.Fuzz(func(t *testing.T, block []byte, size uint32) {
		env := assemble(block, [8]byte{}, uint64(size), "")
		var err error
		n := allocated(func() { _, _, err = cachekit.Retrieve(nil, env) })
		e := cachekit.Envelope{Block: block, Size: size}
		if _, other := e.Extract(nil); other != err {
			t.Fatalf("Retrieve says %v, Extract %v", err, other)
		}
		var want error
		switch {
		case size > cachekit.MaxPayload:
			want = cachekit.ErrInputTooLarge
		case len(block) == 0 || uint64(size) > 1000*uint64(len(block)):
			want = cachekit.ErrDecompressionBomb
		default:
			if err != nil { // a checksum of zeros may be right
				oneOf(t, err, cachekit.ErrDecompressionFailed, cachekit.ErrChecksumMismatch, cachekit.ErrSizeValidationFailed)
			}
			return
		}
		if err != want {
			t.Fatalf("%d bytes that claim %d: %v, want %v", len(block), size, err, want)
		}
		// The fuzzing engine allocates beside us, but not megabytes.
		if size > 64<<20 && n >= uint64(size)/2 {
			t.Fatalf("allocated %d bytes for a claim of %d", n, size)
		}
	})
}
