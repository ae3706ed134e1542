package measure

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

func files(list ...string) map[string][]byte {
	m := make(map[string][]byte)
	for i := 0; i < len(list); i += 2 {
		m[list[i]] = []byte(list[i+1])
	}
	return m
}

func write(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		text, err := os.ReadFile(path)
		found[rel] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestLayTests(t *testing.T) {
	head, base := t.TempDir(), t.TempDir()
	write(t, head, files("a.go", "new code", "a_test.go", "new", "b_test.go", "b", "testdata/in/x", "X", "sub/c_test.go", "no"))
	write(t, base, files("a.go", "old code", "a_test.go", "old", "c_test.go", "c", "testdata/y", "Y"))
	l, err := layTests(head, base)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a.go": "old code", "a_test.go": "new", "b_test.go": "b", "testdata/in/x": "X"}
	if got := read(t, base); !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	// What the compiler names gives way, one by one, then all that is left.
	steps := []struct {
		text string
		want map[string]string // test files
	}{
		{"does not compile: ./a_test.go:3:7: undefined: x", map[string]string{"a_test.go": "old", "b_test.go": "b"}},
		{"./a_test.go:1:1: still\nsub/dir/b_test.go:2:1: no required module", map[string]string{"a_test.go": "old"}},
		{"./a_test.go:1:1: undefined: c", map[string]string{"a_test.go": "old", "c_test.go": "c"}},
	}
	for _, step := range steps {
		again, err := l.giveWay(step.text)
		got := read(t, base)
		delete(got, "a.go")
		delete(got, "testdata/in/x")
		if err != nil || !again || !maps.Equal(got, step.want) {
			t.Errorf("%s: got %q, %v, %v, want %q", step.text, got, again, err, step.want)
		}
	}
	if again, err := l.giveWay("./a_test.go:1:1: undefined: d"); again || err != nil {
		t.Errorf("got %v, %v, want the end", again, err)
	}
}

func TestLayTestsNoFolder(t *testing.T) {
	head, base := t.TempDir(), filepath.Join(t.TempDir(), "new", "one")
	write(t, head, files("a_test.go", "a"))
	if _, err := layTests(head, base); err != nil {
		t.Fatal(err)
	}
	if got := read(t, base); !maps.Equal(got, map[string]string{"a_test.go": "a"}) {
		t.Errorf("got %q", got)
	}
}

const laidSource = `package m

import "testing"

// Sum is summed.
func BenchmarkSum(b *testing.B) {
	for range b.N {
		sink = sum(input())
	}
}

func BenchmarkOther(b *testing.B) { other(b, 1) }

func input() []int { return make([]int, size) }

const size = 10

var sink int

func other(b *testing.B, x int) {}
`

func TestEqualBenchmarks(t *testing.T) {
	both := []string{"BenchmarkOther", "BenchmarkSum"}
	tests := []struct {
		name, old, new string // replaced
		want           []string
	}{
		{"same", "", "", both},
		{"comment", "// Sum is summed.", "// Sums.", both},
		{"layout", "for range b.N {\n\t\tsink", "for range b.N {\n\n\t\tsink", both},
		{"other function", "other(b, 1)", "other(b, 2)", []string{"BenchmarkSum"}},
		{"what it uses", "make([]int, size)", "make([]int, 2*size)", []string{"BenchmarkOther"}},
		{"what that uses", "size = 10", "size = 11", []string{"BenchmarkOther"}},
		{"unused", "func other(b *testing.B, x int) {}", "func other(b *testing.B, x int) {}\n\nfunc more() {}", both},
		{"init", "const size", "func init() { sink = 1 }\n\nconst size", nil},
		{"TestMain", "const size", "func TestMain(m *testing.M) { m.Run() }\n\nconst size", nil},
		{"import", `import "testing"`, `import testing "example.com/testing"`, nil},
		{"renamed", "BenchmarkSum", "BenchmarkTotal", []string{"BenchmarkOther"}},
		{"directive", "func other(", "//go:noinline\nfunc other(", []string{"BenchmarkSum"}},
		{"nameless", "const size", "var _ = input()\n\nconst size", nil},
		{"syntax", "package m", "package", nil},
	}
	for _, test := range tests {
		other := laidSource
		if test.old != "" {
			other = strings.Replace(laidSource, test.old, test.new, 1)
		}
		got := slices.Sorted(maps.Keys(equalBenchmarks(files("a_test.go", laidSource), files("b_test.go", other))))
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// TestEqualBenchmarksMethods: a method that only an interface names is part of
// what uses its type.
func TestEqualBenchmarksMethods(t *testing.T) {
	const text = "package m\n\ntype source struct{ left int }\n\nfunc (s *source) Read(p []byte) (int, error) { s.left--; return 0, nil }\n\n" +
		"func BenchmarkDrain(b *testing.B) { Drain(&source{left: 20}) }\n\nfunc BenchmarkOther(b *testing.B) { Other() }\n"
	got := slices.Sorted(maps.Keys(equalBenchmarks(files("a_test.go", text), files("a_test.go", strings.Replace(text, "left--", "left -= 5", 1)))))
	if want := []string{"BenchmarkOther"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestEqualBenchmarksFiles: another file beside is no difference.
func TestEqualBenchmarksFiles(t *testing.T) {
	a := files("a_test.go", laidSource, "b_test.go", "package m\n\nimport \"testing\"\n\nfunc BenchmarkNew(b *testing.B) {}\n")
	got := slices.Sorted(maps.Keys(equalBenchmarks(a, files("a_test.go", laidSource))))
	if want := []string{"BenchmarkOther", "BenchmarkSum"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDiffers(t *testing.T) {
	var none *laidTests
	if none.differs(gate.Key{Name: "A"}) != "" || !none.comparesSome() || none.gone() != nil {
		t.Error("without laid tests nothing differs")
	}
	l := &laidTests{
		laid: files("a_test.go", "package m\nfunc BenchmarkA() {}\nfunc BenchmarkB() { x() }"),
		own:  files("a_test.go", "package m\nfunc BenchmarkA() {}\nfunc BenchmarkB() { y() }\nfunc BenchmarkC() {}"),
	}
	l.comparable = equalBenchmarks(l.laid, l.own)
	if l.differs(gate.Key{Name: "A/x"}) != "" || l.differs(gate.Key{Name: "B"}) == "" || !l.comparesSome() {
		t.Errorf("got %v", l.comparable)
	}
	if got := l.gone(); !slices.Equal(got, []string{"BenchmarkC"}) {
		t.Errorf("got %q, want BenchmarkC", got)
	}
	l.comparable = map[string]bool{}
	if l.comparesSome() {
		t.Error("nothing compares")
	}
	l.own = nil
	if !l.comparesSome() {
		t.Error("there was nothing to compare with")
	}
}

func TestHashData(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, files("a.go", "code", "data", "x", "testdata/in/b.go", "b", "below/c", "c", "sub/sub.go", "code", "sub/d", "d", "baselines.json", "{}", ".git/x", "x"))
	hash := func() string {
		t.Helper()
		h, err := hashData(dir)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := hash()
	for name, counts := range map[string]bool{
		"data": true, "testdata/in/b.go": true, "below/c": true, "new": true, "below/deep/new": true,
		".hidden": false, "below/.hidden/x": false, "a.go": false, "sub/d": false, "sub/sub.go": false, "baselines.json": false, ".git/x": false,
	} {
		before := hash()
		write(t, dir, files(name, "changed"))
		if (hash() != before) != counts {
			t.Errorf("%s changed: counts %v, want %v", name, !counts, counts)
		}
		if got := hasData(dir, filepath.Join(dir, name)); got != counts {
			t.Errorf("%s: is data %v, want %v", name, got, counts)
		}
	}
	if hash() == first {
		t.Error("nothing counts")
	}
	for i := range maxDataFiles + 1 {
		write(t, dir, files(fmt.Sprintf("many/%d", i), ""))
	}
	if _, err := hashData(dir); !errors.Is(err, errTooMuch) {
		t.Errorf("got %v, want too much", err)
	}
}
