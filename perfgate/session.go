package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/cachegrind"
	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
	"github.com/cachekit-go/cachekit/perfgate/internal/scratch"
)

// budgetFile is the name of the budget file beside go.mod.
const budgetFile = "baselines.json"

// withSession opens a measuring session, calls f with it, and removes all that
// it left.
func withSession(ctx context.Context, o *options, std streams, f func(*measure.Session, *progress) (int, error)) (code int, err error) {
	if err := supported(runtime.GOOS); err != nil {
		return 0, err
	}
	valgrind, err := cachegrind.Find(ctx)
	if err != nil {
		return 0, err
	}
	dir, err := scratch.New()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, dir.Remove()) }()
	p := newProgress(std.err)
	defer p.clear()
	s, err := measure.Open(ctx, o.request, valgrind, valgrind.Version, cachegrind.Method, dir.Path, p.event)
	if err != nil {
		return 0, err
	}
	return f(s, p)
}

// readBudgets reads the budget file. Without one it returns an empty file, and
// found is false.
func readBudgets(s *measure.Session, o *options) (file *gate.File, path string, found bool, err error) {
	path = o.baselines
	if path == "" {
		if s.Go.ModFile == "" {
			return nil, "", false, errors.New("no go.mod here or above, so no place for baselines.json: name a file with -baselines")
		}
		path = filepath.Join(filepath.Dir(s.Go.ModFile), budgetFile)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return new(gate.File), path, false, nil
	}
	if err != nil {
		return nil, path, false, fmt.Errorf("reading budgets: %w", err)
	}
	file, err = gate.ParseFile(text)
	if err != nil {
		return nil, path, false, fmt.Errorf("reading budgets: %s: %w", path, err)
	}
	return file, path, true, nil
}

func writeBudgets(path string, file *gate.File) error {
	if err := exact.WriteFile(path, file.Format(), 0o644); err != nil {
		return fmt.Errorf("writing budgets: %w", err)
	}
	return nil
}

// runInfo describes the run that began at start.
func runInfo(s *measure.Session, o *options, start time.Time) report.Run {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return report.Run{
		Host:           host,
		Seconds:        float64(time.Since(start).Round(100*time.Millisecond)) / float64(time.Second),
		Jobs:           o.request.Jobs,
		ValgrindStarts: s.Starts(),
		Totals:         []report.Total{},
	}
}

func writeDocument(d *report.Document, o *options, std streams, verdict string) error {
	switch o.format {
	case "json":
		return d.WriteJSON(std.out)
	case "bench":
		return d.WriteBench(std.out)
	}
	return d.WriteText(std.out, report.TextOptions{All: o.verbose, Verdict: verdict})
}
