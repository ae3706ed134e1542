package explain

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/lines"
)

// A Profile is one benchmark, counted by function and line.
type Profile struct {
	K      int         // Hi is of 10^K more iterations than Lo
	Lo, Hi count.Count // file names as in [Line]

	// Source returns the text of a file that the lines name. If it is nil or
	// fails, lines of two profiles correspond by their numbers, and belong to the
	// symbol that executes them.
	Source func(file string) (string, error)

	// Package returns the import path of the package that a file is in, or "".
	Package func(file string) string
}

// IrPerOp returns the instructions of one iteration.
func (p Profile) IrPerOp() gate.PerOp { return gate.Slope(p.Hi.Total-p.Lo.Total, p.K) }

// What of an explanation is shown, in percent.
const (
	otherPct    = 5  // of the whole change: Other is less
	functionPct = 25 // of the largest function's change: the lines of a smaller one that is not yours are not shown
	linePct     = 25 // of the function's largest line's change: a smaller one is not shown

	maxLines  = 3  // of a function
	maxPlain  = 12 // functions, where Other is small enough but a single change is not
	maxEdited = 5  // functions that are listed because their text changed
)

// Of tells where the instructions of p go.
func Of(p Profile) *Explanation { return Compare(Profile{}, p) }

// Compare tells what changed from old to new, which have the same K. It lists
// the largest changes, as many as it takes for Other to be less than 5 % of the
// whole. Where a part grew and another one shrank, that can be many. It also
// lists functions of yours whose text changed, however little they did: one that
// calls another once more is the cause, and that one has the instructions.
//
// Functions are those of the source: what the compiler inlined counts where it
// is written. A function that was renamed is one that went and one that came. Lines
// correspond where the text around them does, though they were moved.
func Compare(old, new Profile) *Explanation {
	e := &Explanation{Old: old.IrPerOp(), New: new.IrPerOp()}
	e.Delta = e.New - e.Old
	was, is := old.bySource(), new.bySource()
	all := functionChanges(was, is)
	changed := lineChanges(was, is, lineMaps{old: old, new: new, maps: make(map[string]lineMap)})
	e.Other = e.Delta
	whole, edited := false, 0
	for i, f := range all {
		whole = whole || enough(e.Delta, e.Other, f.Delta, i)
		if whole {
			if f.Group != Yours || edited == maxEdited || !slices.ContainsFunc(changed[f.Name], func(l Line) bool { return l.Came || l.Gone }) {
				continue
			}
			edited++
		}
		e.Other -= f.Delta
		if f.Group == Yours || !less(f.Delta, all[0].Delta, functionPct) {
			f.Lines = mostChanged(changed[f.Name])
		}
		e.Functions = append(e.Functions, f)
	}
	slices.SortStableFunc(e.Functions, func(a, b Function) int { return order(a.Group) - order(b.Group) })
	return e
}

// less reports whether a is less than pct percent of b, signs aside.
func less(a, b, pct gate.PerOp) bool { return size(a)*100 < size(b)*pct }

// enough reports whether the list is complete after n functions, if the next one
// changed by delta.
func enough(whole, other, next gate.PerOp, n int) bool {
	return (other == 0 || less(other, whole, otherPct)) && (less(next, whole, otherPct) || n >= maxPlain)
}

func size(q gate.PerOp) gate.PerOp { return max(q, -q) }

func order(g Group) int { return slices.Index([]Group{Yours, Std, Runtime, Testing, Native}, g) }

// bySource is a profile per iteration, by the functions of the source.
type bySource struct {
	functions map[string]gate.PerOp
	lines     map[count.Line]gate.PerOp
	files     map[string][]string // by function
}

func (p Profile) bySource() bySource {
	s := bySource{make(map[string]gate.PerOp), make(map[count.Line]gate.PerOp), make(map[string][]string)}
	rest := slopes(p.Lo.Functions, p.Hi.Functions, p.K) // what has no line
	owners := newOwners(p)
	for l, ir := range slopes(p.Lo.Lines, p.Hi.Lines, p.K) {
		rest[l.Function] -= ir
		l.Function = owners.name(l)
		s.functions[l.Function] += ir
		s.lines[l] += ir
		if !slices.Contains(s.files[l.Function], l.File) {
			s.files[l.Function] = append(s.files[l.Function], l.File)
		}
	}
	for symbol, ir := range rest {
		s.functions[functionName(symbol)] += ir
	}
	return s
}

// functionChanges returns the functions that changed, the largest change first.
func functionChanges(old, new bySource) []Function {
	var all []Function
	for name := range union(old.functions, new.functions) {
		f := Function{Name: name, Old: old.functions[name], New: new.functions[name]}
		if f.Delta = f.New - f.Old; f.Delta != 0 {
			files := slices.Concat(old.files[name], new.files[name])
			slices.Sort(files) // they come out of maps
			f.Group = groupOf(name, files)
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b Function) int {
		return cmp.Or(cmp.Compare(size(b.Delta), size(a.Delta)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// slopes returns what each key's count grows by per iteration.
func slopes[K comparable](lo, hi map[K]int64, k int) map[K]gate.PerOp {
	s := make(map[K]gate.PerOp)
	for key := range union(lo, hi) {
		if d := hi[key] - lo[key]; d != 0 {
			s[key] = gate.Slope(d, k)
		}
	}
	return s
}

func union[K comparable, V any](a, b map[K]V) map[K]V {
	all := maps.Clone(b)
	if all == nil {
		all = make(map[K]V)
	}
	maps.Copy(all, a)
	return all
}

// lineChanges returns the lines that changed, by function.
func lineChanges(old, new bySource, moved lineMaps) map[string][]Line {
	type place struct {
		count.Line
		gone bool
	}
	type sides struct{ old, new gate.PerOp }
	all := make(map[place]sides)
	for l, ir := range new.lines {
		all[place{l, false}] = sides{0, ir}
	}
	for l, ir := range old.lines {
		at := place{l, false}
		at.Number, at.gone = moved.of(l.File).find(l.Number)
		s := all[at]
		s.old += ir
		all[at] = s
	}
	changed := make(map[string][]Line)
	for at, s := range all {
		if s.old != s.new {
			l := Line{File: at.File, Line: at.Number, Gone: at.gone, Old: s.old, New: s.new, Delta: s.new - s.old}
			l.Came = !at.gone && moved.of(at.File).came(at.Number)
			changed[at.Function] = append(changed[at.Function], l)
		}
	}
	return changed
}

// mostChanged returns the lines worth showing of those of a function.
func mostChanged(all []Line) []Line {
	slices.SortFunc(all, func(a, b Line) int {
		return cmp.Or(cmp.Compare(size(b.Delta), size(a.Delta)), cmp.Compare(a.File, b.File), a.Line-b.Line, cmp.Compare(a.Old, b.Old))
	})
	n := 0
	for n < min(len(all), maxLines) && !less(all[n].Delta, all[0].Delta, linePct) {
		n++
	}
	return slices.Clip(all[:n])
}

// lineMaps are where the lines of the old side's files are in the new ones.
type lineMaps struct {
	old, new Profile
	maps     map[string]lineMap // by file
}

// of returns the map of a file. For one whose text is equal on both sides, or
// not to be had, every line stays where it is.
func (m lineMaps) of(file string) lineMap {
	to, ok := m.maps[file]
	if !ok {
		to = m.read(file)
		m.maps[file] = to
	}
	return to
}

func (m lineMaps) read(file string) lineMap {
	if m.old.Source == nil || m.new.Source == nil {
		return lineMap{}
	}
	old, errOld := m.old.Source(file)
	new, errNew := m.new.Source(file)
	switch {
	case errors.Is(errNew, fs.ErrNotExist) && errOld == nil:
		return lineMap{to: make([]int, 1+strings.Count(old, "\n"))} // all are gone
	case errors.Is(errOld, fs.ErrNotExist) && errNew == nil:
		return lineMap{from: make([]bool, 1+strings.Count(new, "\n"))}
	case errOld != nil || errNew != nil || old == new:
		return lineMap{}
	}
	l := lineMap{lines.Map(old, new), make([]bool, 1+strings.Count(new, "\n"))}
	for _, n := range l.to {
		if n > 0 {
			l.from[n-1] = true
		}
	}
	return l
}

// A lineMap is where the lines of a file went, and which of the new ones came
// from there. It is by index; lines outside of it stayed.
type lineMap struct {
	to   []int
	from []bool
}

// find returns the new number of a line, or its old one if it is gone.
func (m lineMap) find(number int) (to int, gone bool) {
	switch {
	case number < 1 || number > len(m.to):
		return number, false
	case m.to[number-1] == 0:
		return number, true
	}
	return m.to[number-1], false
}

// came reports whether a line of the new side is not of the old one.
func (m lineMap) came(number int) bool {
	return 1 <= number && number <= len(m.from) && !m.from[number-1]
}
