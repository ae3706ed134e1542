package explain

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	// The format of profiles is theirs, and so is the package that writes it.
	"github.com/google/pprof/profile"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
)

// WritePprof writes p for "go tool pprof". title is its one comment; path returns
// the path of a source file that the lines name, for pprof to open.
//
// The sample type is Ir. pprof knows whole numbers only, so the values are the
// instructions of 10^K iterations, which are exact; its flag -divide_by shows
// those of one. There are no call stacks: a function stands for itself, and what
// was inlined for itself in the function that it is in.
func (p Profile) WritePprof(w io.Writer, title string, path func(file string) string) error {
	out := &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "Ir", Unit: "count"}},
		DefaultSampleType: "Ir",
		Comments:          []string{fmt.Sprintf("%s: instructions of %.0f iterations", title, math.Pow10(p.K))},
		// Without a program there would be a search for one.
		Mapping: []*profile.Mapping{{ID: 1, Limit: math.MaxUint64, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}},
	}
	functions := make(map[profile.Function]*profile.Function)
	function := func(name, symbol, file string) *profile.Function {
		f := profile.Function{Name: name, SystemName: symbol}
		if file != "" {
			f.Filename = path(file)
		}
		known := functions[f]
		if known == nil {
			known = &profile.Function{ID: uint64(len(functions) + 1), Name: f.Name, SystemName: f.SystemName, Filename: f.Filename}
			functions[f] = known
			out.Function = append(out.Function, known)
		}
		return known
	}
	owners := newOwners(p)
	all := p.perLine()
	home := make(map[string]string) // files of symbols
	for _, l := range all {
		if home[l.Function] == "" && isOf(l.Function, owners.name(l.Line)) {
			home[l.Function] = l.File
		}
	}
	for _, l := range all {
		name, symbol := owners.name(l.Line), functionName(l.Function)
		at := []profile.Line{{Function: function(symbol, l.Function, l.File), Line: int64(l.Number)}}
		if !isOf(l.Function, name) {
			at[0].Function = function(name, name, l.File)
			at = append(at, profile.Line{Function: function(symbol, l.Function, home[l.Function])})
		}
		id := uint64(len(out.Location) + 1)
		location := &profile.Location{ID: id, Mapping: out.Mapping[0], Address: id, Line: at}
		out.Location = append(out.Location, location)
		out.Sample = append(out.Sample, &profile.Sample{Location: []*profile.Location{location}, Value: []int64{l.ir}})
	}
	if err := out.CheckValid(); err != nil {
		return fmt.Errorf("making a profile: %w", err)
	}
	return out.Write(w)
}

// lineCount is what a line executes in 10^K iterations.
type lineCount struct {
	count.Line
	ir int64
}

// perLine returns what every line executes, and for what of a function has no
// line one without a file. They add up to the whole.
func (p Profile) perLine() []lineCount {
	rest := make(map[string]int64)
	for f := range union(p.Lo.Functions, p.Hi.Functions) {
		rest[f] = p.Hi.Functions[f] - p.Lo.Functions[f]
	}
	var all []lineCount
	for l := range union(p.Lo.Lines, p.Hi.Lines) {
		if ir := p.Hi.Lines[l] - p.Lo.Lines[l]; ir != 0 {
			all = append(all, lineCount{l, ir})
			rest[l.Function] -= ir
		}
	}
	for f, ir := range rest {
		if ir != 0 {
			all = append(all, lineCount{count.Line{Function: f}, ir})
		}
	}
	slices.SortFunc(all, func(a, b lineCount) int {
		return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File), a.Number-b.Number)
	})
	return all
}
