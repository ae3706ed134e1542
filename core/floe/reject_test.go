package floe_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"testing"
	"testing/iotest"

	"github.com/cachekit-go/cachekit/core/floe"
)

// An answer is what the crate answered, as far as it is not advice.
type answer struct {
	Error    string
	Released *int
	EOFAfter *int `json:"eof_after"`
	Unread   *int `json:"ok_unread"`
	OK       *int
}

// An outcome is what the crate's readers answered; nil means that it was not
// asked.
type outcome struct {
	OneShot    *answer `json:"one_shot"`
	Open       *answer `json:"reader_open"`
	Read       *answer `json:"reader_read"`
	ThenFinish *answer `json:"then_finish"`
	Finish     *answer `json:"finish_only"`
	Frame      *answer `json:"finish_frame_only"`
	RandomOpen *answer `json:"random_access_open"`
	RandomRead *answer `json:"random_access_read_all"`
}

type rejectVector struct {
	Name       string
	Key, AAD   hexBytes
	Ciphertext hexBytes
	Outcome    *outcome
	Prefixes   []struct {
		From, To int
		Outcome  outcome
	} `json:"prefix_outcomes"`
	Required map[string]answer `json:"required_segment_length"`
}

// kinds are our errors for the names in the vectors.
var kinds = map[string]error{
	"header_length":     floe.ErrHeaderLength,
	"header_parameters": floe.ErrHeaderParams,
	"header_tag":        floe.ErrHeaderTag,
	"ciphertext_length": floe.ErrCiphertextLength,
	"segment_prefix":    floe.ErrSegmentPrefix,
	"authentication":    floe.ErrAuthentication,
	"truncated":         floe.ErrTruncated,
	"trailing_data":     floe.ErrTrailingData,
	"poisoned":          floe.ErrPoisoned,
	"range":             floe.ErrRange,
	"segment_position":  floe.ErrRange,
}

// is reports whether err is what the vectors call name.
func is(t *testing.T, err error, name string) bool {
	t.Helper()
	want, ok := kinds[name]
	if !ok {
		t.Fatalf("no error is called %q", name)
	}
	return errors.Is(err, want)
}

// An endsWithData source gives its last bytes together with io.EOF.
type endsWithData struct{ r *bytes.Reader }

func (e endsWithData) Read(b []byte) (int, error) {
	n, err := e.r.Read(b)
	if e.r.Len() == 0 {
		err = io.EOF
	}
	return n, err
}

// judge compares the answers of all our readers to a message with the crate's.
func judge(t *testing.T, name string, key *floe.Key, aad, msg []byte, want outcome) {
	t.Helper()
	fail := func(what string, got any, want *answer) {
		t.Helper()
		t.Errorf("%s: %s: got %v, want %+v", name, what, got, *want)
	}
	for _, workers := range []int{1, 3} {
		o := floe.Options{Workers: workers}
		dst := append(make([]byte, 0, 1000), "dst"...)
		got, err := o.Open(dst, key, aad, msg)
		if !is(t, err, want.OneShot.Error) {
			fail("whole", err, want.OneShot)
		}
		if string(got) != "dst" || !bytes.Equal(got[3:1000], make([]byte, 997)) {
			t.Errorf("%s: a refused message left %x", name, got[:1000])
		}
		for _, source := range []func(io.Reader) io.Reader{
			func(r io.Reader) io.Reader { return r },
			iotest.OneByteReader,
			iotest.HalfReader,
			func(r io.Reader) io.Reader { return endsWithData{r.(*bytes.Reader)} },
		} {
			judgeStream(t, fmt.Sprintf("%s, %d workers", name, workers), o, key, aad, func() (io.Reader, *bytes.Reader) {
				r := bytes.NewReader(msg)
				return source(r), r
			}, want)
		}
	}
	a, err := floe.NewReaderAt(bytes.NewReader(msg), int64(len(msg)), key, aad)
	if want.RandomOpen.Error != "" {
		if !is(t, err, want.RandomOpen.Error) || a != nil {
			fail("opening for random access", err, want.RandomOpen)
		}
		return
	}
	if err != nil || a.Size() != int64(*want.RandomOpen.OK) {
		fail("opening for random access", err, want.RandomOpen)
		return
	}
	if want.RandomRead != nil {
		p := bytes.Repeat([]byte{1}, int(a.Size()))
		n, err := a.ReadAt(p, 0)
		if !is(t, err, want.RandomRead.Error) {
			fail("reading all", err, want.RandomRead)
		}
		if len(bytes.Trim(p[n:], "\x00\x01")) > 0 {
			t.Errorf("%s: reading all gave %d bytes and left %x", name, n, p[n:])
		}
	}
}

// judgeStream judges a DecryptReader over sources that give the same message;
// the second is the one below, to count what is left.
func judgeStream(t *testing.T, name string, o floe.Options, key *floe.Key, aad []byte, source func() (io.Reader, *bytes.Reader), want outcome) {
	t.Helper()
	fresh := func() (*floe.DecryptReader, *bytes.Reader, error) {
		r, below := source()
		d, err := o.NewDecryptReader(r, key, aad)
		return d, below, err
	}
	d, _, err := fresh()
	if want.Open != nil {
		if !is(t, err, want.Open.Error) {
			t.Errorf("%s: opening: %v, want %s", name, err, want.Open.Error)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: opening: %v", name, err)
		return
	}
	n, err := io.Copy(io.Discard, iotest.OneByteReader(d))
	switch w := want.Read; {
	case w.Error != "" && (!is(t, err, w.Error) || n != int64(*w.Released)):
		t.Errorf("%s: reading: %d bytes, %v, want %d, %s", name, n, err, *w.Released, w.Error)
	case w.Error == "" && (err != nil || n != int64(*w.EOFAfter) || !d.Done()):
		t.Errorf("%s: reading: %d bytes, %v, want %d", name, n, err, *w.EOFAfter)
	}
	if err := d.Finish(); !is(t, err, want.ThenFinish.Error) {
		t.Errorf("%s: then finishing: %v, want %s", name, err, want.ThenFinish.Error)
	}
	// With large reads, and written out, there is no difference.
	for _, read := range []func(d *floe.DecryptReader) (int64, error){
		func(d *floe.DecryptReader) (int64, error) { b, err := io.ReadAll(d); return int64(len(b)), err },
		func(d *floe.DecryptReader) (int64, error) { return d.WriteTo(io.Discard) },
	} {
		d, _, err := fresh()
		if err != nil {
			t.Fatal(err)
		}
		if got, err2 := read(d); got != n {
			t.Errorf("%s: reading otherwise: %d bytes, %v, want %d", name, got, err2, n)
		}
	}
	for _, v := range []struct {
		what   string
		finish func(*floe.DecryptReader) error
		want   *answer
	}{
		{"finishing", (*floe.DecryptReader).Finish, want.Finish},
		{"finishing the frame", (*floe.DecryptReader).FinishFrame, want.Frame},
	} {
		d, below, err := fresh()
		if err != nil {
			t.Fatal(err)
		}
		err = v.finish(d)
		if v.want.Unread != nil {
			if err != nil || below.Len() != *v.want.Unread {
				t.Errorf("%s: %s: %v and %d bytes left, want %d", name, v.what, err, below.Len(), *v.want.Unread)
			}
			if err := d.FinishFrame(); err != nil {
				t.Errorf("%s: again: %v", name, err)
			}
			if err := d.Finish(); !errors.Is(err, floe.ErrTrailingData) {
				t.Errorf("%s: then asking for the end: %v", name, err)
			}
		} else if !is(t, err, v.want.Error) {
			t.Errorf("%s: %s: %v, want %s", name, v.what, err, v.want.Error)
		}
	}
}

func TestReject(t *testing.T) {
	all := section[[]rejectVector](t, "reject")
	count(t, "reject", len(all), 127)
	prefixes, required := 0, 0
	for _, v := range all {
		key := newKey(t, v.Key)
		switch {
		case v.Outcome != nil:
			judge(t, v.Name, key, v.AAD, v.Ciphertext, *v.Outcome)
		case v.Prefixes != nil:
			for _, run := range v.Prefixes {
				for n := run.From; n <= run.To; n++ {
					prefixes++
					judge(t, fmt.Sprintf("%s: %d bytes", v.Name, n), key, v.AAD, v.Ciphertext[:n], run.Outcome)
				}
			}
		default:
			for text, want := range v.Required {
				required++
				n, err := strconv.ParseUint(text, 10, 32)
				if err != nil {
					t.Fatal(err)
				}
				judgeRequired(t, v.Name, key, v.AAD, v.Ciphertext, newParams(uint32(n)), want)
			}
		}
	}
	count(t, "prefixes", prefixes, 250+202)
	count(t, "required parameters", required, 6)
}

// judgeRequired opens a sound message with required parameters, right or wrong.
func judgeRequired(t *testing.T, name string, key *floe.Key, aad, msg []byte, p floe.Params, want answer) {
	t.Helper()
	o := floe.Options{Require: p}
	calls := map[string]func() (int, error){
		"OpenWithParams": func() (int, error) { b, err := floe.OpenWithParams(nil, key, aad, p, msg); return len(b), err },
		"NewDecryptReader": func() (int, error) {
			d, err := o.NewDecryptReader(bytes.NewReader(msg), key, aad)
			if err != nil {
				return 0, err
			}
			b, err := io.ReadAll(d)
			return len(b), err
		},
		"NewReaderAt": func() (int, error) {
			a, err := o.NewReaderAt(bytes.NewReader(msg), int64(len(msg)), key, aad)
			if err != nil {
				return 0, err
			}
			return int(a.Size()), nil
		},
		"NewDecryptor": func() (int, error) {
			h, err := floe.ParseHeader(msg[:floe.HeaderSize])
			if err != nil {
				return 0, err
			}
			if _, err = o.NewDecryptor(key, aad, h); err != nil {
				return 0, err
			}
			b, err := floe.Open(nil, key, aad, msg)
			return len(b), err
		},
	}
	for what, call := range calls {
		n, err := call()
		if want.Error != "" && !is(t, err, want.Error) || want.Error == "" && (err != nil || n != *want.OK) {
			t.Errorf("%s: %s with %v: %d, %v, want %+v", name, what, p, n, err, want)
		}
	}
}

func TestRandomAccessCrate(t *testing.T) {
	all := section[struct {
		Key, AAD, Ciphertext hexBytes
		Operations           []struct {
			Op         string
			Start, End uint64
			Position   uint64
			Result     struct {
				OK    *hexBytes
				Error string
			}
		}
	}](t, "random_access")
	count(t, "random_access", len(all.Operations), 17)
	a, err := floe.NewReaderAt(bytes.NewReader(all.Ciphertext), int64(len(all.Ciphertext)), newKey(t, all.Key), all.AAD)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range all.Operations {
		var got []byte
		var err error
		switch op.Op {
		case "read_segment":
			got, err = a.ReadSegment(nil, op.Position)
		case "read_range":
			var s *floe.SectionReader
			if s, err = a.Section(int64(op.Start), int64(op.End-op.Start)); err == nil {
				got, err = io.ReadAll(s)
			}
		default:
			t.Fatalf("no operation is called %q", op.Op)
		}
		if op.Result.OK != nil {
			if err != nil || !bytes.Equal(got, *op.Result.OK) {
				t.Errorf("%+v: got %x, %v", op, got, err)
			}
		} else if !is(t, err, op.Result.Error) {
			t.Errorf("%+v: got %x, %v", op, got, err)
		}
	}
}
