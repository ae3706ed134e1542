package lowlevel_test

import (
	"bytes"
	"fmt"
	"log"
	"sync"

	"github.com/cachekit-go/cachekit/core/floe"
	"github.com/cachekit-go/cachekit/core/floe/lowlevel"
)

// The segments of a message are sealed by two goroutines in no order, each to
// its place.
func Example() {
	key := floe.GenerateKey()
	plaintext := bytes.Repeat([]byte("text "), 100)

	shared, err := lowlevel.NewSealer(key, nil, floe.Params64B, floe.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer shared.Close()
	layout, err := floe.Params64B.PlaintextLayout(uint64(len(plaintext)))
	if err != nil {
		log.Fatal(err)
	}
	msg := make([]byte, layout.CiphertextLen())
	header := shared.Header()
	copy(msg, header[:])

	segments := make(chan floe.Segment)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			s := shared.Fork()
			for seg := range segments {
				at := seg.CiphertextOffset()
				if _, err := s.SealSegment(msg[at:at], plaintext[seg.PlaintextOffset():][:seg.PlaintextLen()], seg); err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	for seg := range layout.Segments() { // each once
		segments <- seg
	}
	close(segments)
	wg.Wait()

	got, err := floe.Open(nil, key, nil, msg)
	fmt.Println(bytes.Equal(got, plaintext), err)
	// Output: true <nil>
}

func ExampleSegmentBuffer() {
	key := floe.GenerateKey()
	shared, err := lowlevel.NewSealer(key, nil, floe.Params4KiB, floe.Options{})
	if err != nil {
		log.Fatal(err)
	}
	layout, err := floe.Params4KiB.PlaintextLayout(9)
	if err != nil {
		log.Fatal(err)
	}
	b := lowlevel.NewSegmentBuffer(floe.Params4KiB)
	plaintext, err := b.PreparePlaintext(9)
	if err != nil {
		log.Fatal(err)
	}
	copy(plaintext, "some data")
	if err := shared.Fork().SealBuffer(b, layout.Final()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(b)

	opener, err := lowlevel.NewOpener(key, nil, shared.Header(), floe.Options{Require: floe.Params4KiB})
	if err != nil {
		log.Fatal(err)
	}
	if err := opener.Fork().OpenBuffer(b, layout.Final()); err != nil {
		log.Fatal(err)
	}
	plaintext, err = b.Plaintext()
	fmt.Println(b, string(plaintext), err)
	// Output:
	// SegmentBuffer{ciphertext, 9 bytes}
	// SegmentBuffer{plaintext, 9 bytes} some data <nil>
}
