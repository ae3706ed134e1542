//go:build linux

// Command strangers tries perfgate on code that others wrote: it takes well-known
// modules through the Go module proxy, has perfgate count benchmarks of each
// twice, and compares.
//
// Usage, in the root of the repository:
//
//	go run ./scripts/strangers [-run regexp] [-j processes] [-share percent]
//
// The modules, their versions and the benchmarks stand in list.go. What is not
// equal, or could not be counted, is shown with perfgate's own verdict and with
// what the benchmark does natively. Everything is copied to a temporary folder;
// the module cache keeps what was downloaded, as it does for any build.
//
// Exit status 1 says that fewer than -share percent of the benchmarks were equal,
// or that perfgate crashed, or left something behind.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
)

// options are the parsed flags.
type options struct {
	modules *regexp.Regexp
	jobs    int
	share   int // percent of the benchmarks that must be equal
}

func main() {
	// The kernel kills children when the thread that started them ends: all
	// are started here, on the thread that ends last.
	runtime.LockOSThread()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, parse(), all())
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "strangers: %v\n", err)
		os.Exit(1)
	}
}

func parse() options {
	o := options{modules: regexp.MustCompile("")}
	flag.Func("run", "only modules whose path@version matches `regexp`", func(s string) (err error) {
		o.modules, err = regexp.Compile(s)
		return err
	})
	flag.IntVar(&o.jobs, "j", runtime.NumCPU(), "`processes` side by side")
	flag.IntVar(&o.share, "share", 95, "`percent` of the benchmarks that must be equal")
	flag.Parse()
	if flag.NArg() > 0 || o.jobs < 1 {
		flag.Usage()
		os.Exit(2)
	}
	return o
}

// run tries the modules one after another and prints the table, also of what
// was done before an error.
func run(ctx context.Context, o options, modules []module) (err error) {
	adopt()
	l, err := newLab(ctx, ".", o.jobs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.remove()) }()
	var t table
	defer func() { t.print(os.Stdout) }()
	for _, m := range modules {
		if !o.modules.MatchString(m.String()) {
			continue
		}
		outcomes, err := l.try(ctx, m)
		t.add(outcomes)
		if err != nil {
			return fmt.Errorf("%v: %w", m, err)
		}
	}
	if err := l.leftovers(); err != nil {
		return err
	}
	return t.err(o.share)
}
