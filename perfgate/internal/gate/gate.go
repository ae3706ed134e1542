// Package gate is the domain of perfgate: what was measured ([Sample]), where
// ([Target]), what it may cost ([Budgets]), and the judgement ([Check]).
//
// It is bytes and values only: it starts no process and reads no file, and it
// imports nothing of perfgate. Everything else may import it.
package gate

import "strings"

// RulesVersion is part of every [Target]. It is raised when a change to the way
// of measuring (an edit of the toolchain, the environment, the arguments)
// changes a count of unchanged code.
const RulesVersion = 2

// Key names a benchmark: the import path of its package and its full name
// without the prefix "Benchmark", as in "Store/size=1024". A function named just
// "Benchmark" has the empty name.
type Key struct {
	Pkg  string
	Name string
}

// wholePackage is the name that stands for a whole package. No benchmark can
// have it.
const wholePackage = "*"

// Package returns the key of a whole package, as in the fault of one that does
// not compile.
func Package(path string) Key { return Key{path, wholePackage} }

// IsPackage reports whether k is the key of a whole package.
func (k Key) IsPackage() bool { return k.Name == wholePackage }

// String returns the name as people read it, or the import path of a whole
// package.
func (k Key) String() string {
	switch k.Name {
	case wholePackage:
		return k.Pkg
	case "":
		return "(Benchmark)"
	}
	return k.Name
}

// Compare orders keys by package and then by name: the order of documents and
// files.
func (k Key) Compare(l Key) int {
	if c := strings.Compare(k.Pkg, l.Pkg); c != 0 {
		return c
	}
	return strings.Compare(k.Name, l.Name)
}

// A Target is all that decides a count beside the source and the versions of
// the tools. Budgets hold for one target only.
type Target struct {
	GOOS         string `json:"goos"`
	GOARCH       string `json:"goarch"`
	Level        string `json:"level"`        // GOAMD64, GOARM64 or the like, as in "v1"
	GOEXPERIMENT string `json:"goexperiment"` // "" for the release's defaults
	CGO          string `json:"cgo_enabled"`  // "0" or "1"
	Method       string `json:"method"`       // "cachegrind"
	Rules        int    `json:"rules"`        // RulesVersion
	CPU          string `json:"cpu"`          // features that the measured program sees, separated by spaces
	Flags        string `json:"flags"`        // what the user set that changes the program or its run; "" for nothing
}

// Diff names what differs between t and u, as in
// "CPU level is v1 in the budgets and v3 here", or returns "".
// t is the budgets'.
func (t Target) Diff(u Target) string {
	var d []string
	field := func(name, a, b string) {
		if a != b {
			d = append(d, name+" is "+quoteEmpty(a)+" in the budgets and "+quoteEmpty(b)+" here")
		}
	}
	field("platform", t.GOOS+"/"+t.GOARCH, u.GOOS+"/"+u.GOARCH)
	field("CPU level", t.Level, u.Level)
	field("GOEXPERIMENT", t.GOEXPERIMENT, u.GOEXPERIMENT)
	field("CGO_ENABLED", t.CGO, u.CGO)
	field("method", t.Method, u.Method)
	if t.Rules != u.Rules {
		field("rules version", itoa(t.Rules), itoa(u.Rules))
	}
	field("flags", t.Flags, u.Flags)
	if t.CPU != u.CPU {
		gone, come := featureDiff(t.CPU, u.CPU)
		d = append(d, "CPU features differ (missing here: "+quoteEmpty(gone)+"; only here: "+quoteEmpty(come)+")")
	}
	return strings.Join(d, ", ")
}

func quoteEmpty(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func featureDiff(a, b string) (onlyA, onlyB string) {
	only := func(x, y string) string {
		in := make(map[string]bool)
		for _, f := range strings.Fields(y) {
			in[f] = true
		}
		var out []string
		for _, f := range strings.Fields(x) {
			if !in[f] {
				out = append(out, f)
			}
		}
		return strings.Join(out, " ")
	}
	return only(a, b), only(b, a)
}

// A Toolchain names the versions that counts also depend on.
type Toolchain struct {
	Go       string `json:"go"`       // as in "go1.26.8"
	Valgrind string `json:"valgrind"` // as in "3.19.0"
}

// Release returns the language release of a Go version: "go1.26" of
// "go1.26.8", "go1.26rc1" or "go1.26.8 X:name". A version of another shape,
// such as "devel go1.27-abc", is its own release.
func Release(version string) string {
	v, _, _ := strings.Cut(version, " ")
	rest, ok := strings.CutPrefix(v, "go1.")
	if !ok {
		return version
	}
	i := 0
	for i < len(rest) && '0' <= rest[i] && rest[i] <= '9' {
		i++
	}
	if i == 0 {
		return version
	}
	return "go1." + rest[:i]
}

// A Run is one process that ran one benchmark under the counter.
type Run struct {
	N  int   // iterations asked for
	Ir int64 // instructions executed in user space by the whole process
}

// A Sample is what measuring one benchmark gave: the counts of two runs and
// their slope, or a [Fault].
type Sample struct {
	Key
	K           int   // Hi.N - Lo.N is 10^K
	IrPerOp     PerOp // slope of the instructions
	AllocsPerOp PerOp // slope of the heap allocations
	BytesPerOp  PerOp // slope of the allocated bytes
	CGO         bool  // the package was built with cgo
	Loop        bool  // the benchmark uses b.Loop, not b.N
	Lo, Hi      Run
	Spread      PerOp  // of several runs that are not exact: the largest IrPerOp less the smallest; 0 for one that is
	Fault       *Fault // not nil: there is no count
}

// A Fault says why a benchmark has no count that can be judged.
type Fault struct {
	Verdict Verdict // Broken, Unstable or Empty
	Reason  string  // one line, or several of which the first says all
}

// of returns one metric.
func (s *Sample) of(m Metric) PerOp {
	return [...]PerOp{s.IrPerOp, s.AllocsPerOp, s.BytesPerOp}[m]
}

// fault returns what keeps the sample from being judged or recorded. A count
// that is missing or no count at all is a fault, whatever made the sample says.
func (s *Sample) fault() *Fault {
	if s.Fault != nil {
		return s.Fault
	}
	if s.K < 0 || s.K > MaxK || s.IrPerOp <= 0 || s.Hi.N-s.Lo.N != pow10(s.K) {
		return &Fault{Verdict: Broken, Reason: "no count"}
	}
	return nil
}

// A listing tells which benchmarks the samples cannot speak of: a package or a
// benchmark function that broke may have benchmarks that were never seen.
type listing map[Key]bool

func listed(samples []Sample) listing {
	l := make(listing)
	for i := range samples {
		if f := samples[i].fault(); f != nil && f.Verdict == Broken {
			l[samples[i].function()] = true
		}
	}
	return l
}

// partial reports whether k may exist although it has no sample.
func (l listing) partial(k Key) bool { return l[Package(k.Pkg)] || l[k.function()] }

// reason says why k is partial.
func (l listing) reason(k Key) string {
	if l[Package(k.Pkg)] {
		return "its package could not be measured"
	}
	return "Benchmark" + k.function().Name + " could not be measured whole"
}

// function returns the key of the benchmark function that k is in.
func (k Key) function() Key {
	name, _, _ := strings.Cut(k.Name, "/")
	return Key{k.Pkg, name}
}

// BrokenSample returns the sample of a benchmark, or of a whole package, that could
// not be measured.
func BrokenSample(k Key, reason string) Sample {
	return Sample{Key: k, Fault: &Fault{Verdict: Broken, Reason: reason}}
}
