package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/cachekit-go/cachekit/bench/floe"
	"github.com/cachekit-go/cachekit/scripts/internal/original"
	"github.com/cachekit-go/cachekit/scripts/internal/stopwatch"
)

// program calls the crate; it has none of its code.
//
//go:embed original/main.rs
var program string

// manifest builds it as the crate's authors publish figures of it. The feature
// is the provider of the cipher.
const manifest = `[package]
name = "original"
version = "0.0.0"
edition = "2021"

[[bin]]
name = "original"
path = "main.rs"

[dependencies]
fast-floe = { version = "=0.3.5", default-features = false, features = ["%s"] }

[profile.release]
lto = "thin"
codegen-units = 1
`

// providers are the crate's, the fastest first.
var providers = []string{"aws-lc-rs", "ring"}

// compared are the operations that the program has too, with others for small
// messages, which are no operations.
var compared = []string{
	"SealSegment", "SealInPlace", "OpenSegment", "OpenInPlace", "SealNewBuffer", "OpenNewBuffer",
	"EncryptWriter", "EncryptReader", "DecryptReader", "ReadSegments", "ReadRange",
}

// A row is what is compared: a call with segments of some length.
type row struct {
	name    string
	segment int
}

// times are the nanoseconds of calls.
type times map[row]float64

// compare builds the crate's programs, runs all in alternation and prints our
// time divided by the original's.
func compare(ctx context.Context, w io.Writer, c stopwatch.Clock) (err error) {
	cargo, err := original.Cargo()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "floe-versus-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	env, err := original.Env(dir)
	if err != nil {
		return err
	}
	var built, exes []string
	for _, p := range providers {
		fmt.Fprintf(os.Stderr, "floe: building fast-floe 0.3.5 with %s\n", p)
		exe, err := build(ctx, cargo, env, filepath.Join(dir, p), p)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // one of them is enough
			fmt.Fprintf(os.Stderr, "floe: without %s: %v\n", p, err)
			continue
		}
		built, exes = append(built, p), append(exes, exe)
	}
	if len(exes) == 0 {
		return errors.New("no provider could be built")
	}
	ours, theirs := make([]times, rounds), make([][]times, len(exes))
	for i := range rounds {
		fmt.Fprintf(os.Stderr, "floe: round %d of %d\n", i+1, rounds)
		for j, exe := range exes {
			text, err := original.Output(exec.CommandContext(ctx, exe))
			if err != nil {
				return fmt.Errorf("running the original with %s: %w", built[j], err)
			}
			t, err := parse(text)
			if err != nil {
				return fmt.Errorf("reading what the original prints: %w", err)
			}
			theirs[j] = append(theirs[j], t)
		}
		if ours[i], err = measureOurs(ctx, c); err != nil {
			return err
		}
	}
	return report(w, built, theirs, ours)
}

// build builds the program with a provider and returns its path.
func build(ctx context.Context, cargo string, env []string, dir, provider string) (string, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	for name, text := range map[string]string{"Cargo.toml": fmt.Sprintf(manifest, provider), "main.rs": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	c := exec.CommandContext(ctx, cargo, "build", "--release", "--config", `build.rustflags=["-C","target-cpu=native"]`)
	c.Dir, c.Env = dir, env
	_, err := original.Output(c)
	return filepath.Join(dir, "target", "release", "original"), err
}

// parse reads what the program prints: a name, a length of segments, and
// nanoseconds.
func parse(text string) (times, error) {
	t := times{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil, fmt.Errorf("%q has %d fields, want 3", line, len(f))
		}
		segment, err := strconv.Atoi(f[1])
		if err != nil {
			return nil, err
		}
		ns, err := strconv.ParseFloat(f[2], 64)
		if err != nil || ns <= 0 {
			return nil, fmt.Errorf("%q is no time", f[2])
		}
		t[row{f[0], segment}] = ns
	}
	return t, nil
}

// rows are what is compared, in the order of the table.
func rows() (all []row) {
	for _, name := range compared {
		for _, of := range cases {
			all = append(all, row{name, int(of.Params.SegmentLen())})
		}
	}
	return append(all, row{"Seal64", 4096}, row{"Open64", 4096})
}

// measureOurs measures our rows.
func measureOurs(ctx context.Context, c stopwatch.Clock) (times, error) {
	t := times{}
	for _, op := range floe.Operations {
		for _, of := range cases {
			r := row{op.Name, int(of.Params.SegmentLen())}
			if !slices.Contains(compared, op.Name) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			call, err := op.New(of)
			if err != nil {
				return nil, err
			}
			if t[r], err = perCall(c, call); err != nil {
				return nil, err
			}
		}
	}
	seal, open, err := small()
	if err != nil {
		return nil, err
	}
	if t[row{"Seal64", 4096}], err = perCall(c, seal); err != nil {
		return nil, err
	}
	t[row{"Open64", 4096}], err = perCall(c, open)
	return t, err
}

// report prints the median of our times, and the ratios with their range.
func report(w io.Writer, built []string, theirs [][]times, ours []times) error {
	fmt.Fprintf(w, "Our time, and our time divided by that of fast-floe 0.3.5: median and range of %d in alternation.\n", len(ours))
	fmt.Fprintf(w, "Rows ending in 64 are whole messages of so many bytes.\n\n")
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintf(tw, "| Operation\t| Segment\t| µs\t")
	for _, p := range built {
		fmt.Fprintf(tw, "| %s\t", p)
	}
	fmt.Fprintf(tw, "|\n|:-----\t|-----:\t|-----:\t%s|\n", strings.Repeat("|:-----\t", len(built)))
	for _, r := range rows() {
		var us []float64
		for _, t := range ours {
			us = append(us, t[r]/1e3)
		}
		line := fmt.Sprintf("| `%s`\t| %d\t| %s\t", r.name, r.segment, original.Spread(us))
		for j := range built {
			var ratios []float64
			for i, t := range theirs[j] {
				if t[r] == 0 || ours[i][r] == 0 {
					return fmt.Errorf("a run has no time of %s with segments of %d bytes", r.name, r.segment)
				}
				ratios = append(ratios, ours[i][r]/t[r])
			}
			line += fmt.Sprintf("| %s\t", original.Spread(ratios))
		}
		fmt.Fprintln(tw, line+"|")
	}
	return tw.Flush()
}
