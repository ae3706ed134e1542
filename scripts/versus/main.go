// Command versus compares the times of this library on this machine with those
// of the original: it builds the crate cachekit-core 0.7.2 from its registry, in
// a temporary folder that it removes, runs the crate's own example
// bench_throughput and scripts/throughput in alternation, five times each, and
// prints the ratios with their range.
//
// Usage, in the root of the repository:
//
//	go run ./scripts/versus
//
// Exit status 1 says that something could not be built or run, 2 that there is
// no cargo.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/cachekit-go/cachekit/scripts/internal/original"
)

const runs = 5

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/versus")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "versus: %v\n", err)
		if errors.Is(err, original.ErrNoCargo) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// run builds both programs, runs them and prints the comparison.
func run(ctx context.Context) (err error) {
	cargo, err := original.Cargo()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "versus-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	fmt.Fprintf(os.Stderr, "versus: building %s %s\n", crate, version)
	theirs, err := buildOriginal(ctx, cargo, dir)
	if err != nil {
		return err
	}
	ours := filepath.Join(dir, "throughput")
	if _, err := original.Output(exec.CommandContext(ctx, "go", "build", "-o", ours, "./scripts/throughput")); err != nil {
		return fmt.Errorf("building ours: %w", err)
	}
	var tables [2][]*table // theirs, ours
	for i := range runs {
		fmt.Fprintf(os.Stderr, "versus: run %d of %d\n", i+1, runs)
		for j, exe := range []string{theirs, ours} {
			text, err := original.Output(exec.CommandContext(ctx, exe))
			if err != nil {
				return fmt.Errorf("running %s: %w", filepath.Base(exe), err)
			}
			t, err := parse(text)
			if err != nil {
				return fmt.Errorf("reading the table of %s: %w", filepath.Base(exe), err)
			}
			tables[j] = append(tables[j], t)
		}
	}
	return compare(os.Stdout, tables[0], tables[1])
}
