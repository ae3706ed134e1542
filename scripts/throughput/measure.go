package main

import (
	"fmt"
	"slices"
	"time"
)

const (
	batches  = 21
	minBatch = 10 * time.Millisecond
)

// A clock returns the time since some moment.
type clock func() time.Duration

// perCall returns the nanoseconds of one call: the median of 21 batches. The
// calls of a batch are doubled until one takes 10 ms, which warms up as well; if
// the median batch is shorter after all, they are doubled again and all batches
// are repeated, so that no batch is left out for being fast. It fails if a call
// does.
func (c clock) perCall(call func() error) (float64, error) {
	n := 1
	for {
		d, err := c.batch(call, n)
		if err != nil {
			return 0, err
		}
		if d >= minBatch {
			break
		}
		n *= 2
	}
	for {
		var times [batches]time.Duration
		for i := range times {
			var err error
			if times[i], err = c.batch(call, n); err != nil {
				return 0, err
			}
		}
		slices.Sort(times[:])
		if m := times[batches/2]; m >= minBatch {
			return float64(m.Nanoseconds()) / float64(n), nil
		}
		n *= 2
	}
}

// batch returns how long n calls take.
func (c clock) batch(call func() error, n int) (time.Duration, error) {
	start := c()
	for range n {
		if err := call(); err != nil {
			return 0, err
		}
	}
	return c() - start, nil
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
