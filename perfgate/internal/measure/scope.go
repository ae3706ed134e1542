package measure

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// Scope returns what the request covers: benchmarks of the listed packages, and
// of packages below a pattern that no longer exist, if the patterns select
// their names.
func (s *Session) Scope() gate.Scope {
	match := newMatcher(s.req.Bench, s.req.Skip)
	listed := make(map[string]bool)
	for _, p := range s.Listed {
		listed[p.ImportPath] = true
	}
	patterns := s.importPatterns()
	return func(k gate.Key) bool {
		covered := listed[k.Pkg] || slices.ContainsFunc(patterns, func(re *regexp.Regexp) bool { return re.MatchString(k.Pkg) })
		return covered && match.matches(k.Name)
	}
}

// importPatterns turns package patterns into expressions for import paths.
func (s *Session) importPatterns() []*regexp.Regexp {
	var res []*regexp.Regexp
	for _, p := range s.patterns() {
		if p == "." || p == ".." || strings.HasPrefix(p, "./") || strings.HasPrefix(p, "../") || filepath.IsAbs(p) {
			path, ok := s.importPath(p)
			if !ok {
				continue
			}
			p = path
		}
		quoted := regexp.QuoteMeta(p)
		quoted = strings.ReplaceAll(quoted, `\.\.\.`, `.*`)
		if rest, ok := strings.CutSuffix(quoted, "/.*"); ok {
			quoted = rest + "(/.*)?"
		}
		res = append(res, regexp.MustCompile("^"+quoted+"$"))
	}
	return res
}

// importPath returns the import path of a relative pattern, by way of a listed
// package's folder.
func (s *Session) importPath(pattern string) (string, bool) {
	dir := pattern
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.req.Dir, pattern)
	}
	// The folders of a module and its import paths correspond; of several
	// modules the one that is nearest counts.
	path, nearest := "", 1<<30
	for _, p := range s.Listed {
		rel, err := filepath.Rel(p.Dir, dir)
		if err != nil || p.Dir == "" {
			continue
		}
		elems := strings.Split(p.ImportPath, "/")
		ups := 0
		rest := filepath.ToSlash(rel)
		for rest == ".." || strings.HasPrefix(rest, "../") {
			rest = strings.TrimPrefix(strings.TrimPrefix(rest, ".."), "/")
			ups++
		}
		if ups >= len(elems) || ups >= nearest {
			continue
		}
		path, nearest = strings.Join(elems[:len(elems)-ups], "/"), ups
		if rest != "" && rest != "." {
			path += "/" + rest
		}
	}
	return path, path != ""
}
