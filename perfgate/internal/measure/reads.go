package measure

import (
	"context"
	"slices"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
)

// reads are the files that the benchmarks of a package looked at when they ran
// once each, other than those in our own folder.
type reads struct {
	files   []string // sorted
	unknown bool     // there may be more

	more func(context.Context) error // runs them again, with more iterations; nil when that was done
}

// Iterations that tell whether benchmarks look at the same files each time, those
// of benchmarks that take long, and what is long.
const (
	moreIterations = 21
	fewIterations  = 3
	long           = time.Second / 2
)

// noteListing remembers how the benchmarks of a package were listed, and how long
// that took.
func (s *Session) noteListing(p exact.Package, b exact.Binary, bench, skip string, took time.Duration) {
	n := moreIterations
	if took > long {
		n = fewIterations
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.reads[p.ImportPath]
	r.more = func(ctx context.Context) error {
		_, err := s.runNative(ctx, p, b, bench, skip, n)
		return err
	}
	s.reads[p.ImportPath] = r
}

// noteReads remembers what the log of a test binary says that it looked at.
func (s *Session) noteReads(p exact.Package, log []byte) {
	files, started := exact.FilesRead(log, p.Dir)
	scratch := Resolve(s.scratch)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.reads[p.ImportPath]
	for _, f := range files {
		// From a base's tree, too, links lead to files of the user's.
		if !inside(scratch, Resolve(f)) {
			r.files = append(r.files, f)
		}
	}
	slices.Sort(r.files)
	r.files = slices.Compact(r.files)
	r.unknown = r.unknown || started
	s.reads[p.ImportPath] = r
}

// Reads returns the files that the benchmarks of a package looked at when they
// ran. ok is false if that is not known, or not all: they did not run, they started
// other programs, or they look at other files each time. To tell, those that
// looked at any run again.
func (s *Session) Reads(ctx context.Context, pkg string) (files []string, ok bool) {
	known := func() reads {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := s.reads[pkg]
		r.files = slices.Clone(r.files)
		return r
	}
	if _, ok := s.binaries[pkg]; !ok {
		return nil, false
	}
	r := known()
	if more := r.more; more != nil && len(r.files) > 0 && !r.unknown {
		err := more(ctx)
		again := known()
		again.unknown = again.unknown || err != nil || len(again.files) > len(r.files)
		again.more = nil
		r = again
		s.mu.Lock()
		s.reads[pkg] = r
		s.mu.Unlock()
	}
	return r.files, !r.unknown
}
