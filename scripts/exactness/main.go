//go:build linux

// Command exactness proves that perfgate's counts repeat: it measures ./bench
// and the hard benchmarks of perfgate/testdata/hard again and again, under
// conditions that disturb other measurements, and compares the documents byte
// for byte.
//
// Usage, in the root of the repository:
//
//	go run ./scripts/exactness [-runs 20] [-load=false] [-short] [-bench regexp]
//
// Everything happens in a copy of the tree in a temporary folder. Exit status
// 1 says that something differed or could not be measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// options are the parsed flags.
type options struct {
	runs  int
	load  bool
	short bool
	bench string
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == busyArg {
		busy()
	}
	// The kernel kills children when the thread that started them ends: all
	// are started here, on the thread that ends last.
	runtime.LockOSThread()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, parse())
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "exactness: %v\n", err)
		os.Exit(1)
	}
}

func parse() options {
	var o options
	flag.IntVar(&o.runs, "runs", 20, "consecutive `runs`")
	flag.BoolVar(&o.load, "load", true, "keep all cores busy during the consecutive runs")
	flag.BoolVar(&o.short, "short", false, "a few benchmarks, two conditions")
	flag.StringVar(&o.bench, "bench", "", "only benchmarks that match `regexp`")
	flag.Parse()
	if flag.NArg() > 0 || o.runs < 1 {
		flag.Usage()
		os.Exit(2)
	}
	return o.shortened()
}

// shortened replaces what -short decides.
func (o options) shortened() options {
	if o.short {
		o.runs = 1
		if o.bench == "" {
			o.bench = "^BenchmarkStore$/^size=1024$|^BenchmarkSelect$/^ready=3$|^Benchmark(MapIterate|Spin)$"
		}
	}
	return o
}

// run measures the reference and then every condition, and prints the table,
// also of what was done before an error.
func run(ctx context.Context, o options) (err error) {
	l, err := newLab(ctx, o.bench)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.remove()) }()

	t := newTable()
	defer t.print(os.Stdout)
	for _, s := range suites() {
		m, err := l.measure(ctx, s, setting{})
		if errors.Is(err, errNothing) {
			continue
		}
		if err != nil {
			return fmt.Errorf("measuring the reference of %s: %w", s.name, err)
		}
		t.reference(s, m)
	}
	if len(t.suites) == 0 {
		return fmt.Errorf("no benchmark matches -bench %q", o.bench)
	}
	for _, c := range conditions(o) {
		if err := l.try(ctx, c, t); err != nil {
			return err
		}
	}
	return t.err()
}
