package measure

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// matched are benchmarks to select from, as a test file, and their leaves.
const matched = `package m

import "testing"

func loop(b *testing.B) {
	for range b.N {
	}
}

func Benchmark(b *testing.B)        { loop(b) }
func BenchmarkAlpha(b *testing.B)   { loop(b) }
func BenchmarkAlphabet(b *testing.B) {
	b.Run("size=1", loop)
	b.Run("size=10", loop)
}
func BenchmarkBeta(b *testing.B) {
	b.Run("a b", loop)
	b.Run("a b", loop)
	b.Run("c|d", loop)
	b.Run("e/f", loop)
	b.Run("g[1](x)", loop)
	b.Run("", loop)
	b.Run("\x01é", loop)
	b.Run("deep", func(b *testing.B) {
		b.Run("one", loop)
		b.Run("two", loop)
	})
}
`

var leaves = []string{
	"", "Alpha", "Alphabet/size=1", "Alphabet/size=10", "Beta/a_b", "Beta/a_b#01", "Beta/c|d", "Beta/e/f", "Beta/g[1](x)",
	"Beta/#00", `Beta/\x01é`, "Beta/deep/one", "Beta/deep/two",
}

var selections = []struct{ bench, skip string }{
	{".", ""},
	{"", ""},
	{"Alpha", ""},
	{"^BenchmarkAlpha$", ""},
	{"Alpha$", ""},
	{"^Benchmark$", ""},
	{"^Alpha", ""},
	{"Nope", ""},
	{"Alpha/size=1", ""},
	{"Alpha/size=1$", ""},
	{"Alpha/", ""},
	{"/one", ""},
	{"/deep/one", ""},
	{"/deep/one/more", ""},
	{"Beta/deep", ""},
	{"Beta//two", ""},
	{"Beta/e", ""},
	{"Beta/e/f", ""},
	{"Beta/e/g", ""},
	{"Alpha|Beta/deep/one", ""},
	{"Alpha/size=1$|Beta/deep/one", ""},
	{"Alpha$/x|Alpha$", ""},
	{"Alpha$|Alpha$/x", ""},
	{"(Alpha|Beta)/(size=1$|deep/one)", ""},
	{"(Alpha|Beta)/(size=1$|a_b)", ""},
	{"[A|B]/[s/]", ""},
	{"[AB]", ""},
	{`Beta/c\|d`, ""},
	{"Beta/c|d", ""},
	{"Beta/c.d", ""},
	{`Beta/g\[1\]\(x\)`, ""},
	{`Beta/g[[]1]`, ""},
	{"Beta/a b", ""},
	{"Beta/^a b$", ""},
	{"Beta/a_b#01", ""},
	{"Beta/#", ""},
	{"Beta/^$", ""},
	{"Beta/é", ""},
	{"Beta/\x01", ""},
	{`Beta/\\x01`, ""},
	{"Beta/]", ""},
	{`Alpha/siz\x65`, ""},
	{"|Alpha", ""},
	{"Alpha|", ""},
	{"(?i)ALPHA", ""},

	{".", "Alpha"},
	{".", "Alpha$"},
	{".", "Alpha$/x"},
	{".", "Alpha$/x|Alpha$"},
	{".", "Alpha$|Alpha$/x"},
	{".", "Beta/deep"},
	{".", "Beta/deep/one"},
	{".", "Beta/deep/one/more"},
	{".", "Beta/e"},
	{".", "/one"},
	{".", "/size"},
	{".", "."},
	{".", "Nope"},
	{".", "Beta/a b"},
	{".", `^BenchmarkBeta$/^c\|d$|^BenchmarkAlpha$`},
	{".", `^BenchmarkBeta$/^e$/^f$`},
	{"Beta/deep", "Beta/deep/one"},
	{"Beta", "Beta/a|Beta/deep/two"},
	{"Beta", "Beta/deep/x|Beta"},
	{"/size=1", "/size=10"},
}

// TestMatchAsTesting selects with the real testing package and compares.
func TestMatchAsTesting(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m_test.go": matched} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(dir, "m.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-w -s", "-o", binary)
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, s := range selections {
		bench := s.bench
		if bench == "" {
			bench = "." // as this package has it
		}
		out, err := exec.Command(binary, "-test.run=^$", "-test.bench="+bench, "-test.skip="+s.skip, "-test.benchtime=1x", "-test.cpu=1").Output()
		if err != nil {
			t.Fatalf("-bench %q -skip %q: %v: %s", s.bench, s.skip, err, out)
		}
		var want []string
		for line := range strings.Lines(string(out)) {
			if name, _, ok := strings.Cut(line, "\t"); ok && strings.HasPrefix(name, "Benchmark") {
				want = append(want, strings.TrimPrefix(strings.TrimRight(name, " "), "Benchmark"))
			}
		}
		var got []string
		m := newMatcher(s.bench, s.skip)
		for _, name := range leaves {
			if m.matches(name) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("-bench %q -skip %q: got %q, want %q", s.bench, s.skip, got, want)
		}
		for _, name := range want {
			function, _, _ := strings.Cut("Benchmark"+name, "/")
			if !m.mayContain(function) {
				t.Errorf("-bench %q -skip %q: %s is left out, it has %s", s.bench, s.skip, function, name)
			}
		}
		if s.bench == "." && s.skip == "" && len(want) != len(leaves) {
			t.Errorf("got %q, want all of %q", want, leaves)
		}
	}
}

func TestMayContain(t *testing.T) {
	tests := []struct {
		bench, skip, function string
		want                  bool
	}{
		{"", "", "BenchmarkA", true},
		{"A", "", "BenchmarkA", true},
		{"A/b", "", "BenchmarkA", true},
		{"X", "", "BenchmarkA", false},
		{"X/b|A/b", "", "BenchmarkA", true},
		{"", "A", "BenchmarkA", false},
		{"", "A/b", "BenchmarkA", true},
		{"", "A/b|A", "BenchmarkA", true}, // testing looks at the first that matches
		{"", "A|A/b", "BenchmarkA", false},
	}
	for _, test := range tests {
		if got := newMatcher(test.bench, test.skip).mayContain(test.function); got != test.want {
			t.Errorf("-bench %q -skip %q: got %v, want %v", test.bench, test.skip, got, test.want)
		}
	}
}

func TestCheckPattern(t *testing.T) {
	for _, good := range []string{"", ".", "a/b|c/d", "[a/b]", "(a|b/c)", `a\/b`, "]", "a b", "\x01"} {
		if err := CheckPattern(good); err != nil {
			t.Errorf("%q: got %v, want no error", good, err)
		}
	}
	for pattern, element := range map[string]string{"(": `"("`, "a/*b": `"*b"`, "a|b)": `"b)"`, "[a": `"[a"`, "a/b/c{2,1}": `"c{2,1}"`, `a\`: `"a\\"`, "a)/b": `"a)/b"`} {
		if err := CheckPattern(pattern); err == nil || !strings.Contains(err.Error(), "element "+element) {
			t.Errorf("%q: got %v, want an error that names %s", pattern, err, element)
		}
	}
}

// FuzzPattern: what CheckPattern takes can be used.
func FuzzPattern(f *testing.F) {
	for _, s := range selections {
		f.Add(s.bench, "Alpha/size=1")
		f.Add(s.skip, "Beta")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if CheckPattern(pattern) != nil {
			return
		}
		m := newMatcher(pattern, "")
		function, _, _ := strings.Cut("Benchmark"+name, "/")
		if m.matches(name) && !m.mayContain(function) {
			t.Errorf("-bench %q has %q and not %q", pattern, name, function)
		}
		if m := newMatcher("", pattern); m.matches(name) && !m.mayContain(function) {
			t.Errorf("-skip %q leaves %q and not %q", pattern, name, function)
		}
	})
}
