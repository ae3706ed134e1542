// Command parallel encrypts and decrypts a file by as many goroutines as there
// are processors, each of which reads, works and writes at its own place in the
// files. It has a segment in memory for each. The messages are those of command
// file.
//
//	parallel -key key.txt -aad photos -segment 1048576 seal SOURCE DESTINATION
//	parallel -key key.txt -aad photos -segment 1048576 open SOURCE DESTINATION
//
// Where the files cannot be read and written at any place, the streams of
// package floe with [floe.Options].Workers do the same in order.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cachekit-go/cachekit/core/floe"
	"github.com/cachekit-go/cachekit/core/floe/examples/internal/command"
	"github.com/cachekit-go/cachekit/core/floe/lowlevel"
)

func main() { command.Main(seal, open) }

func seal(job command.Job, source, destination *os.File, p *command.Progress) error {
	info, err := source.Stat()
	if err != nil {
		return err
	}
	layout, err := job.Params.PlaintextLayout(uint64(info.Size()))
	if err != nil {
		return err
	}
	shared, err := lowlevel.NewSealer(job.Key, job.AAD, job.Params, floe.Options{})
	if err != nil {
		return err
	}
	defer shared.Close()
	header := shared.Header()
	if _, err := destination.WriteAt(header[:], 0); err != nil {
		return err
	}
	return each(layout, func() func(buf []byte, seg floe.Segment) error {
		s := shared.Fork()
		return func(buf []byte, seg floe.Segment) error {
			plaintext := buf[floe.PayloadOffset:][:seg.PlaintextLen()]
			if err := readAt(source, plaintext, seg.PlaintextOffset(), p); err != nil {
				return err
			}
			sealed, err := s.SealInPlace(buf, seg)
			if err != nil {
				return err
			}
			_, err = destination.WriteAt(sealed, int64(seg.CiphertextOffset()))
			return err
		}
	})
}

func open(job command.Job, source, destination *os.File, p *command.Progress) error {
	info, err := source.Stat()
	if err != nil {
		return err
	}
	layout, err := job.Params.CiphertextLayout(uint64(info.Size()))
	if err != nil {
		return err
	}
	var header floe.Header
	if err := readAt(source, header[:], 0, p); err != nil {
		return err
	}
	shared, err := lowlevel.NewOpener(job.Key, job.AAD, header, floe.Options{Require: job.Params})
	if err != nil {
		return err
	}
	defer shared.Close()
	// The last segment of the layout must open as the final one, so that the
	// message is known to be complete when all have been opened.
	return each(layout, func() func(buf []byte, seg floe.Segment) error {
		o := shared.Fork()
		return func(buf []byte, seg floe.Segment) error {
			buf = buf[:seg.CiphertextLen()]
			if err := readAt(source, buf, seg.CiphertextOffset(), p); err != nil {
				return err
			}
			plaintext, err := o.OpenInPlace(buf, seg)
			if err != nil {
				return err
			}
			_, err = destination.WriteAt(plaintext, int64(seg.PlaintextOffset()))
			return err
		}
	})
}

// readAt fills b. The file must not have changed.
func readAt(f *os.File, b []byte, off uint64, p *command.Progress) error {
	n, err := f.ReadAt(b, int64(off))
	p.Add(n)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// each has goroutines take the segments of a layout one by one; each goroutine
// has a fork and a buffer. It returns an error, if there was one.
func each(layout floe.Layout, fork func() func(buf []byte, seg floe.Segment) error) error {
	workers := int(min(uint64(runtime.GOMAXPROCS(0)), layout.SegmentCount()))
	size := min(uint64(layout.Params().SegmentLen()), layout.CiphertextLen())
	errs := make(chan error, workers)
	var next atomic.Uint64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			work, buf := fork(), make([]byte, size)
			for {
				seg, ok := layout.Segment(next.Add(1) - 1)
				if !ok {
					return
				}
				if err := work(buf, seg); err != nil {
					next.Store(layout.SegmentCount()) // no one takes another
					errs <- fmt.Errorf("segment %d: %w", seg.Position(), err)
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}
