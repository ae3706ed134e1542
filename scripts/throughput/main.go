// Command throughput prints how long the calls of core take on this machine, as
// the table that the original prints for itself: storing, retrieving, sealing
// and opening the record payload of 1 KiB and 64 KiB.
//
// Usage, in the root of the repository:
//
//	go run ./scripts/throughput
//
// Every call appends to a slice with room. Where the original expands the key at
// each call, an encryptor has done it before; two more rows make the encryptor
// for each call. Spec section 12.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	cachekit "github.com/cachekit-go/cachekit/core"
	"github.com/cachekit-go/cachekit/scripts/internal/stopwatch"
)

// sizes are the payload sizes in bytes, a typical entry and a large one.
var sizes = []int{1 << 10, 64 << 10}

// aad is the additional data of the instruction budgets. Spec section 14.
const aad = "\x03\x00\x00\x00\x0atenant-123\x00\x00\x00\x10ns:bench:func:x"

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/throughput")
		os.Exit(2)
	}
	if err := run(os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "throughput: %v\n", err)
		os.Exit(1)
	}
}

// run measures everything and prints the table.
func run(w io.Writer) error {
	c := stopwatch.Start()
	var names, ratios []string
	rows := map[string][]string{}
	for _, n := range sizes {
		payload, err := os.ReadFile(fmt.Sprintf("bench/testdata/perf-payload-%d.bin", n))
		if err != nil {
			return fmt.Errorf("reading the payload: %w", err)
		}
		ratio, err := cachekit.EstimateRatio(payload)
		if err != nil {
			return err
		}
		ratios = append(ratios, fmt.Sprintf("%.2f", 1/ratio))
		ops, err := operations(payload)
		if err != nil {
			return err
		}
		names = names[:0]
		for _, op := range ops {
			ns, err := c.PerCall(op.call, 21, 10*time.Millisecond)
			if err != nil {
				return fmt.Errorf("%s of %d bytes: %w", op.name, n, err)
			}
			names = append(names, op.name)
			rows[op.name] = append(rows[op.name], cell(ns, n))
		}
	}
	aes := "no"
	if cachekit.HardwareAcceleration() {
		aes = "yes"
	}
	fmt.Fprintf(w, "cachekit for Go, %s on %s/%s, AES hardware acceleration: %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, aes)
	fmt.Fprintf(w, "LZ4 compressed/raw ratio: %s (1 KiB, 64 KiB)\n\n", strings.Join(ratios, ", "))
	fmt.Fprintf(w, "| Operation | 1 KiB | 64 KiB |\n|:----------|------:|-------:|\n")
	for _, name := range names {
		fmt.Fprintf(w, "| %s | %s |\n", name, strings.Join(rows[name], " | "))
	}
	return nil
}

// An operation is a row of the table.
type operation struct {
	name string
	call func() error
}

// operations returns what is measured, after each has given the right answer
// once: a fast wrong answer is no figure.
func operations(payload []byte) ([]operation, error) {
	key, err := cachekit.DeriveDomainKey(bytes.Repeat([]byte{0x42}, 32), cachekit.DomainEncryption, []byte("tenant-123"))
	if err != nil {
		return nil, err
	}
	e, err := cachekit.NewEncryptor(key[:])
	if err != nil {
		return nil, err
	}
	data := []byte(aad)
	env, err := cachekit.Store(make([]byte, 0, 2*len(payload)), payload)
	if err != nil {
		return nil, err
	}
	sealed, err := e.Seal(nil, payload, data)
	if err != nil {
		return nil, err
	}
	dst := make([]byte, 0, 2*len(payload))
	ops := []operation{
		{"`Store`", func() error { dst, err = cachekit.Store(dst[:0], payload); return err }},
		{"`Retrieve`", func() error { dst, _, err = cachekit.Retrieve(dst[:0], env); return err }},
		{"`Encryptor.Seal`", func() error { dst, err = e.Seal(dst[:0], payload, data); return err }},
		{"`Encryptor.Open`", func() error { dst, err = e.Open(dst[:0], sealed, data); return err }},
		{"`NewEncryptor`, `Seal`", func() error {
			e, err := cachekit.NewEncryptor(key[:])
			if err != nil {
				return err
			}
			dst, err = e.Seal(dst[:0], payload, data)
			return err
		}},
		{"`NewEncryptor`, `Open`", func() error {
			e, err := cachekit.NewEncryptor(key[:])
			if err != nil {
				return err
			}
			dst, err = e.Open(dst[:0], sealed, data)
			return err
		}},
	}
	for i, want := range [][]byte{env, payload, nil, payload, nil, payload} {
		if err := ops[i].call(); err != nil {
			return nil, fmt.Errorf("%s: %w", ops[i].name, err)
		}
		if want == nil { // each ciphertext is another
			if dst, err = e.Open(nil, dst, data); err != nil {
				return nil, fmt.Errorf("opening %s: %w", ops[i].name, err)
			}
			want = payload
		}
		if !bytes.Equal(dst, want) {
			return nil, fmt.Errorf("%s gives %d bytes, which are not the %d expected", ops[i].name, len(dst), len(want))
		}
	}
	return ops, nil
}

// cell prints a time and how many bytes go through in it. A byte for each
// nanosecond is a GB/s.
func cell(ns float64, size int) string {
	t := fmt.Sprintf("%.0f ns", ns)
	switch {
	case ns >= 1e6:
		t = fmt.Sprintf("%.2f ms", ns/1e6)
	case ns >= 1e3:
		t = fmt.Sprintf("%.2f µs", ns/1e3)
	}
	return fmt.Sprintf("%s · %.2f GB/s", t, float64(size)/ns)
}
