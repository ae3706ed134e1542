package measure

import (
	"fmt"
	"regexp"
	"strings"
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

// CheckPattern reports what is wrong with a -bench or -skip pattern.
func CheckPattern(pattern string) error {
	for _, alternative := range splitPattern(pattern) {
		for _, e := range alternative {
			if _, err := regexp.Compile(e); err != nil {
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
			elems = append(elems, regexp.MustCompile(e))
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

// mayContain reports whether a benchmark function can have a benchmark that is
// selected.
func (m matcher) mayContain(function string) bool {
	return matchElems(m.bench, []string{function}, false) && !matchElems(m.skip, []string{function}, true)
}

// matches reports whether the benchmark of that full name, without "Benchmark",
// is selected.
func (m matcher) matches(name string) bool {
	elems := strings.Split("Benchmark"+name, "/")
	return matchElems(m.bench, elems, false) && !matchElems(m.skip, elems, true)
}

// matchElems reports whether one of the alternatives matches every element that
// it has in common with the name; with whole it must not have more elements.
func matchElems(alternatives [][]*regexp.Regexp, name []string, whole bool) bool {
	for _, res := range alternatives {
		ok := !whole || len(res) <= len(name)
		for i, re := range res {
			if i < len(name) && !re.MatchString(name[i]) {
				ok = false
			}
		}
		if ok {
			return true
		}
	}
	return false
}
