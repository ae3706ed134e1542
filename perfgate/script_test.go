package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	// Whole commands with exact output and exit status need scripts with files
	// in them: what the go command itself is tested with.
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

// realValgrind is the folder of the installed valgrind, looked up before
// testscript puts the fake one in front of it.
var realValgrind string

func TestMain(m *testing.M) {
	if path, err := exec.LookPath("valgrind"); err == nil {
		realValgrind = filepath.Dir(path)
	}
	testscript.Main(m, map[string]func(){
		"perfgate": main,
		"valgrind": fakeValgrind,
	})
}

// TestScript runs whole commands. Scripts use the real go and a fake valgrind,
// which takes the costs of benchmarks from a file; those whose name begins with
// "real_" use the real valgrind.
func TestScript(t *testing.T) {
	goEnv := goEnvironment(t)
	cache := t.TempDir()
	commands := map[string]func(*testscript.TestScript, bool, []string){
		"exits":   exits,
		"edit":    edit,
		"nothing": nothingLeft,
		"onlygo":  onlyGo,
		"await":   await,
		"gone":    gone,
		"same":    same,
		"moved":   moved,
		"spoil":   spoil,
		"profile": cpuProfile,
	}
	maps.Copy(commands, stopCommands)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, goEnv...)
			e.Setenv("XDG_CACHE_HOME", cache)
			e.Setenv("REPO", repoRoot())
			// In a longer one perfgate would not make its folder.
			tmp, err := os.MkdirTemp("/tmp", "pg")
			if err != nil {
				return err
			}
			e.Defer(func() { os.RemoveAll(tmp) })
			e.Setenv("TMPDIR", tmp)
			real := strings.HasPrefix(filepath.Base(e.WorkDir), "script-real_")
			if real {
				if realValgrind == "" {
					return errors.New("valgrind is not installed: scripts/need valgrind")
				}
				e.Setenv("PATH", realValgrind+string(os.PathListSeparator)+e.Getenv("PATH"))
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			}
			if version, ok := strings.CutPrefix(name, "toolchain:"); ok {
				return haveToolchain(version), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: commands,
	})
}

// goEnvironment is what the go command needs of the user's environment to find
// its caches.
func goEnvironment(t *testing.T) []string {
	vars := []string{"GOFLAGS=", "GOWORK="}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		vars = append(vars, name+"="+strings.TrimSpace(string(out)))
	}
	return vars
}

func repoRoot() string {
	dir, err := filepath.Abs("..")
	if err != nil {
		panic(err)
	}
	return dir
}

// haveToolchain reports whether that version of Go is here or can be fetched. In
// CI it has to be.
func haveToolchain(version string) bool {
	cmd := exec.Command("go", "version")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+version)
	return cmd.Run() == nil || os.Getenv("CI") == "true"
}

// exits runs a command and demands an exact exit status: exits 3 perfgate check.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits status command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s: exit status %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// edit replaces text in a file: edit file old new. The old text must occur.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit file old new")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("edit: %s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o666))
}

// nothingLeft demands that no file of perfgate's is in TMPDIR.
func nothingLeft(ts *testscript.TestScript, neg bool, args []string) {
	entries, err := os.ReadDir(ts.Getenv("TMPDIR"))
	ts.Check(err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "perfgate-") {
			ts.Fatalf("left behind: %s", e.Name())
		}
	}
}

// await waits until a file exists and is not empty.
func await(ts *testscript.TestScript, neg bool, args []string) {
	for range 6000 {
		if info, err := os.Stat(ts.MkAbs(args[0])); err == nil && info.Size() > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("await: no file %s", args[0])
}

// gone waits until the process whose number a file holds has ended.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	awaitEnd(ts, pid)
}

func awaitEnd(ts *testscript.TestScript, pid int) {
	for range 6000 {
		if !alive(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("gone: process %d lives", pid)
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// same demands that two JSON documents are equal but for the time, the host and
// the number of processes side by side, and that each was measured: same a b.
func same(ts *testscript.TestScript, neg bool, args []string) {
	var texts []string
	for _, name := range args {
		d, err := report.ReadJSON(strings.NewReader(ts.ReadFile(name)))
		ts.Check(err)
		if d.Run.ValgrindStarts < 2*len(d.Benchmarks) || len(d.Run.Totals) == 0 {
			ts.Fatalf("same: %s: valgrind started %d times for %d benchmarks", name, d.Run.ValgrindStarts, len(d.Benchmarks))
		}
		d.Run.Host, d.Run.Seconds, d.Run.Jobs = "", 0, 0
		var b strings.Builder
		ts.Check(d.WriteJSON(&b))
		texts = append(texts, b.String())
	}
	if (texts[0] == texts[1]) == neg {
		ts.Fatalf("same: %s\n%s\n%s", args, texts[0], texts[1])
	}
}

// moved demands that a judged document shows no change at all where nothing is
// allocated, and at most so many percent elsewhere: moved 0.02 file.
func moved(ts *testscript.TestScript, neg bool, args []string) {
	limit, err := gate.ParsePercent(args[0])
	ts.Check(err)
	d, err := report.ReadJSON(strings.NewReader(ts.ReadFile(args[1])))
	ts.Check(err)
	for _, b := range d.Benchmarks {
		switch {
		case b.DeltaPct == nil:
			ts.Fatalf("moved: %s: %v", b.Name, b.Verdict)
		case *b.AllocsPerOp == 0 && *b.IrPerOp != *b.Budget, max(*b.DeltaPct, -*b.DeltaPct) > limit:
			ts.Fatalf("moved: %s: %v to %v, %s", b.Name, *b.Budget, *b.IrPerOp, b.DeltaPct.Signed())
		}
	}
	ts.Logf("moved: %d benchmarks within %v %%", len(d.Benchmarks), limit)
}

// spoil changes a digit in every stored result of a kind, as a bad disk might:
// spoil base, spoil results.
func spoil(ts *testscript.TestScript, neg bool, args []string) {
	files, err := filepath.Glob(filepath.Join(ts.Getenv("XDG_CACHE_HOME"), "perfgate", args[0], "*"))
	ts.Check(err)
	spoilt := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		spoiled := strings.Replace(string(text), `"ir_per_op": 1`, `"ir_per_op": 2`, 1)
		if err != nil || spoiled == string(text) {
			continue // of another script, which has the same folder
		}
		ts.Check(os.WriteFile(f, []byte(spoiled), 0o666))
		spoilt++
	}
	if spoilt == 0 {
		ts.Fatalf("spoil: nothing is stored")
	}
}

// cpuProfile writes a profile as the runtime makes them, of one function that
// calls another: profile file caller callee.
func cpuProfile(ts *testscript.TestScript, neg bool, args []string) {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000,
	}
	s := &profile.Sample{Value: []int64{1000, 10_000_000_000}}
	for i, name := range []string{args[2], args[1]} {
		f := &profile.Function{ID: uint64(i + 1), Name: name, SystemName: name, Filename: "x.go", StartLine: 1}
		l := &profile.Location{ID: uint64(i + 1), Line: []profile.Line{{Function: f, Line: 2}}}
		p.Function, p.Location, s.Location = append(p.Function, f), append(p.Location, l), append(s.Location, l)
	}
	p.Sample = append(p.Sample, s)
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(p.Write(file))
	ts.Check(file.Close())
}

// onlyGo makes a PATH in which there are go and perfgate alone.
func onlyGo(ts *testscript.TestScript, neg bool, args []string) {
	bin := ts.MkAbs("bin")
	ts.Check(os.Mkdir(bin, 0o777))
	for _, name := range []string{"go", "perfgate"} {
		for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				ts.Check(os.Symlink(filepath.Join(dir, name), filepath.Join(bin, name)))
				break
			}
		}
	}
	ts.Setenv("PATH", bin)
}

// fakeValgrind stands in for valgrind: it runs the program and writes counts
// that a file named costs, in the program's folder or above it, decides. Its
// lines are "Name cost" in instructions per iteration, of main.work or, as in
// "Name m.F@m.go:7=700 m.F@m.go:9=20 m.G=280", of functions and lines in the
// package's files; instead of a cost "crash", "sigill", "zero" and "cut" stand
// for what can go wrong, "wobble" for a cost that is another one each time, and
// "hang" for a process that writes its number into the file hanging and never
// ends.
func fakeValgrind() {
	if err := fake(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fake valgrind:", err)
		os.Exit(99)
	}
}

func fake(args []string) error {
	var log, out string
	for len(args) > 0 && strings.HasPrefix(args[0], "--") {
		switch name, value, _ := strings.Cut(args[0], "="); name {
		case "--version":
			version := "3.19.0"
			if v, err := os.ReadFile("valgrind-version"); err == nil {
				version = strings.TrimSpace(string(v))
			}
			if err := holdHere("version"); err != nil {
				return err
			}
			// With other costs it is another valgrind, so that what is
			// remembered of the last one does not count.
			fmt.Println("valgrind-" + version + "-" + costsHash())
			return nil
		case "--log-file":
			log = value
		case "--cachegrind-out-file":
			out = value
		}
		args = args[1:]
	}
	if strings.HasPrefix(filepath.Base(args[0]), "probe-") {
		if err := holdHere("probe"); err != nil {
			return err
		}
		fmt.Println("avx2 sse3")
		return writeCounts(out, 1_000_000, 0)
	}
	// The folder above those of the packages tells whose binary it is.
	if err := holdHere(filepath.Base(filepath.Dir(filepath.Dir(args[0])))); err != nil {
		return err
	}
	name, n := benchmarkOf(args)
	cost, err := costOf(name)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		os.Exit(max(1, cmd.ProcessState.ExitCode()))
	}
	switch cost {
	case "hang":
		if err := os.WriteFile("hanging", strconv.AppendInt(nil, int64(os.Getpid()), 10), 0o666); err != nil {
			return err
		}
		for {
			time.Sleep(time.Hour)
		}
	case "crash":
		os.Exit(7)
	case "sigill":
		os.WriteFile(log, []byte("==1== valgrind: Unrecognised instruction at address 0x1\n==1== Process terminating with default action of signal 4 (SIGILL)\n"), 0o666)
		os.Exit(132)
	case "zero":
		return writeCounts(out, 0, n)
	case "cut":
		return os.WriteFile(out, []byte("desc: x\ncmd: y\nevents: Ir\nfn=a\n1 5\n"), 0o666)
	}
	if strings.Contains(cost, "=") {
		return writeCounts(out, 2_000_000, n, strings.Fields(cost)...)
	}
	perOp, err := strconv.ParseInt(cost, 10, 64)
	if err != nil {
		return err
	}
	return writeCounts(out, 2_000_000+perOp*int64(n), 0)
}

// writeCounts writes a file of counts: start in main.work, and what n iterations
// of places execute, each "function=Ir" or "function@file:line=Ir".
func writeCounts(file string, start int64, n int, places ...string) error {
	text := fmt.Appendf(nil, "desc: fake\ncmd: fake\nevents: Ir\nfl=???\nfn=main.work\n0 %d\n", start)
	for _, p := range places {
		where, ir, _ := strings.Cut(p, "=")
		function, line, _ := strings.Cut(where, "@")
		source, number, ok := strings.Cut(line, ":")
		switch dir, err := os.Getwd(); {
		case err != nil:
			return err
		case ok:
			source = filepath.Join(dir, source)
		default:
			source, number = "???", "0"
		}
		perOp, err := strconv.ParseInt(ir, 10, 64)
		if err != nil {
			return err
		}
		start += perOp * int64(n)
		text = fmt.Appendf(text, "fl=%s\nfn=%s\n%s %d\n", source, function, number, perOp*int64(n))
	}
	return os.WriteFile(file, fmt.Appendf(text, "summary: %d\n", start), 0o666)
}

// benchmarkOf reads the name and the iterations off the arguments.
func benchmarkOf(args []string) (name string, n int) {
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, "-test.bench="); ok {
			name = strings.NewReplacer("^", "", "$", "", `\`, "").Replace(v)
		}
		if v, ok := strings.CutPrefix(a, "-test.benchtime="); ok {
			n, _ = strconv.Atoi(strings.TrimSuffix(v, "x"))
		}
	}
	return strings.TrimPrefix(name, "Benchmark"), n
}

func costOf(name string) (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "costs"))
		if errors.Is(err, os.ErrNotExist) && dir != "/" {
			continue
		}
		if errors.Is(err, os.ErrNotExist) {
			return "1000", nil
		}
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(string(text)) {
			if n, cost, ok := strings.Cut(strings.TrimSpace(line), " "); ok && n == name {
				if cost != "wobble" {
					return cost, nil
				}
				return wobble(filepath.Join(dir, "wobbles"))
			}
		}
		return "1000", nil
	}
	return "", err
}

// costsHash tells one state of the costs from another.
func costsHash() string {
	h := sha256.New()
	dir, _ := os.Getwd()
	for ; dir != "/"; dir = filepath.Dir(dir) {
		for _, name := range []string{"costs", "wobbles"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			fmt.Fprintf(h, "%q %v", text, err == nil)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// wobble returns a larger cost at each call.
func wobble(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	text = append(text, '.')
	return strconv.Itoa(1000 + 100*len(text)), os.WriteFile(file, text, 0o666)
}

// holdHere waits if .hold/want of the script's folder, in whose tree or base the
// working folder is, names what: by the words, and how many times they come.
func holdHere(what string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	side := "head"
	if _, mirrored, ok := strings.Cut(dir, "/tree-b00"); ok {
		side, dir = "base", mirrored
	}
	for ; dir != "/" && !isDir(filepath.Join(dir, ".hold")); dir = filepath.Dir(dir) {
	}
	want := filepath.Join(dir, ".hold", "want")
	text, err := os.ReadFile(want)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	number, ok := strings.CutPrefix(string(text), "valgrind "+side+" "+what+" ")
	n, err := strconv.Atoi(strings.TrimSpace(number))
	switch {
	case !ok || err != nil:
		return nil
	case n > 1:
		return os.WriteFile(want, fmt.Appendf(nil, "valgrind %s %s %d\n", side, what, n-1), 0o666)
	}
	made := filepath.Join(dir, ".hold", "new")
	err = errors.Join(os.Remove(want), os.WriteFile(made, fmt.Appendln(nil, os.Getpid()), 0o666), os.Rename(made, filepath.Join(dir, ".hold", "held")))
	if err == nil {
		_, err = os.ReadFile(filepath.Join(dir, ".hold", "gate"))
	}
	return err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
