package measure

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/process"
	"github.com/cachekit-go/cachekit/perfgate/internal/scratch"
)

// Bounds of what one process may execute and keep: they decide K.
//
// Note: 150,000,000 Ir between the two runs told nothing that 10,000,000 do not
// (the counts without allocations are the same whole numbers), and took twice
// the time: valgrind executes AES instructions at a tenth of its usual speed.
const (
	maxIterationsIr = 10_000_000    // of the iterations between the two runs
	maxRunIr        = 3_000_000_000 // of the longer run
	maxHeap         = 512 << 20     // bytes: the collector is off
	cheapIr         = 6_000_000     // two iterations and start-up: twenty are affordable

	unknownK = -1
)

type pair struct{ lo, hi int }

// iterations returns the two iteration counts for an exponent. They have the
// same number of digits and differ by 10^k, and lo is at least 2: testing runs
// once before, and only once when it is asked for one.
func iterations(k int) pair {
	if k == 0 {
		return pair{2, 3}
	}
	n := 1
	for range k {
		n *= 10
	}
	return pair{n + 1, 2*n + 1}
}

// measure measures a leaf with exponent k, or chooses one if k is unknownK.
func (s *Session) measure(ctx context.Context, l leaf, k int, verify bool) (gate.Sample, error) {
	known := make(map[int]*counted)
	if k == unknownK {
		var fault *gate.Fault
		var err error
		if k, fault, err = s.chooseK(ctx, l, known); err != nil || fault != nil {
			return gate.Sample{Key: l.Key, CGO: l.cgo, Fault: fault}, err
		}
	}
	if !s.req.Flags.Exact() {
		return s.median(ctx, l, k)
	}
	first, err := s.sample(ctx, l, k, known)
	if err != nil || !verify || first.Fault != nil && first.Fault.Verdict == gate.Broken {
		return first, err
	}
	again := make(map[int]*counted)
	second, err := s.sample(ctx, l, k, again)
	if err != nil {
		return first, err
	}
	judged := compareSamples(first, second)
	if judged.Fault != nil && judged.Fault.Verdict == gate.Unstable {
		judged.Fault.Reason += differingFunctions(known[iterations(k).hi], again[iterations(k).hi])
	}
	return judged, nil
}

// spreadRuns is how often a benchmark is measured whose counts do not repeat.
const spreadRuns = 5

// median measures a leaf several times and returns the median, and how far the
// runs are apart.
func (s *Session) median(ctx context.Context, l leaf, k int) (gate.Sample, error) {
	var all []gate.Sample
	for range spreadRuns {
		one, err := s.sample(ctx, l, k, nil)
		if err != nil || one.Fault != nil && one.Fault.Verdict != gate.Empty {
			return one, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b gate.Sample) int { return cmp.Compare(a.IrPerOp, b.IrPerOp) })
	m := all[len(all)/2]
	// Equal by chance is not exact.
	m.Spread = max(1, all[len(all)-1].IrPerOp-all[0].IrPerOp)
	if m.Fault != nil && m.Spread > emptyLoop*gate.Slope(1, 0) {
		m.Fault.Reason = fmt.Sprintf("%v Ir/op is the median of runs that are %v Ir/op apart: that is more than an iteration costs", m.IrPerOp, m.Spread)
	}
	return m, nil
}

// compareSamples returns the first sample, with a fault if the second differs.
func compareSamples(first, second gate.Sample) gate.Sample {
	switch {
	case second.Fault != nil && second.Fault.Verdict == gate.Broken:
		return second
	case first.IrPerOp != second.IrPerOp || first.AllocsPerOp != second.AllocsPerOp || first.BytesPerOp != second.BytesPerOp:
		first.Fault = &gate.Fault{Verdict: gate.Unstable, Reason: fmt.Sprintf("%v and %v Ir/op in two runs of the same code", first.IrPerOp, second.IrPerOp)}
	}
	return first
}

// differingFunctions names the functions whose counts differ most.
func differingFunctions(a, b *counted) string {
	type difference struct {
		name string
		ir   int64
	}
	var all []difference
	for name := range a.Functions {
		if d := b.Functions[name] - a.Functions[name]; d != 0 {
			all = append(all, difference{name, d})
		}
	}
	for name, ir := range b.Functions {
		if _, ok := a.Functions[name]; !ok {
			all = append(all, difference{name, ir})
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortFunc(all, func(x, y difference) int {
		if d := abs(y.ir) - abs(x.ir); d != 0 {
			return int(min(max(d, -1), 1))
		}
		return strings.Compare(x.name, y.name)
	})
	var text []string
	for _, d := range all[:min(3, len(all))] {
		text = append(text, fmt.Sprintf("%s (%+d)", d.name, d.ir))
	}
	why := "; differs in " + strings.Join(text, ", ")
	if slices.ContainsFunc(all, func(d difference) bool { return d.name == "runtime.reentersyscall" }) {
		why += ": it made more or fewer system calls, as when the kernel splits a transfer or another process is slow (leave it out with -skip, or compare medians with -sysmon)"
	}
	return why
}

func abs(v int64) int64 { return max(v, -v) }

// chooseK finds the largest exponent that the bounds allow, from runs of a few
// iterations. It depends on counts alone, so it repeats.
func (s *Session) chooseK(ctx context.Context, l leaf, known map[int]*counted) (int, *gate.Fault, error) {
	few, fault, err := s.countN(ctx, l, 2, known)
	if err != nil || fault != nil {
		return 0, fault, err
	}
	// Twenty iterations tell more than one, if they can be afforded.
	if few.Total > cheapIr || !affordable(1, 0, 0, l.bytes) {
		next, fault, err := s.countN(ctx, l, 3, known)
		if err != nil || fault != nil {
			return 0, fault, err
		}
		perOp := next.Total - few.Total
		if !affordable(1, few.Total-2*perOp, perOp, next.Bytes-few.Bytes) {
			return 0, nil, nil
		}
	}
	many, fault, err := s.countN(ctx, l, iterations(1).hi, known)
	if err != nil || fault != nil {
		return 0, fault, err
	}
	n := int64(many.N - few.N)
	perOp, bytes := (many.Total-few.Total)/n, (many.Bytes-few.Bytes)/n
	for k := gate.MaxK; k > 0; k-- {
		if affordable(k, few.Total-2*perOp, perOp, bytes) {
			return k, nil, nil
		}
	}
	return 0, nil, nil
}

func affordable(k int, base, perOp, bytes int64) bool {
	p := iterations(k)
	return perOp*int64(p.hi-p.lo) <= maxIterationsIr &&
		base+perOp*int64(p.hi) <= maxRunIr &&
		bytes*int64(p.hi) <= maxHeap
}

// counted is a run that counts: it exited with status 0 and reported the
// benchmark with the iterations asked for.
type counted struct {
	count.Count
	exact.Result
}

// sample measures a leaf at the two iteration counts of k, except for those that
// are known.
func (s *Session) sample(ctx context.Context, l leaf, k int, known map[int]*counted) (gate.Sample, error) {
	p := iterations(k)
	out := gate.Sample{Key: l.Key, K: k, CGO: l.cgo}
	lo, fault, err := s.countN(ctx, l, p.lo, known)
	if err != nil || fault != nil {
		out.Fault = fault
		return out, err
	}
	hi, fault, err := s.countN(ctx, l, p.hi, known)
	if err != nil || fault != nil {
		out.Fault = fault
		return out, err
	}
	out.Lo, out.Hi = gate.Run{N: p.lo, Ir: lo.Total}, gate.Run{N: p.hi, Ir: hi.Total}
	out.IrPerOp = gate.Slope(hi.Total-lo.Total, k)
	// A set-up that allocates less for more iterations gives a negative slope.
	out.AllocsPerOp = max(0, gate.Slope(hi.Allocs-lo.Allocs, k))
	out.BytesPerOp = max(0, gate.Slope(hi.Result.Bytes-lo.Result.Bytes, k))
	out.Loop = hi.Loop
	out.Fault = emptiness(out)
	return out, nil
}

// Instructions per iteration of an empty loop: "for b.Loop() {}" takes 6.8 to
// 8, "for i := 0; i < b.N; i++ {}" 2.8 to 4.
const (
	emptyLoop = 8
	emptyN    = 4
)

func emptiness(s gate.Sample) *gate.Fault {
	limit := gate.Slope(emptyN, 0)
	if s.Loop {
		limit = gate.Slope(emptyLoop, 0)
	}
	if s.IrPerOp > limit {
		return nil
	}
	why := "no more than its empty loop: did the compiler remove the work?"
	if s.IrPerOp < gate.Slope(1, 0) {
		why = "does the benchmark ignore b.N?"
	}
	return &gate.Fault{Verdict: gate.Empty, Reason: fmt.Sprintf("%v Ir/op, %s", s.IrPerOp, why)}
}

// countN runs a leaf n times under the counter, in a process of its own. What
// is wrong with the benchmark is a fault, other trouble an error.
func (s *Session) countN(ctx context.Context, l leaf, n int, known map[int]*counted) (*counted, *gate.Fault, error) {
	if c := known[n]; c != nil {
		return c, nil, nil
	}
	c, why, err := s.countOnce(ctx, s.binaries[l.Pkg], l, n)
	if err != nil {
		return nil, nil, fmt.Errorf("counting %s at %d iterations: %w", l.Name, n, err)
	}
	if why != "" {
		return nil, &gate.Fault{Verdict: gate.Broken, Reason: why}, nil
	}
	if known != nil {
		known[n] = c
	}
	return c, nil, nil
}

func (s *Session) countOnce(ctx context.Context, b exact.Binary, l leaf, n int) (c *counted, why string, err error) {
	dir, err := s.runDir(l.Key)
	if err != nil {
		return nil, "", err
	}
	defer removeAll(dir)
	command, err := b.Command(dir, exact.Pattern(l.Name), n)
	if err != nil {
		return nil, "", err
	}
	if l.deeper {
		command = exact.Alone(command, l.Name)
	}
	r, err := s.count(ctx, command, dir, s.req.Timeout)
	at := fmt.Sprintf(" at %d iterations", n)
	if limit, ok := errors.AsType[count.ErrTimeout](err); ok {
		return nil, limit.Error() + at + ": " + reasonForTime(limit.Limit, r.Busy), nil
	}
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, "", err
	}
	if err != nil {
		return nil, err.Error() + at, nil
	}
	if r.Status != "" {
		return nil, describeEnd(errors.New(r.Status+at), r.Output, l.Name), nil
	}
	results := exact.Results(r.Stdout)
	switch {
	case len(results) > 1 && results[1].Name == l.Name:
		return nil, "there are two benchmarks of this name: rename one", nil
	case len(results) != 1 || results[0].Name != l.Name:
		return nil, fmt.Sprintf("run alone%s it did not report one result%s", at, firstOutput(r.Output, l.Name)), nil
	case results[0].N == 0:
		return nil, fmt.Sprintf("it ended early%s: does it skip itself, or call runtime.Goexit?", at), nil
	case results[0].N != n:
		return nil, fmt.Sprintf("it reported %d iterations instead of %d", results[0].N, n), nil
	case !exact.Ended(r.Stdout):
		return nil, "the program ended" + at + " before testing did" + firstOutput(r.Output, l.Name), nil
	}
	return &counted{r.Count, results[0]}, "", nil
}

// reasonForTime guesses why a process that had a processor for busy needs more
// time than limit, and names the cures. Processors that others use as well leave
// a computing process little: what lies between has no guess.
func reasonForTime(limit, busy time.Duration) string {
	const given = "-realtime and -sysmon give it the clock and the thread that it may wait for, with counts that are not exact"
	switch {
	case busy > limit/2:
		return "it computes: is its set-up long, does it ignore b.N, or does it spin until another goroutine is done? (-timeout allows more; -sysmon -realtime take the processor from what spins, with counts that are not exact)"
	case busy < limit/20:
		return "it waits: for real time, or for another process? (" + given + "; -timeout allows more)"
	}
	return "does it ignore b.N, or wait for real time or another process? (-timeout allows more; " + given + ")"
}

// describeEnd says how a program ended and what it last printed of that: a
// panic, a failure of the named benchmark, or its last line.
func describeEnd(err error, out process.Output, name string) string {
	status := "it ended without a result"
	if err != nil {
		status = err.Error()
	}
	return status + withCure(firstOutput(out, name))
}

// withCure adds to a program's words what lets it go on, where we know that.
func withCure(text string) string {
	if strings.Contains(text, "executable file not found in $PATH") {
		text += " (programs see none of your variables: give it yours with -env PATH=$PATH)"
	}
	return text
}

func firstOutput(out process.Output, name string) string {
	text := exact.Text(out.Stderr)
	if i := strings.Index(text, "panic: "); i >= 0 {
		return ": " + panicText(text[i:])
	}
	if i := strings.Index(text, "fatal error: "); i >= 0 {
		line, _, _ := strings.Cut(text[i:], "\n")
		return ": " + line
	}
	failed, _ := exact.Failures(out.Stdout)
	for _, n := range slices.Sorted(maps.Keys(failed)) {
		if (n == name || strings.HasPrefix(n, name+"/")) && failed[n] != "" {
			return ": " + failed[n]
		}
	}
	if _, ok := failed[name]; ok {
		return ": " + orNone("")
	}
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(failed))) {
		if strings.HasPrefix(name, n+"/") {
			return ": " + n + ", of which it is a part, fails when it runs alone (-skip leaves it out): " + orNone(failed[n])
		}
	}
	if text = strings.TrimSpace(text); text != "" {
		return ": " + text[strings.LastIndex(text, "\n")+1:]
	}
	return ""
}

// panicText returns the message of a panic and the place in the user's test
// file, if one is in the trace.
func panicText(text string) string {
	message, trace, _ := strings.Cut(text, "\n")
	for line := range strings.Lines(trace) {
		place, _, _ := strings.Cut(strings.TrimSpace(line), " +0x")
		if strings.Contains(place, "_test.go:") {
			return message + "\n" + filepath.Base(place)
		}
	}
	return message
}

// runDir makes the folder of one run. Its path depends on the benchmark alone.
func (s *Session) runDir(k gate.Key) (string, error) {
	dir := filepath.Join(s.scratch, digest(k.Pkg+" "+k.Name))
	if err := scratch.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.Mkdir(dir, 0o700)
}

// digest returns a short hash, always of the same length.
func digest(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:6])
}

// removeAll removes a run's folder. What cannot be removed now is removed with
// the whole scratch folder.
func removeAll(dir string) { scratch.RemoveAll(dir) }
