package exact

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// frame is what the runtime writes for each text, with faketime.
func frame(texts ...string) []byte {
	var b []byte
	for _, s := range texts {
		b = append(b, 0, 0, 'P', 'B')
		b = binary.BigEndian.AppendUint64(b, 1_257_894_000_000_000_000)
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return b
}

func readOutput(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestUnframe(t *testing.T) {
	tests := []struct {
		name   string
		stream []byte
		want   []string
	}{
		{"nothing", nil, nil},
		{"one", frame("text\n"), []string{"text\n"}},
		{"several", frame("a", "b\nc", "d\n"), []string{"a", "b\nc", "d\n"}},
		{"empty write", frame("a", "", "b"), []string{"a", "", "b"}},
		{"no frames", []byte("from C\n"), []string{"from C\n"}},
		{"text before", append([]byte("from C"), frame("a")...), []string{"from C", "a"}},
		{"text behind", append(frame("a"), "from C\n"...), []string{"a", "from C\n"}},
		{"the mark in a text", frame("a\x00\x00PBb", "c"), []string{"a\x00\x00PBb", "c"}},
		{"header cut", frame("a")[:10], []string{"\x00\x00PB\x11\x74\xef\xed\xab\x18"}},
		{"text cut", frame("abc")[:18], []string{"ab"}},
		{"length beyond the end", append(frame("a"), frame(strings.Repeat("x", 500))[:20]...), []string{"a", "xxxx"}},
	}
	for _, test := range tests {
		var got []string
		for _, w := range Unframe(test.stream) {
			got = append(got, string(w))
		}
		if test.name == "header cut" && len(got) == 1 {
			got[0], test.want[0] = got[0][:4], test.want[0][:4]
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if got, want := Text(test.stream), strings.Join(got, ""); test.name != "header cut" && got != want {
			t.Errorf("%s: got %q, want %q", test.name, got, want)
		}
	}
}

// TestListOutput reads what a real binary wrote under a list command: sub-benchmarks,
// logs, output of a benchmark's own, skips and failures.
func TestListOutput(t *testing.T) {
	wantResults := []Result{
		{"Sum", 1, 0, 0, true},
		{"Store/data=a_b/size=1", 1, 13, 1064, false},
		{"Store/x|y", 1, 0, 0, false},
		{"Store/x|y#01", 1, 0, 0, false},
		{"", 1, 0, 0, false}, // func Benchmark
		{"Print", 1, 2, 136, false},
		{"Parent/good", 1, 0, 0, false},
		{"Parent/after", 1, 0, 0, false},
		{"Panics/sub", 1, 2, 256, false},
	}
	wantFailed := map[string]string{
		"Fails":      "m_test.go:52: first\nm_test.go:53: second\nthird",
		"Parent":     "",
		"Parent/bad": "m_test.go:62: it is bad",
	}
	wantSkipped := map[string]string{
		"Skips":        "m_test.go:47: first\nm_test.go:48: needs a network",
		"Parent/skips": "m_test.go:65:",
	}
	for _, test := range []struct {
		file    string
		results []Result
		started string
	}{
		{"list.out", wantResults, ""},
		{"crash.out", wantResults[:8], "Panics/sub"},
	} {
		out := readOutput(t, test.file)
		if got := Results(out); !slices.Equal(got, test.results) {
			t.Errorf("%s: got %+v, want %+v", test.file, got, test.results)
		}
		failed, skipped := Failures(out)
		if !maps.Equal(failed, wantFailed) {
			t.Errorf("%s: got failed %q, want %q", test.file, failed, wantFailed)
		}
		if !maps.Equal(skipped, wantSkipped) {
			t.Errorf("%s: got skipped %q, want %q", test.file, skipped, wantSkipped)
		}
		if got := Started(out); got != test.started {
			t.Errorf("%s: got started %q, want %q", test.file, got, test.started)
		}
	}
}

func TestRunOutput(t *testing.T) {
	out := readOutput(t, "one.out")
	if got, want := Results(out), []Result{{"Store/data=a_b/size=1", 11, 22, 1696, false}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if failed, skipped := Failures(out); len(failed)+len(skipped) != 0 {
		t.Errorf("got failed %q, skipped %q, want none", failed, skipped)
	}
	out = readOutput(t, "fails.out")
	if got := Results(out); len(got) != 0 {
		t.Errorf("got %+v, want none", got)
	}
	want := map[string]string{"Fails": "m_test.go:52: first\nm_test.go:53: second\nthird"}
	if failed, _ := Failures(out); !maps.Equal(failed, want) {
		t.Errorf("got %q, want %q", failed, want)
	}
}

// TestOutputTruncated: what a dying process leaves is read without a panic, and
// never as a result that the whole does not have.
func TestOutputTruncated(t *testing.T) {
	for _, file := range []string{"list.out", "crash.out", "one.out", "fails.out"} {
		whole := readOutput(t, file)
		all := Results(whole)
		for n := range whole {
			out := whole[:n]
			got := Results(out)
			if len(got) > len(all) || !slices.Equal(got, all[:len(got)]) {
				t.Fatalf("%s cut at byte %d: got %+v", file, n, got)
			}
			Failures(out)
			Started(out)
			// From the middle on, as a stream that C code wrote into.
			Results(whole[n:])
			Failures(whole[n:])
			Started(whole[n:])
		}
	}
}

func TestResults(t *testing.T) {
	const figures = "perfgate: 000000000000000b 0000000000000016 00000000000006a0 0000000000000001\n"
	result := func(name string) []byte { return frame(name+"\t", figures) }
	tests := []struct {
		name   string
		stream []byte
		want   []string
	}{
		{"one", result("BenchmarkA  "), []string{"A"}},
		{"two", append(result("BenchmarkA"), result("BenchmarkB")...), []string{"A", "B"}},
		{"user output before", frame("no end", "BenchmarkA\t", figures), []string{"A"}},
		{"user output between", frame("BenchmarkA\t", "hello\n", "x", figures), []string{"A"}},
		{"user output in one write", frame("x BenchmarkA\t", figures), nil},
		{"figures without a name", frame(figures), nil},
		{"figures twice", frame("BenchmarkA\t", figures, figures), []string{"A"}},
		{"name without figures", frame("BenchmarkA\t", "ok\n"), nil},
		{"ordinary figures", frame("BenchmarkA\t", "      11\t  7 ns/op\n"), nil},
		{"too few figures", frame("BenchmarkA\t", "perfgate: 000000000000000b 0000000000000016\n"), nil},
		{"too many figures", frame("BenchmarkA\t", strings.TrimSuffix(figures, "\n")+" 0\n"), nil},
		{"no figures", frame("BenchmarkA\t", "perfgate: a b c x\n"), nil},
		{"cut figures", frame("BenchmarkA\t", figures[:len(figures)-2]), nil},
		{"negative", frame("BenchmarkA\t", "perfgate: 000000000000000b 0000000000000016 -00000000000006a 0000000000000001\n"), nil},
		{"too large", frame("BenchmarkA\t", "perfgate: 000000000000000b 0000000000000016 ffffffffffffffff 0000000000000001\n"), nil},
	}
	for _, test := range tests {
		var names []string
		for _, r := range Results(test.stream) {
			names = append(names, r.Name)
			if want := (Result{r.Name, 11, 22, 1696, true}); r != want {
				t.Errorf("%s: got %+v, want %+v", test.name, r, want)
			}
		}
		if !slices.Equal(names, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, names, test.want)
		}
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name            string
		stream          []byte
		failed, skipped map[string]string
	}{
		{"none", frame("BenchmarkA\n", "PASS\n"), nil, nil},
		{"log before", frame("BenchmarkA\n", "    a_test.go:1: x\n", "--- FAIL: BenchmarkA\n", "FAIL\n"), map[string]string{"A": "a_test.go:1: x"}, nil},
		{"log behind", frame("--- FAIL: BenchmarkA\n    a_test.go:1: x\n        y\n", "FAIL\n"), map[string]string{"A": "a_test.go:1: x\ny"}, nil},
		{"own output without an end", frame("BenchmarkA\n", "no newline", "--- FAIL: BenchmarkA\n"), map[string]string{"A": ""}, nil},
		{"own output without an end, skipped", frame("BenchmarkA\n", "no ", "newline", "", "--- SKIP: BenchmarkA\n"), nil, map[string]string{"A": ""}},
		{"own output between", frame("    of mine\n", "of mine\n", "    a_test.go:1: x\n", "--- SKIP: BenchmarkA/b_c\n"), nil, map[string]string{"A/b_c": "a_test.go:1: x"}},
		{"log of another one", frame("BenchmarkA\n", "    a_test.go:1: x\n", "BenchmarkA\t", "perfgate: 1 0 0 0\n", "BenchmarkB\n", "--- FAIL: BenchmarkB\n"), map[string]string{"B": ""}, nil},
		{"a test's", frame("--- FAIL: TestA (0.00s)\n"), nil, nil},
		{"in the middle of a line", frame("see --- FAIL: BenchmarkA\n"), nil, nil},
		{"log of a good one", frame("--- BENCH: BenchmarkA\n    a_test.go:1: x\n"), nil, nil},
	}
	for _, test := range tests {
		failed, skipped := Failures(test.stream)
		if !maps.Equal(failed, test.failed) || !maps.Equal(skipped, test.skipped) {
			t.Errorf("%s: got %q and %q, want %q and %q", test.name, failed, skipped, test.failed, test.skipped)
		}
	}
}

func TestStarted(t *testing.T) {
	const figures = "perfgate: 1 0 0 0\n"
	tests := []struct {
		name   string
		stream []byte
		want   string
	}{
		{"none", frame("goos: linux\n"), ""},
		{"one", frame("BenchmarkA\n"), "A"},
		{"sub-benchmark", frame("BenchmarkA\n", "BenchmarkA/b\n", "    log\n", "output"), "A/b"},
		{"ended", frame("BenchmarkA\n", "BenchmarkA\t", figures), ""},
		{"own output before", frame("BenchmarkA\n", "BenchmarkA\t", figures, "no newline", "BenchmarkB\n"), "B"},
		{"own output like it", frame("BenchmarkA\n", "Benchmark of mine\n", "Benchmarks:\tx\n"), "A"},
		{"not its own line", frame("BenchmarkA"), ""},
	}
	for _, test := range tests {
		if got := Started(test.stream); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func FuzzOutput(f *testing.F) {
	for _, file := range []string{"list.out", "crash.out", "one.out", "fails.out"} {
		f.Add(readOutput(f, file))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got := bytes.Join(Unframe(b), nil); len(got) > len(b) {
			t.Errorf("got %d bytes of %d", len(got), len(b))
		}
		for _, r := range Results(b) {
			if r.N < 0 || r.Allocs < 0 || r.Bytes < 0 {
				t.Errorf("got %+v", r)
			}
		}
		Failures(b)
		Started(b)
	})
}

func TestPattern(t *testing.T) {
	tests := []struct{ name, want string }{
		{"Sum", "^BenchmarkSum$"},
		{"", "^Benchmark$"},
		{"Store/size=1024", "^BenchmarkStore$/^size=1024$"},
		{"Store/a_b#01", "^BenchmarkStore$/^a_b#01$"},
		{"Store/x|y", `^BenchmarkStore$/^x\|y$`},
		{"Store/f(x)[0]", `^BenchmarkStore$/^f\(x\)\[0\]$`},
		{"Store/a.b*c+d?", `^BenchmarkStore$/^a\.b\*c\+d\?$`},
		{`Store/\x00{2}^$`, `^BenchmarkStore$/^\\x00\{2\}\^\$$`},
		{"Store/a//b/", "^BenchmarkStore$/^a$/^$/^b$/^$"},
		{"Store/größe=1", "^BenchmarkStore$/^größe=1$"},
	}
	for _, test := range tests {
		got := Pattern(test.name)
		if got != test.want {
			t.Errorf("%q: got %s, want %s", test.name, got, test.want)
		}
		for i, e := range strings.Split("Benchmark"+test.name, "/") {
			re, err := regexp.Compile("^" + regexp.QuoteMeta(e) + "$")
			if err != nil || !re.MatchString(e) || !strings.Contains(got, re.String()) {
				t.Errorf("%q: element %d does not match itself: %v", test.name, i, err)
			}
		}
	}
}

func TestEnvironment(t *testing.T) {
	got := Environment("/h", "/t", []string{"B=1", "A=2"}, false)
	want := []string{"GOMAXPROCS=1", "GOGC=off", "GODEBUG=memprofilerate=0,asyncpreemptoff=1", "HOME=/h", "TMPDIR=/t", "B=1", "A=2"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = Environment("/h", "/t", []string{"GOGC=100", "GODEBUG=gctrace=1", "A=2", "A=3"}, false)
	want = []string{"GOMAXPROCS=1", "GOGC=100", "GODEBUG=memprofilerate=0,asyncpreemptoff=1,gctrace=1", "HOME=/h", "TMPDIR=/t", "A=3"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Environment("/h", "/t", nil, true); !slices.Contains(got, "GODEBUG=memprofilerate=0") {
		t.Errorf("with the monitor thread: got %q, want that it may preempt", got)
	}
}

func TestCommand(t *testing.T) {
	scratch := t.TempDir()
	b := Binary{Path: "/bin/x.test", Dir: "/src", Args: []string{"-v", "-mine"}, Env: []string{"A=1"}, Short: true}
	c, err := b.Command(scratch, Pattern("A/b"), 101)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"-test.paniconexit0", "-test.run=^$", "-test.bench=^BenchmarkA$/^b$", "-test.benchtime=101x", "-test.timeout=0", "-test.short", "-v", "-mine"}
	if !slices.Equal(c.Args, want) || c.Path != b.Path || c.Dir != b.Dir {
		t.Errorf("got %+v, want the arguments %q", c, want)
	}
	home, tmp := filepath.Join(scratch, "home"), filepath.Join(scratch, "temp")
	if env := Environment(home, tmp, b.Env, false); !slices.Equal(c.Env, env) {
		t.Errorf("got %q, want %q", c.Env, env)
	}
	for _, dir := range []string{home, tmp} {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("%s: got %v, %v, want a folder", dir, info, err)
		}
	}
	c, err = b.ListCommand(scratch, "A|B", "C", 1)
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"-test.paniconexit0", "-test.run=^$", "-test.bench=A|B", "-test.benchtime=1x", "-test.timeout=0", "-test.short", "-test.v", "-test.skip=C", "-test.testlogfile=" + filepath.Join(scratch, "log"), "-v", "-mine"}
	if !slices.Equal(c.Args, want) {
		t.Errorf("got %q, want %q", c.Args, want)
	}
	if _, err := b.ListCommand(filepath.Join("/dev/null", "x"), "A", "", 1); err == nil {
		t.Error("a scratch folder that cannot be made: want an error")
	}
}

func TestFilesRead(t *testing.T) {
	log := "# test log\ngetenv HOME\nopen b\nstat /etc/x\nchdir sub\nopen b\nstat ../b\n"
	files, started := FilesRead([]byte(log), "/m")
	if want := []string{"/etc/x", "/m/b", "/m/sub/../b", "/m/sub/b"}; !slices.Equal(files, want) || started {
		t.Errorf("got %q and started %v, want %q and not", files, started, want)
	}
	if files, started := FilesRead([]byte(log+"open perfgate: program\n"), "/m"); len(files) != 4 || !started {
		t.Errorf("got %q and started %v, want that it started a program", files, started)
	}
}
