package measure

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

// script is a counter that runs nothing: what a benchmark costs is written down.
type script struct {
	base   int64
	perOp  int64
	bytes  int64
	loop   bool
	change func(n int, r *count.Result) error // what is not as it should be

	mu   sync.Mutex
	runs []int
}

func (s *script) Run(_ context.Context, c process.Command, _ string, _ time.Duration) (count.Result, error) {
	name, n := "", 0
	for _, a := range c.Args {
		if v, ok := strings.CutPrefix(a, "-test.bench="); ok {
			name = strings.NewReplacer("^", "", "$", "").Replace(v)
		}
		if v, ok := strings.CutPrefix(a, "-test.benchtime="); ok {
			fmt.Sscanf(v, "%dx", &n)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, n)
	total := s.base + s.perOp*int64(n)
	r := count.Result{Count: count.Count{Total: total, Functions: map[string]int64{"start": s.base, "work": total - s.base}}}
	r.Stdout = output(name, n, 3*n, s.bytes*int64(n), s.loop)
	if s.change != nil {
		if err := s.change(n, &r); err != nil {
			return count.Result{Output: r.Output}, err
		}
	}
	return r, nil
}

func frame(texts ...string) []byte {
	var b []byte
	for _, s := range texts {
		b = append(b, 0, 0, 'P', 'B', 0, 0, 0, 0, 0, 0, 0, 0)
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return b
}

func output(name string, n, allocs int, bytes int64, loop bool) []byte {
	l := 0
	if loop {
		l = 1
	}
	return frame("goos: linux\n", name+"  \t", fmt.Sprintf("perfgate: %016x %016x %016x %016x\n", n, allocs, bytes, l), "perfgate: end\n", "PASS\n")
}

var theLeaf = leaf{Key: gate.Key{Pkg: "example.com/m", Name: "A/b"}}

func session(t *testing.T, c count.Counter) *Session {
	return &Session{
		starts: new(atomic.Int64),
		req:    Request{Jobs: 1, Timeout: time.Minute}, counter: c, scratch: t.TempDir(), progress: func(Event) {},
		binaries: map[string]exact.Binary{theLeaf.Pkg: {Path: "m.test"}}, leaves: map[gate.Key]leaf{theLeaf.Key: theLeaf}, reads: make(map[string]reads),
	}
}

func TestIterations(t *testing.T) {
	for k, want := range []pair{{2, 3}, {11, 21}, {101, 201}, {1001, 2001}, {10001, 20001}} {
		got := iterations(k)
		if got != want {
			t.Errorf("k=%d: got %v, want %v", k, got, want)
		}
		if got.lo < 2 || len(fmt.Sprint(got.lo)) != len(fmt.Sprint(got.hi)) || gate.Slope(int64(got.hi-got.lo), k) != gate.Slope(1, 0) {
			t.Errorf("k=%d: %v do not fit together", k, got)
		}
	}
}

func TestAffordable(t *testing.T) {
	tests := []struct {
		k                  int
		base, perOp, bytes int64
		want               bool
	}{
		{4, 0, 1_000, 0, true},
		{4, 0, 1_001, 0, false},
		{1, 0, 1_000_000, 0, true},
		{1, 0, 1_000_001, 0, false},
		{0, 0, 10_000_000, 0, true},
		{1, maxRunIr - 21, 1, 0, true},
		{1, maxRunIr - 20, 1, 0, false},
		{3, 0, 1, maxHeap / 2001, true},
		{3, 0, 1, maxHeap/2001 + 1, false},
		{0, 0, 1, maxHeap / 3, true},
		{0, 0, 1, maxHeap/3 + 1, false},
		{4, 0, 0, 0, true},
		{4, 0, -5, 0, true}, // a benchmark that ignores b.N
		{4, 0, 1 << 40, 1 << 40, false},
	}
	for _, test := range tests {
		if got := affordable(test.k, test.base, test.perOp, test.bytes); got != test.want {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}

func TestChooseK(t *testing.T) {
	tests := []struct {
		name      string
		c         *script
		listBytes int64 // what listing saw of one iteration
		want      int
		runs      []int
	}{
		{"cheap", &script{base: 2_000_000, perOp: 100}, 0, 4, []int{2, 21}},
		{"at the bound of 4", &script{base: 2_000_000, perOp: 1_000}, 0, 4, []int{2, 21}},
		{"over the bound of 4", &script{base: 2_000_000, perOp: 1_001}, 0, 3, []int{2, 21}},
		{"over the bound of 3", &script{base: 2_000_000, perOp: 10_001}, 0, 2, []int{2, 21}},
		{"over the bound of 2", &script{base: 2_000_000, perOp: 100_001}, 0, 1, []int{2, 21}},
		{"dear", &script{base: 5_000_000, perOp: 1_000_000}, 0, 1, []int{2, 3, 21}},
		{"over the bound of 1", &script{base: 2_000_000, perOp: 1_000_001}, 0, 0, []int{2, 21}},
		{"very dear", &script{base: 2_000_000, perOp: 2_000_000_000}, 0, 0, []int{2, 3}},
		{"large set-up", &script{base: 1_800_000_000, perOp: 100}, 0, 4, []int{2, 3, 21}},
		{"set-up over the bound", &script{base: 3_100_000_000, perOp: 100}, 0, 0, []int{2, 3}},
		{"set-up leaves room for less", &script{base: 2_990_000_000, perOp: 1_000}, 0, 3, []int{2, 3, 21}},
		{"bytes", &script{base: 2_000_000, perOp: 100, bytes: 1 << 20}, 1 << 20, 2, []int{2, 21}},
		{"bytes of an iteration that is dear", &script{base: 30_000_000, perOp: 100, bytes: 64 << 20}, 64 << 20, 0, []int{2, 3}},
		{"bytes of set-up", &script{base: 2_000_000, perOp: 100}, 400 << 20, 4, []int{2, 3, 21}},
		{"bytes of an iteration that is cheap", &script{base: 2_000_000, perOp: 100, bytes: 64 << 20}, 64 << 20, 0, []int{2, 3}},
		{"ignores b.N", &script{base: 2_000_000}, 0, 4, []int{2, 21}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := theLeaf
			l.bytes = test.listBytes
			known := make(map[int]*counted)
			got, fault, err := session(t, test.c).chooseK(t.Context(), l, known)
			if err != nil || fault != nil || got != test.want {
				t.Errorf("got %d, %+v, %v, want %d", got, fault, err, test.want)
			}
			if !slices.Equal(test.c.runs, test.runs) || len(known) != len(test.runs) {
				t.Errorf("got runs %v, %d kept, want %v", test.c.runs, len(known), test.runs)
			}
		})
	}
}

func TestSample(t *testing.T) {
	c := &script{base: 2_000_000, perOp: 250, bytes: 16}
	s := session(t, c)
	l := theLeaf
	l.cgo = true
	got, err := s.measure(t.Context(), l, 2, false)
	if err != nil || got.Fault != nil {
		t.Fatalf("got %+v, %v, want no fault", got, err)
	}
	if got.Key != l.Key || got.K != 2 || !got.CGO || got.Loop || got.IrPerOp.String() != "250" || got.AllocsPerOp.String() != "3" || got.BytesPerOp.String() != "16" ||
		got.Lo != (gate.Run{N: 101, Ir: 2_025_250}) || got.Hi != (gate.Run{N: 201, Ir: 2_050_250}) {
		t.Errorf("got %+v", got)
	}
	if !slices.Equal(c.runs, []int{101, 201}) || s.Starts() != 2 {
		t.Errorf("got runs %v, %d starts, want two", c.runs, s.Starts())
	}
	if left, err := os.ReadDir(s.scratch); err != nil || len(left) != 0 {
		t.Errorf("got %v, %v, want nothing left", left, err)
	}

	// What choosing K has run is not run again, but verifying runs anew.
	c.runs = nil
	if got, err = s.measure(t.Context(), l, unknownK, true); err != nil || got.Fault != nil || got.K != 4 {
		t.Errorf("got %+v, %v, want k=4", got, err)
	}
	if want := []int{2, 21, 10001, 20001, 10001, 20001}; !slices.Equal(c.runs, want) {
		t.Errorf("got runs %v, want %v", c.runs, want)
	}
}

func TestSampleFaults(t *testing.T) {
	at := func(at int, f func(r *count.Result) error) func(int, *count.Result) error {
		return func(n int, r *count.Result) error {
			if n == at {
				return f(r)
			}
			return nil
		}
	}
	stdout := func(b []byte) func(*count.Result) error {
		return func(r *count.Result) error { r.Stdout = b; return nil }
	}
	tests := []struct {
		name   string
		change func(int, *count.Result) error
		want   string // beginning of the reason
	}{
		{"status of the first", at(101, func(r *count.Result) error { r.Status = "exit status 2"; return nil }), "exit status 2 at 101 iterations"},
		{"status of the second", at(201, func(r *count.Result) error { r.Status = "signal: killed"; return nil }), "signal: killed at 201 iterations"},
		{
			"panic", at(201, func(r *count.Result) error {
				r.Status = "exit status 2"
				r.Stderr = frame("panic: at the disco\n", "\n", "goroutine 7 [running]:\n", "example.com/m.BenchmarkA()\n\t/src/m/a_test.go:12 +0x3e\n")
				return nil
			}), "exit status 2 at 201 iterations: panic: at the disco\na_test.go:12",
		}, {
			"failure", at(101, func(r *count.Result) error {
				r.Status = "exit status 1"
				r.Stdout = frame("--- FAIL: BenchmarkA/b\n    a_test.go:1: no\n", "FAIL\n")
				return nil
			}), "exit status 1 at 101 iterations: a_test.go:1: no",
		},
		{"no result", at(201, stdout(frame("PASS\n"))), "run alone at 201 iterations it did not report one result"},
		{"other benchmark", at(101, stdout(output("BenchmarkA/c", 101, 0, 0, false))), "run alone at 101 iterations it did not report one result"},
		{"two results", at(101, stdout(append(output("BenchmarkA/b", 101, 0, 0, false), output("BenchmarkA/b#01", 101, 0, 0, false)...))), "run alone at 101 iterations it did not report one result"},
		{"two of one name", at(101, stdout(append(output("BenchmarkA/b", 101, 0, 0, false), output("BenchmarkA/b", 101, 0, 0, false)...))), "there are two benchmarks of this name: rename one"},
		{"skips itself later", at(201, stdout(output("BenchmarkA/b", 0, 0, 0, false))), "it ended early at 201 iterations: does it skip itself"},
		{"ends early", at(201, stdout(bytes.ReplaceAll(output("BenchmarkA/b", 201, 0, 0, false), []byte("perfgate: end"), []byte("perfgate: not")))), "the program ended at 201 iterations before testing did"},
		{"other iterations", at(201, stdout(output("BenchmarkA/b", 200, 0, 0, false))), "it reported 200 iterations instead of 201"},
		{"time limit", at(201, func(*count.Result) error { return fmt.Errorf("counting: %w", count.ErrTimeout{Limit: time.Minute}) }), "still running after 1m0s at 201 iterations: it waits: for real time"},
		{
			"time limit, computing", at(201, func(r *count.Result) error {
				r.Busy = 40 * time.Second
				return fmt.Errorf("counting: %w", count.ErrTimeout{Limit: time.Minute})
			}), "still running after 1m0s at 201 iterations: it computes: is its set-up long, does it ignore b.N, or does it spin until another goroutine is done? (-timeout allows more; -sysmon -realtime",
		}, {
			"time limit, neither", at(201, func(r *count.Result) error {
				r.Busy = 10 * time.Second
				return fmt.Errorf("counting: %w", count.ErrTimeout{Limit: time.Minute})
			}), "still running after 1m0s at 201 iterations: does it ignore b.N, or wait for real time or another process? (-timeout allows more; -realtime and -sysmon",
		},
		{"no counts", at(101, func(*count.Result) error { return errors.New("valgrind wrote no counts") }), "valgrind wrote no counts at 101 iterations"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, verify := range []bool{false, true} {
				got, err := session(t, &script{base: 2_000_000, perOp: 250, change: test.change}).measure(t.Context(), theLeaf, 2, verify)
				if err != nil || got.Fault == nil || got.Fault.Verdict != gate.Broken || !strings.HasPrefix(got.Fault.Reason, test.want) {
					t.Fatalf("got %+v, %+v, %v, want broken, %q", got, got.Fault, err, test.want)
				}
				if got.Key != theLeaf.Key || got.IrPerOp != 0 {
					t.Errorf("got %+v, want no count", got)
				}
			}
		})
	}
}

// TestSampleFaultsChoosing: a benchmark that breaks while K is chosen.
func TestSampleFaultsChoosing(t *testing.T) {
	for _, n := range []int{2, 3, 21} {
		c := &script{base: 30_000_000, perOp: 250, change: func(at int, r *count.Result) error {
			if at == n {
				r.Status = "exit status 2"
			}
			return nil
		}}
		got, err := session(t, c).measure(t.Context(), theLeaf, unknownK, true)
		if err != nil || got.Key != theLeaf.Key || got.Fault == nil || got.Fault.Verdict != gate.Broken || !strings.Contains(got.Fault.Reason, fmt.Sprintf("at %d iterations", n)) {
			t.Errorf("%d: got %+v, %v, want broken", n, got, err)
		}
	}
}

// TestSampleErrors: trouble that is no benchmark's ends the whole run.
func TestSampleErrors(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "counts", Err: errors.New("no space left on device")}
	c := &script{base: 2_000_000, perOp: 250, change: func(int, *count.Result) error { return full }}
	_, err := session(t, c).measure(t.Context(), theLeaf, 2, true)
	if want := "counting A/b at 101 iterations: write counts: no space left on device"; err == nil || err.Error() != want || !errors.Is(err, full) {
		t.Errorf("got %v, want %s", err, want)
	}
	s := session(t, &script{base: 2_000_000, perOp: 250})
	s.scratch += "/none"
	if _, err := s.measure(t.Context(), theLeaf, 2, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no scratch folder: got %v, want %v", err, fs.ErrNotExist)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("interrupted")
	c = &script{change: func(int, *count.Result) error { cancel(cause); return cause }}
	if _, err := session(t, c).measure(ctx, theLeaf, unknownK, false); !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
}

func TestVerify(t *testing.T) {
	seen := 0
	wobble := func(n int, r *count.Result) error {
		if n == 201 {
			seen++
			r.Total += int64(seen)
			r.Functions["work"] += int64(seen)
		}
		return nil
	}
	got, err := session(t, &script{base: 2_000_000, perOp: 250, change: wobble}).measure(t.Context(), theLeaf, 2, true)
	if err != nil || got.Fault == nil || got.Fault.Verdict != gate.Unstable {
		t.Fatalf("got %+v, %v, want unstable", got, err)
	}
	if want := "250.01 and 250.02 Ir/op in two runs of the same code; differs in work (+1)"; got.Fault.Reason != want || got.IrPerOp.String() != "250.01" {
		t.Errorf("got %q, want %q", got.Fault.Reason, want)
	}
	seen = 0
	got, err = session(t, &script{base: 2_000_000, perOp: 250, change: wobble}).measure(t.Context(), theLeaf, 2, false)
	if err != nil || got.Fault != nil {
		t.Errorf("not verified: got %+v, %v, want no fault", got, err)
	}
}

func TestAgain(t *testing.T) {
	steady := &script{base: 2_000_000, perOp: 250}
	s := session(t, steady)
	first, err := s.measure(t.Context(), theLeaf, 2, false)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Again(t.Context(), []gate.Sample{first})
	if err != nil || len(again) != 1 || again[0].Fault != nil || again[0].IrPerOp != first.IrPerOp {
		t.Errorf("got %+v, %v, want the same", again, err)
	}
	steady.perOp++
	again, err = s.Again(t.Context(), []gate.Sample{first})
	if err != nil || again[0].Fault == nil || again[0].Fault.Verdict != gate.Unstable || first.Fault != nil {
		t.Errorf("got %+v, %v, want unstable", again, err)
	}
	steady.change = func(_ int, r *count.Result) error { r.Status = "exit status 2"; return nil }
	again, err = s.Again(t.Context(), []gate.Sample{first})
	if err != nil || again[0].Fault == nil || again[0].Fault.Verdict != gate.Broken {
		t.Errorf("got %+v, %v, want broken", again, err)
	}
}

func TestEmptiness(t *testing.T) {
	tests := []struct {
		ir   string
		loop bool
		want string // part of the reason; "" for none
	}{
		{"4", false, "did the compiler remove the work?"},
		{"2.8", false, "did the compiler remove the work?"},
		{"4.0001", false, ""},
		{"8", true, "did the compiler remove the work?"},
		{"8.0001", true, ""},
		{"5", false, ""},
		{"0.9999", true, "does the benchmark ignore b.N?"},
		{"0", false, "does the benchmark ignore b.N?"},
		{"-12", false, "does the benchmark ignore b.N?"},
	}
	for _, test := range tests {
		s := gate.Sample{Loop: test.loop}
		if err := s.IrPerOp.UnmarshalJSON([]byte(test.ir)); err != nil {
			t.Fatal(err)
		}
		f := emptiness(s)
		switch {
		case test.want == "" && f != nil:
			t.Errorf("%+v: got %+v, want none", test, f)
		case test.want != "" && (f == nil || f.Verdict != gate.Empty || !strings.Contains(f.Reason, test.want) || !strings.HasPrefix(f.Reason, test.ir+" Ir/op")):
			t.Errorf("%+v: got %+v", test, f)
		}
	}
}

func TestCompareSamples(t *testing.T) {
	a := gate.Sample{Key: theLeaf.Key, K: 2, IrPerOp: 10_000_000, AllocsPerOp: 10_000, BytesPerOp: 20_000}
	with := func(f func(*gate.Sample)) gate.Sample {
		s := a
		f(&s)
		return s
	}
	fault := func(v gate.Verdict) func(*gate.Sample) {
		return func(s *gate.Sample) { s.Fault = &gate.Fault{Verdict: v, Reason: "why"} }
	}
	tests := []struct {
		name          string
		first, second gate.Sample
		want          gate.Verdict // 0 for no fault
	}{
		{"equal", a, a, 0},
		{"other totals, equal slopes", a, with(func(s *gate.Sample) { s.Lo.Ir, s.Hi.Ir = 7, 8 }), 0},
		{"Ir", a, with(func(s *gate.Sample) { s.IrPerOp++ }), gate.Unstable},
		{"allocs", a, with(func(s *gate.Sample) { s.AllocsPerOp++ }), gate.Unstable},
		{"bytes", a, with(func(s *gate.Sample) { s.BytesPerOp-- }), gate.Unstable},
		{"second broken", a, gate.BrokenSample(a.Key, "why"), gate.Broken},
		{"both empty", with(fault(gate.Empty)), with(fault(gate.Empty)), gate.Empty},
		{"one empty", with(fault(gate.Empty)), with(func(s *gate.Sample) { s.IrPerOp++ }), gate.Unstable},
	}
	for _, test := range tests {
		got := compareSamples(test.first, test.second)
		if v := verdict(got.Fault); v != test.want || got.Key != a.Key {
			t.Errorf("%s: got %+v, want %v", test.name, got.Fault, test.want)
		}
	}
	if a.Fault != nil {
		t.Error("the first sample was changed")
	}
}

func verdict(f *gate.Fault) gate.Verdict {
	if f == nil {
		return 0
	}
	return f.Verdict
}

func TestDifferingFunctions(t *testing.T) {
	of := func(f map[string]int64) *counted { return &counted{Count: count.Count{Functions: f}} }
	tests := []struct {
		a, b map[string]int64
		want string
	}{
		{nil, nil, ""},
		{map[string]int64{"x": 5}, map[string]int64{"x": 5}, ""},
		{map[string]int64{"x": 5}, map[string]int64{"x": 7}, "; differs in x (+2)"},
		{map[string]int64{"gone": 5}, map[string]int64{"come": 7}, "; differs in come (+7), gone (-5)"},
		{map[string]int64{"b": 1, "a": 5, "d": 9, "c": 2}, map[string]int64{"b": 2, "a": 4, "d": 10, "c": 2}, "; differs in a (-1), b (+1), d (+1)"},
		{map[string]int64{"w": 1, "x": 1, "y": 1, "z": 1}, map[string]int64{"w": 2, "x": 11, "y": -99, "z": 1001}, "; differs in z (+1000), y (-100), x (+10)"},
		{map[string]int64{"small": 1}, map[string]int64{"small": 2, "huge": math.MaxInt64}, "; differs in huge (+9223372036854775807), small (+1)"},
		{map[string]int64{"runtime.reentersyscall": 1, "x": 1}, map[string]int64{"runtime.reentersyscall": 2, "x": 9}, "; differs in x (+8), runtime.reentersyscall (+1): it made more or fewer system calls, as when the kernel splits a transfer or another process is slow (leave it out with -skip, or compare medians with -sysmon)"},
	}
	for _, test := range tests {
		if got := differingFunctions(of(test.a), of(test.b)); got != test.want {
			t.Errorf("%v, %v: got %q, want %q", test.a, test.b, got, test.want)
		}
	}
}

func TestPanicText(t *testing.T) {
	tests := []struct{ text, want string }{
		{"panic: x", "panic: x"},
		{"panic: x [recovered]\n\tpanic: y\n", "panic: x [recovered]"},
		{"panic: x\n\ngoroutine 1 [running]:\nm.F()\n\t/src/m/m.go:1 +0x1\nm.B()\n\t/src/m/m_test.go:2 +0x1\n\t/src/m/o_test.go:3 +0x1\n", "panic: x\nm_test.go:2"},
	}
	for _, test := range tests {
		if got := panicText(test.text); got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}

func TestDescribeEnd(t *testing.T) {
	tests := []struct {
		name string
		err  error
		out  process.Output
		want string
	}{
		{"nothing", nil, process.Output{}, "it ended without a result"},
		{"status", errors.New("exit status 2"), process.Output{}, "exit status 2"},
		{"last line", errors.New("exit status 2"), process.Output{Stderr: []byte("a\nb\n\n")}, "exit status 2: b"},
		{"fatal", errors.New("exit status 2"), process.Output{Stderr: []byte("x\nfatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1\n")}, "exit status 2: fatal error: all goroutines are asleep - deadlock!"},
		{"one of several says why", errors.New("exit status 1"), process.Output{Stdout: frame("--- FAIL: BenchmarkA\n    a_test.go:2: another\n", "--- FAIL: BenchmarkP\n", "--- FAIL: BenchmarkP/bad\n    a_test.go:1: it is bad\n", "FAIL\n")}, "exit status 1: a_test.go:1: it is bad"},
		{"a parent failed", errors.New("exit status 1"), process.Output{Stderr: []byte("chatter\n"), Stdout: frame("--- FAIL: BenchmarkQ/q\n    a_test.go:3: too slow\n", "--- FAIL: BenchmarkQ\n", "FAIL\n")}, "exit status 1: Q/q, of which it is a part, fails when it runs alone (-skip leaves it out): a_test.go:3: too slow"},
		{"a parent failed without a word", errors.New("exit status 1"), process.Output{Stdout: frame("--- FAIL: BenchmarkQ\n", "FAIL\n")}, "exit status 1: Q, of which it is a part, fails when it runs alone (-skip leaves it out): (no message)"},
		{"failed without a word", errors.New("exit status 1"), process.Output{Stdout: []byte("--- FAIL: BenchmarkA\nFAIL\n")}, "exit status 1: (no message)"},
	}
	for _, test := range tests {
		name := "A"
		if strings.HasPrefix(test.name, "one of several") {
			name = "P"
		}
		if strings.HasPrefix(test.name, "a parent") {
			name = "Q/q/x"
		}
		if got := describeEnd(test.err, test.out, name); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// TestMedian: counts that scatter by more than an iteration costs tell nothing,
// and are not taken for a loop without work.
func TestMedian(t *testing.T) {
	for _, test := range []struct {
		name    string
		perOp   int64
		scatter int64 // of the longer run, in turn over and under its count
		want    string
	}{
		{"little", 250, 100, ""},
		{"over the work", 0, 1_000_000, "0 Ir/op is the median of runs that are 20000 Ir/op apart: that is more than an iteration costs"},
		{"none", 0, 0, "0 Ir/op, does the benchmark ignore b.N?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			turn := int64(0)
			s := session(t, &script{base: 2_000_000, perOp: test.perOp, change: func(n int, r *count.Result) error {
				if n == 201 {
					r.Total += test.scatter * (turn%3 - 1)
					turn++
				}
				return nil
			}})
			s.req.Flags.Sysmon = true
			got, err := s.measure(t.Context(), theLeaf, 2, false)
			why := ""
			if got.Fault != nil {
				why = got.Fault.Reason
			}
			if err != nil || why != test.want || got.Spread == 0 {
				t.Errorf("got %+v, %q, %v, want %q and a spread", got, why, err, test.want)
			}
		})
	}
}

func TestWithCure(t *testing.T) {
	if got := withCure(`a_test.go:1: exec: "go": executable file not found in $PATH`); !strings.HasSuffix(got, "in $PATH (programs see none of your variables: give it yours with -env PATH=$PATH)") {
		t.Errorf("got %q", got)
	}
	if got := withCure("no"); got != "no" {
		t.Errorf("got %q, want it as it was", got)
	}
}
