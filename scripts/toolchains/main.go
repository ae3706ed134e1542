//go:build linux

// Command toolchains proves that counts repeat on every Go release that
// perfgate knows: it counts the module of hard cases twice on the newest patch
// release of each, and prints a line for each release.
//
// Usage, in the root of the repository:
//
//	go run ./scripts/toolchains [-bench regexp] [release ...]
//
// A release is one as in 1.26, by default 1.24 to 1.27. Its newest patch release
// is what "go list" knows of through the module proxy, and can fetch. Exit status
// 1 says that a count was not equal, or that something could not be measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// hard is the module of hard cases.
const hard = "perfgate/testdata/hard"

func main() {
	bench := flag.String("bench", "", "only benchmarks that match `regexp`")
	flag.Parse()
	wanted := flag.Args()
	if len(wanted) == 0 {
		wanted = []string{"1.24", "1.25", "1.26", "1.27"}
	}
	// The kernel kills children when the thread that started them ends: all
	// are started here, on the thread that ends last.
	runtime.LockOSThread()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, wanted, *bench)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "toolchains: %v\n", err)
		os.Exit(1)
	}
}

// errUnequal says that some count was not equal, or none.
var errUnequal = errors.New("not every release is exact")

func run(ctx context.Context, wanted []string, bench string) (err error) {
	dir, err := os.MkdirTemp("", "toolchains")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	perfgate := filepath.Join(dir, "perfgate")
	if _, err := command(ctx, "", "", "go", "build", "-o", perfgate, "./perfgate"); err != nil {
		return err
	}
	known, err := command(ctx, "", "", "go", "list", "-m", "-versions", "go")
	if err != nil {
		return err
	}
	var lines []line
	for _, release := range wanted {
		l := line{release: "go" + release}
		if version := fetch(ctx, patches(strings.Fields(known.stdout), release)); version == "" {
			l.faults = []string{"no patch release of it can be fetched"}
		} else {
			fmt.Fprintf(os.Stderr, "toolchains: counting on go%s\n", version)
			l = measure(ctx, perfgate, version, bench)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		lines = append(lines, l)
	}
	if err := write(os.Stdout, lines); err != nil {
		return err
	}
	if slices.ContainsFunc(lines, func(l line) bool { return !l.exact() }) {
		return errUnequal
	}
	return nil
}

// fetch returns the first of the versions that the go command can get, or "".
func fetch(ctx context.Context, versions []string) string {
	for _, v := range versions {
		if _, err := command(ctx, "", "go"+v, "go", "version"); err == nil {
			return v
		} else if ctx.Err() == nil {
			fmt.Fprintf(os.Stderr, "toolchains: %v\n", err)
		}
	}
	return ""
}

// measure counts the module of hard cases twice on a version of Go.
func measure(ctx context.Context, perfgate, version, bench string) line {
	l := line{release: "go" + version}
	out, err := command(ctx, hard, "go"+version, perfgate, "run", "-verify", "-v", "-format", "json", "-bench", bench, "./...")
	if readErr := l.read(out.stdout, out.stderr); readErr != nil {
		l.faults = append(l.faults, errors.Join(readErr, err).Error())
	} else if err != nil && len(l.faults) == 0 {
		l.faults = append(l.faults, err.Error())
	}
	return l
}
