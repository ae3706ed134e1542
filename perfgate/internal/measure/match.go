package measure

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// A matcher selects benchmarks by name as package testing does for -bench and
// -skip: alternatives separated by |, each with an expression for every
// element of a name between slashes. See "go help testflag".
type matcher struct {
	bench, skip [][]*regexp.Regexp
}

func newMatcher(bench, skip string) matcher {
	if bench == "" {
		bench = "."
	}
	return matcher{parsePattern(bench), parsePattern(skip)}
}

// Match reports whether a -bench pattern, which must pass [CheckPattern],
// selects the benchmark of that full name without "Benchmark".
func Match(pattern, name string) bool { return newMatcher(pattern, "").matches(name) }

// CheckPattern reports what is wrong with a -bench or -skip pattern.
func CheckPattern(pattern string) error {
	for _, alternative := range splitPattern(pattern) {
		for _, e := range alternative {
			if _, err := regexp.Compile(rewrite(e)); err != nil {
				return fmt.Errorf("element %q: %w", e, err)
			}
		}
	}
	return nil
}

// parsePattern panics on patterns that CheckPattern refuses.
func parsePattern(pattern string) [][]*regexp.Regexp {
	var all [][]*regexp.Regexp
	for _, alternative := range splitPattern(pattern) {
		var elems []*regexp.Regexp
		for _, e := range alternative {
			elems = append(elems, regexp.MustCompile(rewrite(e)))
		}
		all = append(all, elems)
	}
	return all
}

// splitPattern splits at each | and / that is in no brackets and not escaped.
func splitPattern(pattern string) [][]string {
	if pattern == "" {
		return nil
	}
	all := [][]string{nil}
	start, class, group := 0, 0, 0
	end := func(i int) {
		last := len(all) - 1
		all[last] = append(all[last], pattern[start:i])
		start = i + 1
	}
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '[':
			class++
		case c == ']':
			class = max(class-1, 0)
		case class > 0:
		case c == '(':
			group++
		case c == ')':
			group--
		case group == 0 && c == '/':
			end(i)
		case group == 0 && c == '|':
			end(i)
			all = append(all, nil)
		}
	}
	end(len(pattern))
	return all
}

// rewrite does to an element of a pattern what testing does to it and to the
// names of sub-benchmarks: spaces become underscores, and what cannot be printed
// an escape.
func rewrite(element string) string {
	var b strings.Builder
	for _, r := range element {
		switch {
		case unicode.IsSpace(r):
			b.WriteByte('_')
		case !strconv.IsPrint(r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// mayContain reports whether a benchmark function can have a benchmark that is
// selected.
func (m matcher) mayContain(function string) bool {
	ok, _ := m.selects([]string{function})
	return ok
}

// matches reports whether the benchmark of that full name, without "Benchmark",
// is selected. It must be one without sub-benchmarks: a pattern with more
// elements than its name selects sub-benchmarks alone.
func (m matcher) matches(name string) bool {
	elems := strings.Split("Benchmark"+name, "/")
	for n := 1; n < len(elems); n++ {
		if ok, _ := m.selects(elems[:n]); !ok {
			return false // its parent does not run
		}
	}
	ok, partial := m.selects(elems)
	return ok && !partial
}

// selects reports whether a benchmark runs, and whether only its sub-benchmarks
// count.
func (m matcher) selects(name []string) (ok, partial bool) {
	ok, partial = matchElems(m.bench, name)
	if skip, only := matchElems(m.skip, name); skip && !only {
		ok = false
	}
	return ok, partial
}

// matchElems reports whether one of the alternatives matches every element that
// it has in common with the name, and whether the first that does has more
// elements.
func matchElems(alternatives [][]*regexp.Regexp, name []string) (ok, partial bool) {
	for _, res := range alternatives {
		ok := true
		for i, re := range res[:min(len(res), len(name))] {
			ok = ok && re.MatchString(name[i])
		}
		if ok {
			return true, len(res) > len(name)
		}
	}
	return false, false
}
