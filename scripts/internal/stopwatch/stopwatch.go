// Package stopwatch owns how long a call takes: the median of batches long
// enough for the clock.
package stopwatch

import (
	"slices"
	"time"
)

// A Clock returns the time since some moment.
type Clock func() time.Duration

// Start returns a clock that runs from now on.
func Start() Clock {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// PerCall returns the nanoseconds of one call: the median of some batches. The
// calls of a batch are doubled until one takes the time given, which warms up as
// well; if the median batch is shorter after all, they are doubled again and all
// batches are repeated, so that no batch is left out for being fast. It fails if
// a call does.
func (c Clock) PerCall(call func() error, batches int, atLeast time.Duration) (float64, error) {
	n := 1
	for {
		d, err := c.batch(call, n)
		if err != nil {
			return 0, err
		}
		if d >= atLeast {
			break
		}
		n *= 2
	}
	times := make([]time.Duration, batches)
	for {
		for i := range times {
			var err error
			if times[i], err = c.batch(call, n); err != nil {
				return 0, err
			}
		}
		slices.Sort(times)
		if m := times[batches/2]; m >= atLeast {
			return float64(m.Nanoseconds()) / float64(n), nil
		}
		n *= 2
	}
}

// batch returns how long n calls take.
func (c Clock) batch(call func() error, n int) (time.Duration, error) {
	start := c()
	for range n {
		if err := call(); err != nil {
			return 0, err
		}
	}
	return c() - start, nil
}
