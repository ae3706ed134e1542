package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"
	"time"
)

// unlessDone runs f, which may wait for ever for a reader or a lock, and returns
// early when ctx ends. f goes on alone then, until the process ends.
func unlessDone(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lastWords is how long a standard stream may take what is printed after an
// interrupt.
const lastWords = time.Second

// A patient writes to a standard stream. That may be a pipe nobody reads: once
// ctx ends, it is given a moment, and then up.
type patient struct {
	ctx context.Context
	f   *os.File

	mu    sync.Mutex
	given error // why it was given up
}

func (w *patient) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.given != nil {
		return 0, w.given
	}
	p = bytes.Clone(p) // who calls may use it again
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := w.f.Write(p)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return r.n, r.err
	case <-w.ctx.Done():
	}
	select {
	case r := <-done:
		return r.n, r.err
	case <-time.After(lastWords):
		w.given = context.Cause(w.ctx)
		return 0, w.given
	}
}

// fileOf returns the file that a stream writes to, or nil.
func fileOf(w io.Writer) *os.File {
	switch w := w.(type) {
	case *stickyWriter:
		return fileOf(w.w)
	case *patient:
		return w.f
	case *os.File:
		return w
	}
	return nil
}
