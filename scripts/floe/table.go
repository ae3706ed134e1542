package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"

	"github.com/cachekit-go/cachekit/bench/floe"
	"github.com/cachekit-go/cachekit/scripts/internal/original"
	"github.com/cachekit-go/cachekit/scripts/internal/stopwatch"
)

// table measures all operations, each in alternation with the bare call that it
// is compared with, and prints them: the median throughput, and the ratio with
// its range.
func table(ctx context.Context, w io.Writer, c stopwatch.Clock) error {
	fmt.Fprintf(w, "core/floe, %s on %s/%s, %d processors\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	fmt.Fprintf(w, "GiB/s of plaintext, and how many times that of bare AES-GCM by one goroutine: median and range of %d\n\n", rounds)
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintf(tw, "| Operation\t| Workers\t| 4 KiB\t| of bare\t| 1 MiB\t| of bare\t|\n|:-----\t|-----:\t|-----:\t|:-----\t|-----:\t|:-----\t|\n")
	for _, op := range floe.Operations {
		for _, workers := range workersOf(op) {
			line := fmt.Sprintf("| `%s`\t| %d\t|", op.Name, workers)
			for _, of := range cases {
				of.Workers = workers
				speed, ratio, err := measure(ctx, c, op, of)
				if err != nil {
					return fmt.Errorf("%s with %v: %w", op.Name, of.Params, err)
				}
				line += fmt.Sprintf(" %.2f\t| %s\t|", speed, ratio)
			}
			fmt.Fprintln(tw, line)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	seal, open, err := small()
	if err != nil {
		return err
	}
	for i, call := range []func() error{seal, open} {
		var us []float64
		for range rounds {
			ns, err := perCall(c, call)
			if err != nil {
				return err
			}
			us = append(us, ns/1e3)
		}
		fmt.Fprintf(w, "\n%s of a message of 64 bytes into a new buffer: %s µs\n", []string{"Seal", "Open"}[i], original.Spread(us))
	}
	return nil
}

// workersOf returns the numbers of workers with which an operation is measured.
func workersOf(op floe.Operation) []int {
	if n := runtime.GOMAXPROCS(0); op.Parallel && n > 1 {
		return []int{1, n}
	}
	return []int{1}
}

// bareOf returns the operation that op is compared with. It reports false if
// there is none.
func bareOf(op floe.Operation) (floe.Operation, bool) {
	for _, b := range floe.Operations {
		if b.Name == op.Bare {
			return b, true
		}
	}
	return op, false
}

// measure returns the median throughput in GiB/s, and the ratio in words.
func measure(ctx context.Context, c stopwatch.Clock, op floe.Operation, of floe.Case) (speed float64, ratio string, err error) {
	call, err := op.New(of)
	if err != nil {
		return 0, "", err
	}
	bare, ok := bareOf(op)
	bareCall := call
	if ok {
		if bareCall, err = bare.New(of); err != nil {
			return 0, "", err
		}
	}
	var speeds, ratios []float64
	for range rounds {
		if err := ctx.Err(); err != nil {
			return 0, "", err
		}
		base, err := gibPerSecond(c, bareCall, bare.Bytes(of))
		if err != nil {
			return 0, "", err
		}
		v, err := gibPerSecond(c, call, op.Bytes(of))
		if err != nil {
			return 0, "", err
		}
		speeds, ratios = append(speeds, v), append(ratios, v/base)
	}
	ratio = original.Spread(ratios)
	if !ok {
		ratio = ""
	}
	original.Spread(speeds) // sorts
	return speeds[len(speeds)/2], ratio, nil
}

func gibPerSecond(c stopwatch.Clock, call func() error, n int) (float64, error) {
	ns, err := perCall(c, call)
	return float64(n) / ns * 1e9 / (1 << 30), err
}
