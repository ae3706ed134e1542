package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
)

// options are the parsed and validated flags of a command.
type options struct {
	request       measure.Request
	shortGiven    bool // -short is on the command line, which GOFLAGS gives way to
	verify        bool
	verbose       bool
	format        string
	outputs       []output
	fresh         bool
	baselines     string
	base          string // "" for the default
	based         bool   // judge against base, not against a file
	newVerdict    string
	stale         string
	allowIncrease bool
	reason        string
	explained     int    // rows
	pprof         string // file
	pprofBase     string // file
	exact         bool
	limits        map[gate.Metric]gate.Percent // of their own, to be set; 0 for the default
}

// selectFlags are the flags of every command that looks at benchmarks. They are
// spelled as go test has them.
func selectFlags(o *options, fs *flag.FlagSet) {
	r := &o.request
	fs.StringVar(&r.Bench, "bench", "", "measure the benchmarks that match `regexp`, as go test's -bench (default all)")
	fs.StringVar(&r.Skip, "skip", "", "leave out the benchmarks that match `regexp`")
	fs.BoolVar(&o.verbose, "v", false, "show every row, and how long each phase took")
	buildFlags(o, fs)
}

// buildFlags are the flags of every command that builds and runs benchmarks.
func buildFlags(o *options, fs *flag.FlagSet) {
	r := &o.request
	fs.BoolVar(&r.Short, "short", false, "tell the benchmarks to be short (testing.Short)")
	fs.StringVar(&r.Flags.Tags, "tags", "", "build `tags`, separated by commas")
	fs.Func("gcflags", "`flags` for the compiler, as go build takes them; repeatable", func(s string) error {
		r.Flags.GCFlags = append(r.Flags.GCFlags, s)
		return nil
	})
	fs.DurationVar(&r.Timeout, "timeout", 2*time.Minute, "limit for each process; 0 is none")
	fs.IntVar(&r.Jobs, "j", runtime.NumCPU(), "processes side by side")
	fs.Func("env", "set `NAME=VALUE` in the measured program, whose environment is otherwise fixed; repeatable", func(s string) error {
		if err := exact.CheckVariable(s); err != nil {
			return err
		}
		r.Env = append(r.Env, s)
		return nil
	})
}

// cureFlags are for commands that show counts which are not exact.
func cureFlags(o *options, fs *flag.FlagSet) {
	fs.BoolVar(&o.request.Flags.Sysmon, "sysmon", false, "leave the runtime its monitor thread, for benchmarks that hang without; counts are not exact then")
	fs.BoolVar(&o.request.Flags.Realtime, "realtime", false, "leave programs the real clock, for benchmarks that hang without; counts are not exact then")
}

func verifyFlag(o *options, fs *flag.FlagSet) {
	fs.BoolVar(&o.verify, "verify", false, "measure everything twice and call unequal counts unstable")
}

func baselinesFlag(o *options, fs *flag.FlagSet) {
	fs.StringVar(&o.baselines, "baselines", "", "`file` of the budgets (default baselines.json beside go.mod)")
}

// parseOptions parses args, in which flags and packages may be mixed. What
// follows -args is for the test binary.
func parseOptions(c command, args []string) (*options, error) {
	o := &options{format: "text", newVerdict: "fail", stale: "ok"}
	o.request.Dir = "."
	if dir, err := os.Getwd(); err == nil {
		o.request.Dir = dir
	}
	if i := slices.IndexFunc(args, func(a string) bool { return a == "-args" || a == "--args" }); i >= 0 && c.flags != nil {
		o.request.Args = args[i+1:]
		args = args[:i]
	}
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	if c.flags != nil {
		c.flags(o, fs)
	}
	for {
		if err := fs.Parse(args); err != nil {
			return nil, unknownFlag(c, err)
		}
		if args = fs.Args(); len(args) == 0 {
			break
		}
		o.request.Patterns = append(o.request.Patterns, args[0])
		args = args[1:]
	}
	fs.Visit(func(f *flag.Flag) { o.shortGiven = o.shortGiven || f.Name == "short" })
	if err := o.validate(c); err != nil {
		return nil, err
	}
	if o.request.Timeout == 0 {
		o.request.Timeout = never
	}
	return o, nil
}

// never is a limit that nothing reaches.
const never = 100 * 365 * 24 * time.Hour

// foreignFlags are flags of go test that perfgate does not have.
var foreignFlags = []struct {
	names   []string
	instead string // %s is the flag
}{
	{[]string{"benchmem", "benchtime", "count"}, "perfgate chooses the iterations, and counts repeat"},
	{[]string{"cpu", "parallel"}, "counting goes on one processor"},
	{[]string{"fuzz", "list", "run"}, "only benchmarks run, -bench and -skip choose them"},
	{[]string{"asmflags", "cover", "ldflags", "mod", "modfile", "pgo", "race", "trimpath"}, "build flags beside -tags and -gcflags are taken from GOFLAGS, as in GOFLAGS=-%s"},
}

// unknownFlag adds to the error of a flag that there is not what go test's users
// may have meant, and where the flag is that other commands have.
func unknownFlag(c command, err error) error {
	_, name, ok := strings.Cut(err.Error(), "flag provided but not defined: -")
	if !ok {
		return err
	}
	for _, f := range foreignFlags {
		if slices.Contains(f.names, name) {
			return fmt.Errorf("%w: %s", err, strings.ReplaceAll(f.instead, "%s", name))
		}
	}
	if name == "sysmon" || name == "realtime" {
		return fmt.Errorf("%w: counts with -%s are not exact, so %s has no such flag; perfgate run and check -base have", err, name, c.name)
	}
	return fmt.Errorf("%w: flags of the test binary go after -args", err)
}

// checkArgs reports an error for a flag of package testing among what is for the
// test binary: perfgate gives those itself, and of two the second would count.
// Flags that the program defines are its own, and after "--" nothing is a flag.
func checkArgs(args []string) error {
	for _, a := range args {
		if a == "--" {
			return nil
		}
		spelled, _, _ := strings.Cut(a, "=")
		dashes, name, ok := strings.Cut(spelled, "test.")
		if !ok || dashes != "-" && dashes != "--" {
			continue
		}
		instead := "perfgate decides the flags of package testing"
		if slices.Contains([]string{"bench", "short", "skip", "timeout"}, name) {
			instead = fmt.Sprintf("give -%s to perfgate itself, before -args", name)
		}
		for _, f := range foreignFlags {
			if slices.Contains(f.names, name) && !strings.Contains(f.instead, "%s") {
				instead = f.instead
			}
		}
		return fmt.Errorf("%s after -args: %s", spelled, instead)
	}
	return nil
}

// goFlags takes -short from GOFLAGS, as go test does, and reports an error for a flag
// there with which nothing can be counted.
func (o *options) goFlags(g *exact.Go) error {
	for _, name := range []string{"race", "msan", "asan"} {
		if on, _ := strconv.ParseBool(g.Flag(name)); on {
			return fmt.Errorf("GOFLAGS has -%s: programs with a sanitizer cannot be counted; leave it out, as with GOFLAGS= before the command", name)
		}
	}
	if short := g.Flag("short", "test.short"); short != "" && !o.shortGiven {
		o.request.Short, _ = strconv.ParseBool(short)
	}
	return nil
}

// selection returns the flags and packages that select what this command is
// about, for the next command that a hint names; with bench also -bench and
// -skip.
func (o *options) selection(bench bool) string {
	var all []string
	add := func(name, value string) {
		if value != "" {
			all = append(all, name, quote(value))
		}
	}
	r := o.request
	if bench {
		add("-bench", r.Bench)
		add("-skip", r.Skip)
	}
	add("-baselines", o.baselines)
	add("-tags", r.Flags.Tags)
	for _, flags := range r.Flags.GCFlags {
		add("-gcflags", flags)
	}
	if r.Flags.Sysmon {
		all = append(all, "-sysmon")
	}
	if r.Flags.Realtime {
		all = append(all, "-realtime")
	}
	for _, v := range r.Env {
		add("-env", v)
	}
	if r.Short {
		all = append(all, "-short")
	}
	if len(r.Patterns) == 0 {
		all = append(all, ".")
	}
	for _, p := range r.Patterns {
		all = append(all, quote(p))
	}
	if len(r.Args) > 0 {
		all = append(all, "-args")
	}
	for _, a := range r.Args {
		all = append(all, quote(a))
	}
	return strings.Join(all, " ")
}

// quote quotes s for the shell, if it has to be.
func quote(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("%+,-./:=@_", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
	if plain && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func (o *options) validate(c command) error {
	if c.flags == nil && len(o.request.Patterns) > 0 {
		return fmt.Errorf("%s takes no arguments", c.name)
	}
	for name, pattern := range map[string]string{"-bench": o.request.Bench, "-skip": o.request.Skip} {
		if err := measure.CheckPattern(pattern); err != nil {
			return fmt.Errorf("%s %q: %w", name, pattern, err)
		}
	}
	if err := checkArgs(o.request.Args); err != nil {
		return err
	}
	if i := slices.IndexFunc(o.request.Patterns, func(p string) bool { return strings.HasSuffix(p, ".go") }); i >= 0 && c.name != "explain" {
		return fmt.Errorf("%s is a file: perfgate measures packages, name its folder", o.request.Patterns[i])
	}
	switch {
	case c.name == "check" && !o.based && !o.request.Flags.Exact():
		return errors.New("-sysmon and -realtime: counts that are not exact have no budgets; compare them with -base")
	case c.name == "explain" && len(o.request.Patterns) == 0:
		return errors.New("explain needs the name of a benchmark")
	case o.pprofBase != "" && !o.based:
		return errors.New("-pprof-base goes with -base")
	case o.explained < 0:
		return fmt.Errorf("-explain %d: want 0 or more", o.explained)
	case checkFormat(o.format) != nil:
		return fmt.Errorf("-format: %w", checkFormat(o.format))
	case !slices.Contains([]string{"fail", "allow"}, o.newVerdict):
		return fmt.Errorf("-new %q: want fail or allow", o.newVerdict)
	case !slices.Contains([]string{"ok", "fail"}, o.stale):
		return fmt.Errorf("-stale %q: want ok or fail", o.stale)
	case c.flags != nil && o.request.Jobs < 1:
		return fmt.Errorf("-j %d: want at least 1", o.request.Jobs)
	case c.flags != nil && o.request.Timeout < 0:
		return fmt.Errorf("-timeout %v: want a duration, or 0 for no limit", o.request.Timeout)
	case o.allowIncrease && strings.TrimSpace(o.reason) == "":
		return errors.New(`-allow-increase needs -reason "why the budgets may go up"`)
	case o.reason != "" && !o.allowIncrease:
		return errors.New("-reason goes with -allow-increase")
	}
	return nil
}
