package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
)

// A command is one subcommand. Its run returns the exit status, or an error,
// which is printed.
type command struct {
	name  string
	args  string // for its usage line
	short string
	long  string
	flags func(*options, *flag.FlagSet)
	run   func(context.Context, *options, streams) (int, error)
}

// streams are the standard streams that a command writes to.
type streams struct{ out, err io.Writer }

func commands() []command {
	return []command{runCommand(), checkCommand(), updateCommand(), explainCommand(), listCommand(), doctorCommand(), selftestCommand(), versionCommand()}
}

func main() {
	// A broken pipe would end the process before it has tidied up.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	code := realMain(ctx, os.Args[1:], streams{&patient{ctx: ctx, f: os.Stdout}, &patient{ctx: ctx, f: os.Stderr}})
	stop()
	os.Exit(code)
}

func realMain(ctx context.Context, args []string, std streams) int {
	if len(args) == 0 {
		writeUsage(std.err)
		return gate.ExitUsage
	}
	name, args := args[0], args[1:]
	if name == "help" || name == "-h" || name == "-help" || name == "--help" {
		return help(args, std)
	}
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		fmt.Fprintf(std.err, "perfgate: no command %q\n", name)
		hint(std, "perfgate help")
		return gate.ExitUsage
	}
	c := all[i]
	out := &stickyWriter{w: std.out}
	std.out = out
	o, err := parseOptions(c, args)
	if errors.Is(err, flag.ErrHelp) {
		return help([]string{c.name}, std)
	}
	if err != nil {
		fmt.Fprintf(std.err, "perfgate: %v\n", err)
		hint(std, "perfgate help "+c.name)
		return gate.ExitUsage
	}
	code, err := c.run(ctx, o, std)
	if err == nil && out.err != nil {
		err = fmt.Errorf("writing the report: %w", out.err)
	}
	if err == nil {
		return code
	}
	return fail(ctx, err, std)
}

// A stickyWriter keeps the first error of its writes, and writes nothing more.
type stickyWriter struct {
	w   io.Writer
	err error
}

func (s *stickyWriter) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.err = err
	return n, err
}

// fail prints an error and returns the exit status that it stands for.
func fail(ctx context.Context, err error, std streams) int {
	if ctx.Err() != nil {
		fmt.Fprintln(std.err, "perfgate: interrupted: nothing was judged or written")
		return gate.ExitFault
	}
	fmt.Fprintf(std.err, "perfgate: %v\n", err)
	if nothing, ok := errors.AsType[measure.ErrNothing](err); ok {
		if nothing.Hint != "" {
			hint(std, nothing.Hint)
		}
		return gate.ExitUsage
	}
	if errors.Is(err, gate.ErrOtherToolchain) {
		hint(std, `compare on this machine: perfgate check -base main ./...; or record anew: perfgate update -allow-increase -reason "..." ./...`)
		return gate.ExitIncomparable
	}
	return gate.ExitFault
}

func hint(std streams, text string) { fmt.Fprintf(std.err, "perfgate: hint: %s\n", text) }

func writeUsage(w io.Writer) {
	fmt.Fprint(w, "perfgate counts the instructions that Go benchmarks execute, exactly, and gates them.\n\nUsage:\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  perfgate %-8s %-20s %s\n", c.name, c.args, c.short)
	}
	fmt.Fprintf(w, "  perfgate %-8s %-20s %s\n\n", "help", "[command]", "say more about a command")
	fmt.Fprint(w, "Exit status: 0 within budget, 1 could not measure, 2 usage or nothing to measure,\n3 over budget, 4 incomparable or without a budget.\n")
}

func help(args []string, std streams) int {
	if len(args) > 1 {
		fmt.Fprintln(std.err, "perfgate: help is about one command at a time")
		return gate.ExitUsage
	}
	if len(args) == 0 || args[0] == "help" {
		writeUsage(std.out)
		return gate.ExitOK
	}
	for _, c := range commands() {
		if c.name == args[0] {
			fmt.Fprintf(std.out, "usage: %s\n\n%s\n", strings.TrimSpace("perfgate "+c.name+" "+c.args), c.long)
			if c.flags != nil {
				fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
				c.flags(new(options), fs)
				fmt.Fprint(std.out, "\nFlags:\n")
				fs.SetOutput(std.out)
				fs.PrintDefaults()
				fmt.Fprint(std.out, "  -args ...\n    \tpass the rest of the command line to the test binary\n")
			}
			return gate.ExitOK
		}
	}
	fmt.Fprintf(std.err, "perfgate: no command %q\n", args[0])
	hint(std, "perfgate help")
	return gate.ExitUsage
}

// supported reports an error for systems on which nothing can be measured.
func supported(goos string) error {
	if goos != "linux" {
		return fmt.Errorf("cannot measure on %s: valgrind's counts of Go programs are exact on Linux only; run perfgate in a Linux container or in CI", goos)
	}
	return nil
}
