package exact

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

// Environment returns the whole environment of a measured program. home and tmp
// are folders of this run alone; extra has the variables that the user asks
// for, as [CheckVariable] allows them. With the monitor thread, which takes the
// processor from loops, it may do so anywhere in them.
func Environment(home, tmp string, extra []string, sysmon bool) []string {
	debug := "GODEBUG=memprofilerate=0,asyncpreemptoff=1"
	if sysmon {
		debug = "GODEBUG=memprofilerate=0"
	}
	env := []string{
		"GOMAXPROCS=1",
		"GOGC=off",
		debug,
		"HOME=" + home,
		"TMPDIR=" + tmp,
	}
	for _, v := range extra {
		name, value, _ := strings.Cut(v, "=")
		i := slices.IndexFunc(env, func(s string) bool { return strings.HasPrefix(s, name+"=") })
		switch {
		case i < 0:
			env = append(env, v)
		case name == "GODEBUG":
			env[i] += "," + value
		default:
			env[i] = v
		}
	}
	return env
}

// CheckVariable reports an error for what is no NAME=VALUE, and for a variable
// without which counts would not be exact. GOGC may be set, and GODEBUG adds to
// perfgate's settings.
func CheckVariable(v string) error {
	switch name, value, ok := strings.Cut(v, "="); {
	case !ok || name == "":
		return errors.New("want NAME=VALUE")
	case name == "GOMAXPROCS", name == "HOME", name == "TMPDIR":
		return fmt.Errorf("%s is perfgate's: counts would not repeat with another value", name)
	case name == "GODEBUG" && (strings.Contains(value, "memprofilerate=") || strings.Contains(value, "asyncpreemptoff=")):
		return errors.New("GODEBUG=memprofilerate and asyncpreemptoff are perfgate's: counts would not repeat with other values")
	}
	return nil
}

// A Binary is a test binary made by [Go.Build].
type Binary struct {
	Path   string
	Dir    string   // the package's folder
	Args   []string // the user's, after perfgate's own
	Env    []string // the user's variables
	Short  bool
	Sysmon bool // built with [Flags.Sysmon]
}

// Command returns the command that runs the benchmarks that pattern matches, n
// iterations each. Its folders for HOME and TMPDIR are made in scratch.
//
// The order and the spelling of the arguments are part of the method, and so is
// the number of digits of n: the length of an argument moves the heap.
func (b Binary) Command(scratch, pattern string, n int) (process.Command, error) {
	home, tmp := filepath.Join(scratch, "home"), filepath.Join(scratch, "temp")
	for _, d := range []string{home, tmp} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return process.Command{}, err
		}
	}
	args := []string{
		"-test.paniconexit0",
		"-test.run=^$",
		"-test.bench=" + pattern,
		fmt.Sprintf("-test.benchtime=%dx", n),
		"-test.timeout=0", // the clock is not the world's
	}
	if b.Short {
		args = append(args, "-test.short")
	}
	return process.Command{Path: b.Path, Args: append(args, b.Args...), Dir: b.Dir, Env: Environment(home, tmp, b.Env, b.Sysmon)}, nil
}

// Alone returns c without the benchmarks whose names begin with name and a
// slash, which name's own pattern also matches.
func Alone(c process.Command, name string) process.Command {
	c.Args = append([]string{"-test.skip=" + Pattern(name) + "/"}, c.Args...)
	return c
}

// ListCommand returns the command that runs the benchmarks that the user's
// patterns select, n iterations each, and says what it does: its output is for
// [Results], [Failures] and [Started], and the file log in scratch for
// [FilesRead].
func (b Binary) ListCommand(scratch, bench, skip string, n int) (process.Command, error) {
	c, err := b.Command(scratch, bench, n)
	if err != nil {
		return c, err
	}
	own := len(c.Args) - len(b.Args)
	c.Args = slices.Insert(c.Args, own, "-test.v", "-test.skip="+skip, "-test.testlogfile="+filepath.Join(scratch, "log"))
	return c, nil
}

// FilesRead returns the paths of files and folders that a program with a test log
// looked at, sorted, and whether it started other programs. dir is the folder that
// it began in. Paths are not cleaned: what ".." means behind a link the system
// says.
//
// What it reads without package os is not logged: C code, system calls, other
// programs.
func FilesRead(log []byte, dir string) (files []string, started bool) {
	for line := range strings.Lines(string(log)) {
		action, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if path == startMark {
			started = true
			continue
		}
		if !filepath.IsAbs(path) {
			path = dir + string(filepath.Separator) + path
		}
		switch action {
		case "chdir":
			dir = path
		case "open", "stat":
			files = append(files, path)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), started
}

// Pattern returns the -test.bench argument that matches the benchmark of that
// full name, without "Benchmark", and no other.
func Pattern(name string) string {
	elems := strings.Split("Benchmark"+name, "/")
	for i, e := range elems {
		elems[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return strings.Join(elems, "/")
}

// A Result is what a benchmark reported.
type Result struct {
	Name   string // without "Benchmark"
	N      int
	Allocs int64 // heap allocations of all N iterations
	Bytes  int64 // allocated bytes of all N iterations
	Loop   bool  // b.Loop decided the number of iterations
}

// Unframe splits what a program wrote to one of its standard streams into its
// writes: with faketime the runtime puts a header before each, even in the
// middle of a line. Text without a header, from C code for example, stands as
// it is.
//
// A stream without any header is one of a program with the real clock: it is
// split into lines, and where testing writes less than a line.
func Unframe(stream []byte) [][]byte {
	const header = 16
	mark := []byte{0, 0, 'P', 'B'}
	if !bytes.Contains(stream, mark) {
		return unframedWrites(stream)
	}
	var writes [][]byte
	for len(stream) > 0 {
		n := len(stream)
		if bytes.HasPrefix(stream, mark) && len(stream) >= header {
			stream = stream[header-4:]
			n = int(binary.BigEndian.Uint32(stream))
			stream = stream[4:]
			n = min(n, len(stream))
		} else if next := bytes.Index(stream[1:], mark); next >= 0 {
			n = next + 1
		}
		writes = append(writes, stream[:n])
		stream = stream[n:]
	}
	return writes
}

func unframedWrites(stream []byte) [][]byte {
	var writes [][]byte
	for line := range bytes.Lines(stream) {
		if i := bytes.Index(line, []byte("\t"+resultMark)); i >= 0 {
			writes = append(writes, line[:i+1])
			line = line[i+1:]
		}
		writes = append(writes, line)
	}
	return writes
}

// Text returns a stream without its headers.
func Text(stream []byte) string { return string(bytes.Join(Unframe(stream), nil)) }

// Results returns what the benchmarks that ended reported, in their order.
func Results(stdout []byte) []Result {
	var found []Result
	name := ""
	for _, w := range Unframe(stdout) {
		s := string(w)
		if full, ok := strings.CutSuffix(s, "\t"); ok && strings.HasPrefix(s, "Benchmark") {
			name = strings.TrimRight(full, " ")
			continue
		}
		rest, ok := strings.CutPrefix(s, resultMark)
		if !ok || name == "" {
			continue
		}
		if r, ok := parseResult(strings.Fields(rest)); ok {
			r.Name = strings.TrimPrefix(name, "Benchmark")
			found = append(found, r)
			name = ""
		}
	}
	return found
}

func parseResult(fields []string) (Result, bool) {
	if len(fields) != 4 {
		return Result{}, false
	}
	var v [4]int64
	for i, f := range fields {
		x, err := strconv.ParseUint(f, 16, 63)
		if err != nil || len(f) != 16 { // cut short it is another number
			return Result{}, false
		}
		v[i] = int64(x)
	}
	return Result{N: int(v[0]), Allocs: v[1], Bytes: v[2], Loop: v[3] == 1}, true
}

// Started returns the name of the benchmark that began last and did not end, or
// "": the one that a crash is likely the fault of.
func Started(stdout []byte) string {
	name := ""
	for _, w := range Unframe(stdout) {
		s := string(w)
		switch {
		case strings.HasPrefix(s, "Benchmark") && strings.HasSuffix(s, "\n") && !strings.ContainsAny(s[:len(s)-1], " \t\n"):
			name = strings.TrimSpace(s)
		case strings.HasPrefix(s, resultMark):
			name = ""
		}
	}
	return strings.TrimPrefix(name, "Benchmark")
}

// Ended reports whether the program ran all benchmarks that it was asked for.
func Ended(stdout []byte) bool {
	return slices.ContainsFunc(Unframe(stdout), func(w []byte) bool { return string(w) == endMark+"\n" })
}

var verdictLine = regexp.MustCompile(`^--- (FAIL|SKIP): Benchmark(\S*)`)

// Failures returns the names of benchmarks that failed and that were skipped,
// each with what it logged. Skips show only in the output of a [ListCommand].
//
// A verdict is a write of its own: what a benchmark logs that looks like one
// stands inside another write.
func Failures(stdout []byte) (failed, skipped map[string]string) {
	failed, skipped = make(map[string]string), make(map[string]string)
	var logged []string // by the benchmark that runs
	for _, w := range Unframe(stdout) {
		first, rest, _ := strings.Cut(string(w), "\n")
		m := verdictLine.FindStringSubmatch(first)
		switch {
		case m != nil:
			// Verbose output has the log before the verdict, other output after.
			into := failed
			if m[1] == "SKIP" {
				into = skipped
			}
			into[m[2]] = strings.Join(append(logged, logLines(rest)...), "\n")
			logged = nil
		case strings.HasPrefix(first, "Benchmark"), strings.HasPrefix(first, resultMark):
			logged = nil
		case !strings.HasPrefix(first, "    "):
			logged = nil // the benchmark's own output
		default:
			logged = append(logged, logLines(string(w))...)
		}
	}
	return failed, skipped
}

// logLines returns the indented lines at the start of text: what testing's log
// functions print.
func logLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "    ") {
			break
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}
