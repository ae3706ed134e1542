package floe_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/cachekit-go/cachekit/core/floe"
)

// A key comes from a secret store.
func exampleKey() *floe.Key {
	key, err := floe.NewKey([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		log.Fatal(err)
	}
	return key
}

// A whole message: one slice in, one slice out.
func Example() {
	key := floe.GenerateKey()
	defer key.Destroy()
	aad := []byte("backup/2026-01-31")

	msg, err := floe.Seal(nil, key, aad, floe.Params4KiB, []byte("some data"))
	if err != nil {
		log.Fatal(err)
	}
	data, err := floe.Open(nil, key, aad, msg)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(msg), "bytes are", string(data))
	// Output: 115 bytes are some data
}

// A generated key must be kept somewhere, or nothing can be read again.
func ExampleGenerateKey() {
	key := floe.GenerateKey()
	secret, err := key.AppendTo(nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(secret), "bytes to store, and", key, "in logs")
	// Output: 32 bytes to store, and <redacted> in logs
}

func ExampleNewParams() {
	p, err := floe.NewParams(64 << 10)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.SegmentPlaintextLen(), "bytes of plaintext in", p)

	_, err = floe.NewParams(63)
	fmt.Println(errors.Is(err, floe.ErrSegmentLength), err)
	// Output:
	// 65504 bytes of plaintext in segments of 65536 bytes
	// true floe: segment length: got 63 bytes, want between 64 and 4294967294
}

// Where the segments of a message lie follows from its length.
func ExampleParams_PlaintextLayout() {
	l, err := floe.Params64B.PlaintextLayout(70)
	if err != nil {
		log.Fatal(err)
	}
	for s := range l.Segments() {
		fmt.Println(s.Position(), s.PlaintextOffset(), s.PlaintextLen(), s.CiphertextOffset(), s.CiphertextLen(), s.IsFinal())
	}
	fmt.Println(l.CiphertextLen(), "bytes in all")
	// Output:
	// 0 0 32 74 64 false
	// 1 32 32 138 64 false
	// 2 64 6 202 38 true
	// 240 bytes in all
}

func ExampleSealedLen() {
	n, err := floe.SealedLen(floe.Params1MiB, 10_000_000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n)
	// Output: 10000394
}

// Anyone can write a header, and so decide how much memory its reader takes.
func ExampleOpenWithParams() {
	key := exampleKey()
	msg, err := floe.Seal(nil, key, nil, floe.Params16MiB, []byte("some data"))
	if err != nil {
		log.Fatal(err)
	}
	_, err = floe.OpenWithParams(nil, key, nil, floe.Params4KiB, msg)
	fmt.Println(err)
	// Output: floe: header parameters are unsupported or not the required ones
}

func ExampleSealParallel() {
	key := exampleKey()
	data := bytes.Repeat([]byte("data "), 1_000_000)
	msg, err := floe.SealParallel(nil, key, nil, floe.Params1MiB, data, 4)
	if err != nil {
		log.Fatal(err)
	}
	back, err := floe.OpenParallel(nil, key, nil, msg, 4)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Equal(back, data))
	// Output: true
}

// The message of what a reader gives is read in its place, here by the body of
// a request.
func ExampleEncryptReader() {
	upload := func(body io.Reader) { n, err := io.Copy(io.Discard, body); fmt.Println(n, err) }

	r, err := floe.NewEncryptReader(strings.NewReader("some data"), exampleKey(), nil, floe.Params4KiB)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	upload(r)
	// Output: 115 <nil>
}

func ExampleEncryptWriter() {
	var file bytes.Buffer
	w, err := floe.NewEncryptWriter(&file, exampleKey(), nil, floe.Params4KiB)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort() // does nothing after Close

	for i := range 1000 {
		if _, err := fmt.Fprintln(w, "line", i); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil { // without this the message is not complete
		log.Fatal(err)
	}
	fmt.Println(file.Len())
	// Output: 9060
}

// The end of the stream says that the message was complete.
func ExampleDecryptReader() {
	key := exampleKey()
	msg, err := floe.Seal(nil, key, nil, floe.Params64B, []byte("a text of more than thirty-two bytes"))
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range []int{len(msg), len(msg) - 1} {
		r, err := floe.NewDecryptReader(bytes.NewReader(msg[:n]), key, nil)
		if err != nil {
			log.Fatal(err)
		}
		data, err := io.ReadAll(r)
		fmt.Printf("%q %v\n", data, err)
	}
	// Output:
	// "a text of more than thirty-two bytes" <nil>
	// "a text of more than thirty-two b" floe: ciphertext length: got 35 bytes, want exactly 36
}

// Messages can follow each other in one source.
func ExampleDecryptReader_FinishFrame() {
	key := exampleKey()
	var source bytes.Buffer
	for _, text := range []string{"one", "two"} {
		msg, err := floe.Seal(nil, key, nil, floe.Params4KiB, []byte(text))
		if err != nil {
			log.Fatal(err)
		}
		source.Write(msg)
	}
	for source.Len() > 0 {
		r, err := floe.NewDecryptReader(&source, key, nil)
		if err != nil {
			log.Fatal(err)
		}
		data := make([]byte, 2)
		if _, err := io.ReadFull(r, data); err != nil {
			log.Fatal(err)
		}
		if err := r.FinishFrame(); err != nil { // past the rest
			log.Fatal(err)
		}
		fmt.Printf("%s\n", data)
	}
	// Output:
	// on
	// tw
}

// One message is the whole of a source.
func ExampleDecryptReader_Finish() {
	key := exampleKey()
	msg, err := floe.Seal(nil, key, nil, floe.Params4KiB, []byte("some data"))
	if err != nil {
		log.Fatal(err)
	}
	r, err := floe.NewDecryptReader(bytes.NewReader(append(msg, "more"...)), key, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Finish())
	// Output: floe: data after the final segment
}

func ExampleReaderAt() {
	key := exampleKey()
	msg, err := floe.Seal(nil, key, nil, floe.Params64B, []byte("any part of a text can be read by itself"))
	if err != nil {
		log.Fatal(err)
	}
	// Usually an *os.File and its size.
	r, err := floe.NewReaderAt(bytes.NewReader(msg), int64(len(msg)), key, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()

	part := make([]byte, 11)
	if _, err := r.ReadAt(part, 19); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, of %d bytes\n", part, r.Size())

	last, err := r.ReadSegment(nil, r.Layout().SegmentCount()-1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", last)
	// Output:
	// can be read, of 40 bytes
	// "y itself"
}

// A section is an io.ReadSeeker over a part of the plaintext.
func ExampleReaderAt_Section() {
	key := exampleKey()
	msg, err := floe.Seal(nil, key, nil, floe.Params64B, []byte("any part of a text can be read by itself"))
	if err != nil {
		log.Fatal(err)
	}
	r, err := floe.NewReaderAt(bytes.NewReader(msg), int64(len(msg)), key, nil)
	if err != nil {
		log.Fatal(err)
	}
	s, err := r.Section(4, 14)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := s.Seek(-6, io.SeekEnd); err != nil {
		log.Fatal(err)
	}
	text, err := io.ReadAll(s)
	fmt.Printf("%s, %v\n", text, err)
	// Output: a text, <nil>
}

// Segments one by one, for what is neither a reader nor a writer.
func ExampleEncryptor() {
	key := exampleKey()
	e, err := floe.NewEncryptor(key, nil, floe.Params64B)
	if err != nil {
		log.Fatal(err)
	}
	first, err := e.AppendSegment(nil, bytes.Repeat([]byte{'a'}, 32)) // exactly
	if err != nil {
		log.Fatal(err)
	}
	last, err := e.AppendFinal(nil, []byte("the end")) // at most
	if err != nil {
		log.Fatal(err)
	}

	d, err := floe.NewDecryptor(key, nil, e.Header())
	if err != nil {
		log.Fatal(err)
	}
	var text []byte
	for _, segment := range [][]byte{first, last} {
		if text, err = d.AppendSegment(text, segment); err != nil {
			log.Fatal(err)
		}
	}
	if err := d.Finish(); err != nil { // was that all?
		log.Fatal(err)
	}
	fmt.Printf("%s\n", text)
	// Output: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaathe end
}

// In place: the plaintext lies where its ciphertext will be.
func ExampleEncryptor_AppendSegment() {
	e, err := floe.NewEncryptor(exampleKey(), nil, floe.Params64B)
	if err != nil {
		log.Fatal(err)
	}
	buf := make([]byte, floe.Params64B.SegmentLen())
	plaintext := buf[floe.PayloadOffset:][:floe.Params64B.SegmentPlaintextLen()]
	copy(plaintext, "thirty-two bytes of some text...")
	segment, err := e.AppendSegment(buf[:0], plaintext)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(&segment[0] == &buf[0], len(segment))
	// Output: true 64
}

// Several goroutines, and no other parameters than these.
func ExampleOptions() {
	o := floe.Options{Workers: 4, Require: floe.Params4KiB}
	key := exampleKey()
	data := bytes.Repeat([]byte("data "), 10_000)

	r, err := o.NewEncryptReader(bytes.NewReader(data), key, nil, floe.Params4KiB)
	if err != nil {
		log.Fatal(err)
	}
	d, err := o.NewDecryptReader(r, key, nil)
	if err != nil {
		log.Fatal(err)
	}
	n, err := io.Copy(io.Discard, d)
	fmt.Println(n, err)
	// Output: 50000 <nil>
}

// Another implementation of AES-GCM, for example that of a hardware module.
func ExampleOptions_cipher() {
	o := floe.Options{AEAD: func(key []byte) (cipher.AEAD, error) {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		return cipher.NewGCM(block)
	}}
	msg, err := o.Seal(nil, exampleKey(), nil, floe.Params4KiB, []byte("some data"))
	if err != nil {
		log.Fatal(err)
	}
	data, err := floe.Open(nil, exampleKey(), nil, msg)
	fmt.Printf("%s, %v\n", data, err)
	// Output: some data, <nil>
}

// Errors about lengths say which were allowed.
func ExampleLengthError() {
	_, err := floe.Open(nil, exampleKey(), nil, []byte("too short"))
	if l, ok := errors.AsType[*floe.LengthError](err); ok {
		fmt.Println(errors.Is(err, floe.ErrHeaderLength), l.Actual, l.Min, l.Max)
	}
	// Output: true 9 74 74
}

func ExampleHeader_Params() {
	msg, err := floe.Seal(nil, exampleKey(), nil, floe.Params1MiB, nil)
	if err != nil {
		log.Fatal(err)
	}
	h, err := floe.ParseHeader(msg[:floe.HeaderSize])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Params()) // not authenticated yet
	// Output: segments of 1048576 bytes <nil>
}

func ExampleParams_DecodePrefix() {
	p := floe.Params4KiB
	fmt.Println(p.DecodePrefix([4]byte{0xff, 0xff, 0xff, 0xff}))
	fmt.Println(p.DecodePrefix([4]byte{0, 0, 1, 0}))
	// Output:
	// {false 4096} <nil>
	// {true 256} <nil>
}
