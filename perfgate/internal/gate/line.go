package gate

import (
	"maps"
	"slices"
)

// Line returns the number, from 1, of the line in the canonical text of f that
// has the budget of k for target t; 0 if there is none.
func (f *File) Line(t Target, k Key) int {
	for _, cgo := range []bool{false, true} {
		i := slices.IndexFunc(f.Sets, func(s Set) bool { return s.Target == t.withCGO(cgo) })
		if i < 0 {
			continue
		}
		r, ok := f.Sets[i].Rows[k]
		if !ok {
			continue
		}
		// It is the one line that differs once the budget does.
		r.Ir++
		other := File{Sets: slices.Clone(f.Sets)}
		other.Sets[i].Rows = maps.Clone(f.Sets[i].Rows)
		other.Sets[i].Rows[k] = r
		line, _, _ := firstDifference(f.Format(), other.Format())
		return line
	}
	return 0
}
