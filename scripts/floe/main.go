// Command floe prints how long the calls of core/floe take on this machine, as a
// table with the ratio to a bare call of the standard library's AES-GCM, and
// with -versus compares them with those of the original: it builds the crate
// fast-floe 0.3.5 from its registry, once with each provider, in a temporary
// folder that it removes, and runs both in alternation.
//
// Usage, in the root of the repository:
//
//	go run ./scripts/floe [-versus]
//
// Exit status 1 says that something could not be built or run, 2 that there is
// no cargo, or wrong arguments.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	core "github.com/cachekit-go/cachekit/core/floe"

	"github.com/cachekit-go/cachekit/bench/floe"
	"github.com/cachekit-go/cachekit/scripts/internal/original"
	"github.com/cachekit-go/cachekit/scripts/internal/stopwatch"
)

// rounds is how often everything is measured.
const rounds = 5

// whole is the length of whole messages in bytes: more than caches hold.
const whole = 64 << 20

func main() {
	args := os.Args[1:]
	versus := slices.Equal(args, []string{"-versus"})
	if len(args) > 0 && !versus {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/floe [-versus]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	var err error
	if c := stopwatch.Start(); versus {
		err = compare(ctx, os.Stdout, c)
	} else {
		err = table(ctx, os.Stdout, c)
	}
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "floe: %v\n", err)
		if errors.Is(err, original.ErrNoCargo) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// cases are the lengths of segments that are measured, in the order of columns.
var cases = []floe.Case{
	{Params: core.Params4KiB, Segments: whole / (4 << 10), Workers: 1},
	{Params: core.Params1MiB, Segments: whole / (1 << 20), Workers: 1},
}

// perCall returns the nanoseconds of a call of at least 20 ms in all.
func perCall(c stopwatch.Clock, call func() error) (float64, error) {
	return c.PerCall(call, 3, 20*time.Millisecond)
}

// small returns calls that seal and open a message of 64 bytes.
func small() (seal, open func() error, err error) {
	key := core.GenerateKey()
	plain, aad := make([]byte, 64), []byte("aad")
	msg, err := core.Seal(nil, key, aad, core.Params4KiB, plain)
	if err != nil {
		return nil, nil, err
	}
	return func() error { _, err := core.Seal(nil, key, aad, core.Params4KiB, plain); return err },
		func() error { _, err := core.Open(nil, key, aad, msg); return err }, nil
}
