package floe_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/cachekit-go/cachekit/core/floe"
)

// declared are the errors that a broken message may give, besides.
var declared = []error{
	floe.ErrHeaderLength, floe.ErrHeaderParams, floe.ErrHeaderTag, floe.ErrCiphertextLength, floe.ErrSegmentPrefix,
	floe.ErrAuthentication, floe.ErrTruncated, floe.ErrTrailingData,
}

func isDeclared(err error) bool {
	return slices.ContainsFunc(declared, func(want error) bool { return errors.Is(err, want) })
}

// openAll opens a message in all ways, which must agree: whole, as a stream that
// must end where the source does, and by random access. It returns the
// plaintext, and whether the message was accepted.
func openAll(t *testing.T, key *floe.Key, msg []byte, workers int) ([]byte, bool) {
	t.Helper()
	want, err := floe.Open(nil, key, testAAD, msg)
	if err != nil && (!isDeclared(err) || want != nil) {
		t.Fatalf("whole: %d bytes, %v", len(want), err)
	}
	whole := err == nil

	o := floe.Options{Workers: workers}
	if got, err2 := o.Open(nil, key, testAAD, msg); !bytes.Equal(got, want) || (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
		t.Fatalf("by %d workers: %d bytes, %v, whole %d, %v", workers, len(got), err2, len(want), err)
	}

	var streamed []byte
	d, err := o.NewDecryptReader(iotest.HalfReader(bytes.NewReader(msg)), key, testAAD)
	if err == nil {
		streamed, err = io.ReadAll(d)
		if err == nil {
			err = d.Finish()
		}
	}
	if err != nil && !isDeclared(err) || (err == nil) != whole || whole && !bytes.Equal(streamed, want) {
		t.Fatalf("stream: %d bytes, %v, whole %d, %v", len(streamed), err, len(want), whole)
	}

	a, err := floe.NewReaderAt(bytes.NewReader(msg), int64(len(msg)), key, testAAD)
	var read []byte
	if err == nil {
		read = make([]byte, a.Size())
		_, err = a.ReadAt(read, 0)
	}
	if err != nil && !isDeclared(err) || (err == nil) != whole || whole && !bytes.Equal(read, want) {
		t.Fatalf("random access: %d bytes, %v, whole %d, %v", len(read), err, len(want), whole)
	}
	return want, whole
}

// FuzzOpen opens anything: no reader panics or accepts what another refuses.
func FuzzOpen(f *testing.F) {
	for _, n := range []int{0, 1, 32, 33, 100} {
		f.Add(seal(f, floe.Params64B, ruled(1, n)))
	}
	f.Add(seal(f, newParams(1<<30), ruled(2, 50)))
	f.Add([]byte(nil))
	key := newKey(f, testKey)
	f.Fuzz(func(t *testing.T, msg []byte) { openAll(t, key, msg, 2) })
}

// edit changes a message as a script of three-byte steps says: an operation, a
// place and a value.
func edit(msg, script []byte) []byte {
	for ; len(script) >= 3 && len(msg) > 0; script = script[3:] {
		at := int(binary.BigEndian.Uint16([]byte{script[1], script[2]})) % len(msg)
		segment := max(0, at-floe.HeaderSize) / 64
		start := min(len(msg), floe.HeaderSize+64*segment)
		end := min(len(msg), start+64)
		switch script[0] % 8 {
		case 0:
			msg[at] ^= 1 << (script[0] >> 3 % 8)
		case 1:
			msg = msg[:at]
		case 2: // leave a segment out
			msg = slices.Delete(msg, start, end)
		case 3: // repeat it
			msg = slices.Insert(msg, start, bytes.Clone(msg[start:end])...)
		case 4: // swap it with the next
			next := min(len(msg), end+64)
			s := append(bytes.Clone(msg[end:next]), msg[start:end]...)
			copy(msg[start:], s)
		case 5: // put something behind
			msg = append(msg, script[:3]...)
		case 6: // another prefix
			if end-start >= 4 {
				binary.BigEndian.PutUint32(msg[start:], uint32(script[0]>>3)*9)
			}
		case 7:
			if end-start >= 4 {
				binary.BigEndian.PutUint32(msg[start:], 1<<32-1)
			}
		}
	}
	return msg
}

// FuzzReader edits a genuine message, and compares the stream and random access
// with the whole. An edited message is refused, and what the stream gives of it
// is the beginning of the plaintext.
func FuzzReader(f *testing.F) {
	f.Add(uint16(100), uint8(1), []byte(nil))
	f.Add(uint16(96), uint8(2), []byte{0, 0, 100})
	f.Add(uint16(130), uint8(3), []byte{4, 0, 80})
	f.Add(uint16(130), uint8(3), []byte{2, 0, 80, 3, 0, 80})
	f.Add(uint16(5), uint8(3), []byte{5, 0, 80})
	key := newKey(f, testKey)
	f.Fuzz(func(t *testing.T, n uint16, workers uint8, script []byte) {
		n %= 1000
		plaintext := ruled(3, int(n))
		msg := seal(t, floe.Params64B, plaintext)
		edited := edit(bytes.Clone(msg), script)
		got, ok := openAll(t, key, edited, int(workers%4))
		if ok != bytes.Equal(edited, msg) || ok && !bytes.Equal(got, plaintext) {
			t.Fatalf("accepted: %v, %d bytes", ok, len(got))
		}
		if d, err := floe.NewDecryptReader(bytes.NewReader(edited), key, testAAD); err == nil {
			if part, _ := io.ReadAll(d); !bytes.HasPrefix(plaintext, part) {
				t.Fatalf("%d bytes that are not the plaintext's", len(part))
			}
		}
	})
}

// FuzzWriter cuts the plaintext into writes anyhow: the message is the same.
func FuzzWriter(f *testing.F) {
	f.Add([]byte("some text of more than thirty-two bytes"), uint16(64), []byte{32, 1})
	f.Add(make([]byte, 64), uint16(64), []byte{31, 33})
	f.Add(make([]byte, 32), uint16(64), []byte{0, 32, 0})
	f.Add([]byte(nil), uint16(65), []byte(nil))
	key := newKey(f, testKey)
	f.Fuzz(func(t *testing.T, plaintext []byte, segmentLen uint16, cuts []byte) {
		p := newParams(max(floe.MinSegmentLen, uint32(segmentLen)))
		want := seal(t, p, plaintext)
		var b bytes.Buffer
		w, err := floe.Options{Rand: fixed()}.NewEncryptWriter(&b, key, testAAD, p)
		if err != nil {
			t.Fatal(err)
		}
		rest := plaintext
		for _, c := range cuts {
			n := min(len(rest), int(c&0x7f))
			if c&0x80 == 0 {
				_, err = w.Write(rest[:n])
			} else {
				_, err = w.ReadFrom(bytes.NewReader(rest[:n]))
			}
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if _, err := w.Write(rest); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil || !bytes.Equal(b.Bytes(), want) {
			t.Fatalf("another message of %d bytes, want %d, %v", b.Len(), len(want), err)
		}
	})
}

// FuzzReadAt reads ranges: they are those of the plaintext.
func FuzzReadAt(f *testing.F) {
	f.Add(uint16(100), uint16(64), []byte{0, 0, 0, 100})
	f.Add(uint16(0), uint16(64), []byte{0, 0, 0, 1})
	f.Add(uint16(96), uint16(65), []byte{0, 31, 0, 34, 0, 96, 0, 1})
	key := newKey(f, testKey)
	f.Fuzz(func(t *testing.T, n, segmentLen uint16, ranges []byte) {
		plaintext := ruled(4, int(n))
		msg := seal(t, newParams(max(floe.MinSegmentLen, uint32(segmentLen))), plaintext)
		a, err := floe.NewReaderAt(bytes.NewReader(msg), int64(len(msg)), key, testAAD)
		if err != nil {
			t.Fatal(err)
		}
		r := bytes.NewReader(plaintext)
		for ; len(ranges) >= 4; ranges = ranges[4:] {
			off, length := int64(binary.BigEndian.Uint16(ranges)), int(binary.BigEndian.Uint16(ranges[2:]))
			got, want := make([]byte, length), make([]byte, length)
			gotN, gotErr := a.ReadAt(got, off)
			wantN, wantErr := r.ReadAt(want, off)
			if length == 0 {
				wantErr = nil
			}
			if gotN != wantN || gotErr != wantErr || !bytes.Equal(got, want) {
				t.Fatalf("%d at %d of %d: %d, %v, want %d, %v", length, off, n, gotN, gotErr, wantN, wantErr)
			}
			s, err := a.Section(off, int64(length))
			if (err == nil) != (off+int64(length) <= int64(n)) {
				t.Fatalf("%d at %d of %d: %v", length, off, n, err)
			}
			if err == nil {
				if got, err := io.ReadAll(s); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%d at %d of %d: section of %d, %v", length, off, n, len(got), err)
				}
			}
		}
	})
}

// FuzzDecodePrefix decodes prefixes and computes layouts: they follow the rules
// of spec section 4, written down as plainly as possible.
func FuzzDecodePrefix(f *testing.F) {
	for _, v := range []uint32{0, 31, 32, 64, 65, 69_632, 1<<32 - 2, 1<<32 - 1} {
		f.Add(uint32(64), v, uint64(v))
		f.Add(uint32(4096), v, uint64(v)<<32)
	}
	f.Fuzz(func(t *testing.T, segmentLen, prefix uint32, n uint64) {
		p, err := floe.NewParams(segmentLen)
		if (err == nil) != (segmentLen >= 64 && segmentLen != 1<<32-1) {
			t.Fatalf("%d: %v", segmentLen, err)
		}
		if err != nil {
			return
		}
		got, err := p.DecodePrefix([4]byte(binary.BigEndian.AppendUint32(nil, prefix)))
		switch {
		case prefix == 1<<32-1:
			if err != nil || got != (floe.Framing{Len: segmentLen}) {
				t.Fatalf("non-final: %+v, %v", got, err)
			}
		case prefix >= 32 && prefix <= segmentLen:
			if err != nil || got != (floe.Framing{Final: true, Len: prefix}) {
				t.Fatalf("final %d: %+v, %v", prefix, got, err)
			}
		default:
			if !errors.Is(err, floe.ErrCiphertextLength) {
				t.Fatalf("%d: %+v, %v", prefix, got, err)
			}
		}
		l, err := p.PlaintextLayout(n)
		if err == nil {
			if m, err := p.CiphertextLayout(l.CiphertextLen()); err != nil || m != l || l.PlaintextLen() != n || l.CiphertextLen() <= n {
				t.Fatalf("%d bytes of plaintext: %+v, %+v, %v", n, l, m, err)
			}
		}
		if l, err = p.CiphertextLayout(n); err == nil {
			last := l.Final()
			if last.CiphertextOffset()+uint64(last.CiphertextLen()) != n || last.PlaintextOffset()+uint64(last.PlaintextLen()) != l.PlaintextLen() {
				t.Fatalf("%d bytes: %+v", n, l)
			}
		}
	})
}
