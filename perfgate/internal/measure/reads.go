package measure

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
)

// reads are the files that the benchmarks of a package looked at when they ran
// once each, other than those in our own folder.
type reads struct {
	files   []string // sorted
	unknown bool     // there may be more
}

// Iterations, and how long they may take, that tell whether benchmarks look at
// the same files each time.
const (
	moreIterations = 21
	moreTime       = 20 * time.Second
)

// readMore runs the benchmarks of a package again if they looked at files that
// are no part of the package: with more iterations they may look at others.
func (s *Session) readMore(ctx context.Context, p exact.Package, b exact.Binary, bench, skip string) error {
	dir := p.Dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	elsewhere := func(f string) bool { return !hasData(p.Dir, f) && !hasData(dir, f) }
	once, _ := s.Reads(p.ImportPath)
	if !slices.ContainsFunc(once, elsewhere) {
		return nil
	}
	_, err := s.runNative(ctx, p, b, bench, skip, moreIterations, min(moreTime, s.req.Timeout))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if more, _ := s.Reads(p.ImportPath); err != nil || len(more) > len(once) {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := s.reads[p.ImportPath]
		r.unknown = true
		s.reads[p.ImportPath] = r
	}
	return nil
}

// noteReads remembers what the log of a test binary says that it looked at. What
// a program reads that it starts is not there.
func (s *Session) noteReads(p exact.Package, log []byte) {
	files, opened := exact.FilesRead(log, p.Dir)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.reads[p.ImportPath]
	scratch := s.scratch
	if real, err := filepath.EvalSymlinks(scratch); err == nil {
		scratch = real
	}
	for _, f := range files {
		real := f
		if followed, err := filepath.EvalSymlinks(f); err == nil {
			real = followed // from a base's tree, too, links lead to files of the user's
		}
		if !inside(s.scratch, real) && !inside(scratch, real) {
			r.files = append(r.files, f)
		}
	}
	slices.Sort(r.files)
	r.files = slices.Compact(r.files)
	r.unknown = r.unknown || slices.ContainsFunc(opened, executable)
	s.reads[p.ImportPath] = r
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Reads returns the files that the benchmarks of a package looked at when they
// ran once each. ok is false if that is not known, or not all: they did not run,
// they started other programs, or they look at other files each time.
func (s *Session) Reads(pkg string) (files []string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok = s.binaries[pkg]
	r := s.reads[pkg]
	return slices.Clone(r.files), ok && !r.unknown
}
