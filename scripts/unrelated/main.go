//go:build linux

// Command unrelated proves that edits which have nothing to do with a benchmark
// do not turn it red: it edits core again and again, ten edits at a time, and
// after each ten has perfgate judge ./bench by the budgets of the unedited tree.
//
// Usage, in the root of the repository:
//
//	go run ./scripts/unrelated [-seed 1] [-builds 10] [-edits 10] [-bench regexp] [-v]
//
// The edits are of five kinds: a new function, a comment, a renamed local
// variable, a new test, and another import. The seed decides them. Each build
// keeps those of the builds before it. Everything happens in a clone of HEAD in
// a temporary folder. Exit status 1 says that a row went red, or that something
// could not be measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// options are the parsed flags.
type options struct {
	seed    uint64
	builds  int
	edits   int // in each build
	bench   string
	verbose bool
}

func main() {
	// The kernel kills children when the thread that started them ends: all
	// are started here, on the thread that ends last.
	runtime.LockOSThread()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, ".", parse(), os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "unrelated: %v\n", err)
		os.Exit(1)
	}
}

func parse() options {
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "`number` that decides the edits")
	flag.IntVar(&o.builds, "builds", 10, "builds")
	flag.IntVar(&o.edits, "edits", 10, "edits in each build")
	flag.StringVar(&o.bench, "bench", "", "only benchmarks that match `regexp`")
	flag.BoolVar(&o.verbose, "v", false, "print each edit")
	flag.Parse()
	if flag.NArg() > 0 || o.builds < 1 || o.edits < 1 {
		flag.Usage()
		os.Exit(2)
	}
	return o
}

// errRed says that a row went red.
var errRed = errors.New("unrelated edits turned a row red")

// run measures the unedited tree of the repository in root and then every build,
// and prints a line for each.
func run(ctx context.Context, root string, o options, w io.Writer) (err error) {
	l, err := newLab(ctx, root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.remove()) }()
	if err := l.record(ctx, o.bench); err != nil {
		return fmt.Errorf("measuring the unedited tree: %w", err)
	}
	e, err := newEditor(ctx, l, o.seed)
	if err != nil {
		return err
	}
	var most movement
	red := false
	for build := 1; build <= o.builds; build++ {
		edits, err := e.apply(o.edits)
		if err != nil {
			return fmt.Errorf("build %d: %w", build, err)
		}
		if err := l.compile(ctx, e.packages); err != nil {
			return fmt.Errorf("build %d: %w", build, err)
		}
		j, err := l.check(ctx, o.bench)
		if err != nil {
			return fmt.Errorf("build %d: %w", build, err)
		}
		fmt.Fprintf(w, "build %2d  %s  moved %2d of %d  largest %v\n", build, summary(edits), j.moved, j.rows, j.largest)
		if o.verbose {
			for _, edit := range edits {
				fmt.Fprintf(w, "          %v\n", edit)
			}
		}
		for _, name := range j.red {
			fmt.Fprintf(w, "          red: %s\n", name)
		}
		red = red || len(j.red) > 0
		most = larger(most, j.largest)
	}
	if red {
		return errRed
	}
	fmt.Fprintf(w, "no row is red after %d edits in %d builds (seed %d); largest movement %v\n", o.builds*o.edits, o.builds, o.seed, most)
	return nil
}
