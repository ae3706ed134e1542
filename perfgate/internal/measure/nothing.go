package measure

import (
	"fmt"
	"slices"
	"strings"
)

// ErrNothing is the error of a selection in which there is nothing to measure.
type ErrNothing struct {
	Message string
	Hint    string // "" for none
}

func (e ErrNothing) Error() string { return e.Message }

// nothing explains why no benchmark was found.
func (s *Session) nothing(names []string) error {
	if len(names) == 0 {
		for _, p := range s.Listed {
			for _, b := range p.Benchmarks {
				names = append(names, strings.TrimPrefix(b.Name, "Benchmark"))
			}
		}
	}
	if len(names) == 0 {
		return ErrNothing{Message: fmt.Sprintf("no benchmarks in %s", strings.Join(s.patterns(), " "))}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	slices.SortStableFunc(names, func(a, b string) int {
		return distance(s.req.Bench, a) - distance(s.req.Bench, b)
	})
	bench := s.req.Bench
	if bench == "" {
		bench = "."
	}
	return ErrNothing{
		Message: fmt.Sprintf("no benchmark in %s matches -bench %q%s", strings.Join(s.patterns(), " "), bench, skipNote(s.req.Skip)),
		Hint:    "the nearest are: " + strings.Join(names[:min(5, len(names))], ", "),
	}
}

func skipNote(skip string) string {
	if skip == "" {
		return ""
	}
	return fmt.Sprintf(" and not -skip %q", skip)
}

func (s *Session) patterns() []string {
	if len(s.req.Patterns) == 0 {
		return []string{"."}
	}
	return s.req.Patterns
}

// distance is the number of insertions, deletions and replacements that make b
// of a, letter case aside.
func distance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			next := diagonal
			if x[i] != y[j] {
				next = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(y)]
}
