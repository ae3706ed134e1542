package stopwatch

import (
	"errors"
	"testing"
	"time"
)

// A call takes what the script of its number says; the time is what the calls
// have taken.
func scripted(cost func(call int) time.Duration) (Clock, func() error, *int) {
	var now time.Duration
	calls := 0
	return func() time.Duration { return now },
		func() error { now += cost(calls); calls++; return nil },
		&calls
}

func TestPerCall(t *testing.T) {
	const ms = time.Millisecond
	for _, v := range []struct {
		name  string
		cost  func(call int) time.Duration
		want  float64
		calls int
	}{
		{"slow", func(int) time.Duration { return 25 * ms }, 25e6, 1 + 21},
		{"at the limit", func(int) time.Duration { return 10 * ms }, 10e6, 1 + 21},
		{"fast", func(int) time.Duration { return ms }, 1e6, 1 + 2 + 4 + 8 + 16 + 21*16},
		// A pause while calibrating: one call a batch is too few, and then two
		// to eight are.
		{"pause", func(i int) time.Duration {
			if i == 0 {
				return 20 * ms
			}
			return ms
		}, 1e6, 1 + 21*(1+2+4+8+16)},
		// Ten slow batches of 21 do not move the median, eleven do.
		{"outliers", func(i int) time.Duration {
			if i > 0 && i <= 10 {
				return 99 * ms
			}
			return 12 * ms
		}, 12e6, 1 + 21},
		{"majority", func(i int) time.Duration {
			if i > 0 && i <= 11 {
				return 99 * ms
			}
			return 12 * ms
		}, 99e6, 1 + 21},
	} {
		c, call, calls := scripted(v.cost)
		if got, err := c.PerCall(call, 21, 10*ms); got != v.want || *calls != v.calls || err != nil {
			t.Errorf("%s: got %v after %d calls, %v, want %v after %d", v.name, got, *calls, err, v.want, v.calls)
		}
	}
	c, call, calls := scripted(func(int) time.Duration { return 10 * ms })
	fault := errors.New("fault")
	if _, err := c.PerCall(func() error {
		if call(); *calls == 5 {
			return fault
		}
		return nil
	}, 21, 10*time.Millisecond); err != fault || *calls != 5 {
		t.Errorf("got %v after %d calls", err, *calls)
	}
}
