package main

import (
	"bytes"
	"strconv"
	"testing"
	"unicode/utf8"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// A fuzzed call: its arguments and what is wrong with it.
type fuzzCall struct {
	op      uint8
	a, b, c []byte
	nulls   uint8 // bit i: argument i is NULL, with the length it would have
	cap     uint16
}

// arg returns argument i as the driver reads it.
func (f *fuzzCall) arg(i int) string {
	b := [][]byte{f.a, f.b, f.c}[i]
	if f.null(i) {
		return "-/" + strconv.Itoa(len(b))
	}
	return word(b)
}

func (f *fuzzCall) null(i int) bool { return f.nulls>>i&1 == 1 }

// out returns the output as the driver reads it: bit 3 of nulls is output's, and
// bit 4 output_len's.
func (f *fuzzCall) out() string {
	return map[uint8]string{0: "", 1: "-", 2: "!", 3: "-"}[f.nulls>>3&3] + strconv.Itoa(int(f.cap))
}

// FuzzCalls makes calls in a C program and compares its answers with a model
// that is written against package cachekit, from the table of spec section 9.
func FuzzCalls(f *testing.F) {
	exe := compile(f, library(f, hooked), "driver")
	d := drive(f, nil, exe)
	f.Cleanup(func() { d.end() })
	d.call(f, "new 1")
	d.call(f, "new 1")
	d.call(f, "free e1")
	d.call(f, "storage -")
	f.Fuzz(func(t *testing.T, op uint8, a, b, c []byte, nulls uint8, room uint16) {
		if len(a)+len(b)+len(c) > 1<<17 {
			t.Skip("more than the driver reads")
		}
		v := &fuzzCall{op, a, b, c, nulls, room}
		switch op % 7 {
		case 0:
			v.plain(t, d, "compress", 1, func() ([]byte, error) { return cachekit.Store(nil, a) })
		case 1:
			v.plain(t, d, "decompress", 1, func() ([]byte, error) { p, _, err := cachekit.Retrieve(nil, a); return p, err })
		case 2:
			v.encrypt(t, d)
		case 3:
			v.decrypt(t, d)
		case 4:
			v.derive(t, d)
		case 5:
			v.store(t, d)
		case 6:
			v.retrieve(t, d)
		}
	})
}

// is checks an answer against the code that the model gives and, for ok, the
// output; capacity is what the caller had.
func (f *fuzzCall) is(t *testing.T, r result, want code, out []byte, capacity int) {
	t.Helper()
	if want == ok && len(out) > capacity {
		want = bufferTooSmall
	}
	length := capacity
	if want == ok || want == bufferTooSmall {
		length = len(out)
	}
	if r.code != want || r.len != length {
		t.Fatalf("%+v: got code %d and length %d, want %d and %d", *f, r.code, r.len, want, length)
	}
	if want != ok && r.touched != 0 || r.touched > length {
		t.Fatalf("%+v: %d bytes touched", *f, r.touched)
	}
	if want == ok && !bytes.Equal(r.out, out) {
		t.Fatalf("%+v: got %x, want %x", *f, r.out, out)
	}
}

// anyNull reports whether one of the first n arguments or the output is NULL.
func (f *fuzzCall) anyNull(n int) bool { return f.nulls&(1<<n-1) != 0 || f.nulls&0x18 != 0 }

// plain drives compress or decompress.
func (f *fuzzCall) plain(t *testing.T, d *driver, name string, args int, model func() ([]byte, error)) {
	r := d.result(t, "%s %s %s", name, f.arg(0), f.out())
	if f.anyNull(args) {
		f.is(t, r, nullPointer, nil, int(f.cap))
		return
	}
	out, err := model()
	f.is(t, r, codeOf(err), out, int(f.cap))
}

// live reports whether the handle is to be a live one, and names it.
func (f *fuzzCall) live() (string, bool) {
	if f.nulls&0x80 != 0 {
		return "e1", false
	}
	return "e0", true
}

// keyed returns the code of the checks that encrypt and decrypt share.
func (f *fuzzCall) keyed(live bool) code {
	switch {
	case f.anyNull(3):
		return nullPointer
	case !live:
		return invalidHandle
	case len(f.a) != 32:
		return invalidKeyLength
	}
	return ok
}

func (f *fuzzCall) encrypt(t *testing.T, d *driver) {
	h, live := f.live()
	before := d.call(t, "counter e0")
	r := d.result(t, "encrypt %s %s %s %s %s", h, f.arg(0), f.arg(1), f.arg(2), f.out())
	after := d.call(t, "counter e0")
	if c := f.keyed(live); c != ok {
		f.is(t, r, c, nil, int(f.cap))
		if before != after {
			t.Fatalf("%+v: %s, then %s", *f, before, after)
		}
		return
	}
	if before == after {
		t.Fatalf("%+v: no nonce was spent", *f)
	}
	sealed := r.out
	if r.code != ok {
		sealed = make([]byte, len(f.c)+28)
	}
	f.is(t, r, ok, sealed, int(f.cap))
	if r.code != ok {
		return
	}
	e, err := cachekit.NewEncryptor(f.a)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.Open(nil, sealed, f.b); err != nil || !bytes.Equal(got, f.c) || len(sealed) != len(f.c)+28 {
		t.Fatalf("%+v: opens to %x, %v", *f, got, err)
	}
}

// decrypt opens the third argument as it is, or, with bit 6 of nulls, sealed.
func (f *fuzzCall) decrypt(t *testing.T, d *driver) {
	h, live := f.live()
	if e, err := cachekit.NewEncryptor(f.a); err == nil && f.nulls&0x40 != 0 {
		f.c, _ = e.Seal(nil, f.c, f.b)
	}
	r := d.result(t, "decrypt %s %s %s %s %s", h, f.arg(0), f.arg(1), f.arg(2), f.out())
	if c := f.keyed(live); c != ok {
		f.is(t, r, c, nil, int(f.cap))
		return
	}
	e, err := cachekit.NewEncryptor(f.a)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := e.Open(nil, f.c, f.b)
	f.is(t, r, codeOf(err), plain, int(f.cap))
}

func (f *fuzzCall) derive(t *testing.T, d *driver) {
	f.nulls &^= 0x10 // there is no output_len
	f.cap = 32
	r := d.result(t, "derive %s %s %s %s", f.arg(0), f.arg(1), f.arg(2), f.out())
	switch {
	case f.anyNull(3):
		f.is(t, r, nullPointer, nil, 32)
	case !utf8.Valid(f.c):
		f.is(t, r, invalidInput, nil, 32)
	default:
		key, err := cachekit.DeriveDomainKey(f.a, string(f.c), f.b)
		f.is(t, r, codeOf(err), key[:], 32)
	}
}

// store takes the label from the second argument, which C ends at a zero byte;
// NULL is the storage's own.
func (f *fuzzCall) store(t *testing.T, d *driver) {
	r := d.result(t, "store s0 %s %s", f.arg(0), f.arg(1))
	label, _, _ := bytes.Cut(f.b, []byte{0})
	if f.null(1) {
		label = []byte(cachekit.DefaultFormat)
	}
	if f.null(0) {
		f.is(t, r, nullPointer, nil, 0)
		return
	}
	env, err := cachekit.StoreFormat(nil, f.a, string(label))
	f.is(t, r, codeOf(err), env, max(len(env), 0))
}

func (f *fuzzCall) retrieve(t *testing.T, d *driver) {
	r := d.result(t, "retrieve s0 %s", f.arg(0))
	if f.null(0) {
		f.is(t, r, nullPointer, nil, 0)
		return
	}
	payload, _, err := cachekit.Retrieve(nil, f.a)
	capacity := len(payload)
	f.is(t, r, codeOf(err), payload, capacity)
}
