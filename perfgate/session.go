package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/cachegrind"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
	"github.com/cachekit-go/cachekit/perfgate/internal/process"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
	"github.com/cachekit-go/cachekit/perfgate/internal/scratch"
)

// withSession opens a measuring session, calls f with it, and removes all that
// it left.
func withSession(ctx context.Context, o *options, std streams, f func(*measure.Session, *progress) (int, error)) (code int, err error) {
	if err := supported(runtime.GOOS); err != nil {
		return 0, err
	}
	if err := o.checkOutputs(); err != nil {
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
	if err := measure.Begin(dir.Path); err != nil {
		return 0, err
	}
	defer process.Adopt()()
	g, err := measure.FindGo(ctx, o.request.Dir, dir.Path)
	if err != nil {
		return 0, err
	}
	if err := o.goFlags(g); err != nil {
		fmt.Fprintf(std.err, "perfgate: %v\n", err)
		return gate.ExitUsage, nil
	}
	p := newProgress(std.err)
	p.phases = o.verbose
	defer p.clear()
	s, err := measure.Open(ctx, g, o.request, instrument(valgrind), dir.Path, p.event)
	if err != nil {
		return 0, err
	}
	return f(s, p)
}

func instrument(v *cachegrind.Valgrind) measure.Instrument {
	return measure.Instrument{Counter: v, Method: cachegrind.Method, Version: v.Version, Identity: v.Identity}
}

// runInfo describes the run that began at start.
func runInfo(s *measure.Session, o *options, start time.Time, cached []string) report.Run {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return report.Run{
		Host:           host,
		Seconds:        float64(time.Since(start).Round(100*time.Millisecond)) / float64(time.Second),
		Jobs:           o.request.Jobs,
		ValgrindStarts: s.Starts(),
		Cached:         cached,
		Totals:         []report.Total{},
	}
}

// placesOf returns what tells where a benchmark function stands.
func placesOf(s *measure.Session) func(gate.Key) report.Place {
	return func(k gate.Key) report.Place {
		file, line := s.Place(k)
		return report.Place{File: file, Line: line}
	}
}
