package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
	"github.com/cachekit-go/cachekit/perfgate/internal/scratch"
)

func selftestCommand() command {
	return command{
		name: "selftest", short: "see the gate go red for a known loop, and only then",
		long: `Selftest writes a small module, records its budgets with perfgate update, and judges
two more builds of it with perfgate check: the same code in another folder, whose
counts must be equal to the last digit, and code with a loop more, which must be
regressed, alone and by no less than the loop executes. It says what it demanded
and what it found. It takes some seconds once the standard library is built.

Exit status: 0 found as demanded, 1 not.

Example: perfgate selftest`,
		run: selftest,
	}
}

// The benchmarks of the module: the one that gets a loop more, and how many
// there are with it.
const (
	slowedName = "Work"
	selfCount  = 3
)

func selftest(ctx context.Context, _ *options, std streams) (code int, err error) {
	dir, err := scratch.New()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, dir.Remove()) }()
	t := &selfTest{budgets: filepath.Join(dir.Path, gate.FileName), out: std.out, err: std.err}
	if err := t.run(ctx, dir.Path); err != nil {
		return 0, err
	}
	if t.failed {
		fmt.Fprintln(std.out, "selftest failed: do not trust this gate")
		return gate.ExitFault, nil
	}
	fmt.Fprintln(std.out, "selftest passed: the gate goes red for a loop more, and is green for equal code")
	return gate.ExitOK, nil
}

// A selfTest makes demands on perfgate's own commands.
type selfTest struct {
	budgets string // path of the budget file that all share
	out     io.Writer
	err     io.Writer
	failed  bool
}

// run records budgets and has two more builds judged by them. An error is an
// interrupt, or trouble with the module's files.
func (t *selfTest) run(ctx context.Context, dir string) error {
	first, same, slow := filepath.Join(dir, "first"), filepath.Join(dir, "the-same-elsewhere"), filepath.Join(dir, "slow")
	for _, module := range []string{first, same, slow} {
		if err := writeSelfModule(module); err != nil {
			return err
		}
	}
	if err := slowSelfModule(slow); err != nil {
		return err
	}
	fmt.Fprintln(t.err, "perfgate: measuring a module of its own (once per Go release: with the standard library, about 30 s)")
	recorded, err := t.perfgate(ctx, updateCommand(), first)
	if err != nil {
		return err
	}
	t.tell("budgets", "update exits 0", fmt.Sprintf("exit status %d", recorded.code), recorded.code == gate.ExitOK, recorded.text)
	if t.failed {
		return nil
	}
	for _, trial := range []struct {
		name, dir, demand string
		judge             func(outcome) bool
	}{
		{"same code", same, "check exits 0, and all counts, made now, are equal", outcome.equal},
		{"loop more", slow, fmt.Sprintf("check exits 3, for %s alone, by %d Ir/op or more", slowedName, extraRounds), outcome.red},
	} {
		found, err := t.perfgate(ctx, checkCommand(), trial.dir, "-fresh", "-format", "json")
		if err != nil {
			return err
		}
		t.tell(trial.name, trial.demand, found.String(), trial.judge(found), found.text)
	}
	return nil
}

// tell writes what was demanded and found, and if that differs, what the
// command wrote to standard error.
func (t *selfTest) tell(name, demand, found string, ok bool, text string) {
	mark := "✓"
	if !ok {
		mark, t.failed = "✗", true
	}
	fmt.Fprintf(t.out, "%s %-10s demanded: %s\n  %-10s found:    %s\n", mark, name, demand, "", found)
	if !ok {
		fmt.Fprint(t.err, text)
	}
}

// An outcome is what a command of perfgate ended in.
type outcome struct {
	code     int
	document *report.Document // of check
	text     string           // standard error
}

// perfgate runs a command over the module in dir, as if it were given args. Only
// an interrupt is an error.
func (t *selfTest) perfgate(ctx context.Context, c command, dir string, args ...string) (outcome, error) {
	o, err := parseOptions(c, append(args, "-baselines", t.budgets))
	if err != nil {
		return outcome{}, err
	}
	o.request.Dir = dir
	var out, text bytes.Buffer
	code, err := c.run(ctx, o, streams{&out, &text})
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	if err != nil {
		code = fail(ctx, err, streams{&out, &text})
	}
	found := outcome{code: code, text: text.String(), document: new(report.Document)}
	if err == nil && c.name == "check" {
		found.document, err = report.ReadJSON(&out)
		if err != nil {
			return outcome{}, err
		}
	}
	return found, nil
}

// measured reports whether every benchmark was counted just now, and has a
// budget to be compared with.
func (o outcome) measured() bool {
	for _, b := range o.document.Benchmarks {
		if b.Verdict == nil || b.IrPerOp == nil || b.Budget == nil {
			return false
		}
	}
	return len(o.document.Benchmarks) == selfCount && o.document.Run.ValgrindStarts >= 2*selfCount
}

// equal reports whether no count moved.
func (o outcome) equal() bool {
	return o.code == gate.ExitOK && o.measured() && !slices.ContainsFunc(o.document.Benchmarks, func(b report.Benchmark) bool {
		return *b.Verdict != gate.OK || *b.IrPerOp != *b.Budget
	})
}

// red reports whether the slowed benchmark went red by what its loop executes,
// and no other did.
func (o outcome) red() bool {
	if o.code != gate.ExitOver || !o.measured() {
		return false
	}
	slowed := false
	for _, b := range o.document.Benchmarks {
		if b.Name == slowedName {
			slowed = *b.Verdict == gate.Regressed && *b.IrPerOp-*b.Budget >= gate.Slope(extraRounds, 0)
		} else if *b.Verdict != gate.OK {
			return false
		}
	}
	return slowed
}

// String returns the exit status, each benchmark with its counts, to the last
// digit, and how often valgrind was started for them.
func (o outcome) String() string {
	parts := []string{fmt.Sprintf("exit status %d", o.code)}
	for _, b := range o.document.Benchmarks {
		text := b.Name
		if b.Verdict != nil {
			text += fmt.Sprintf(" %v", *b.Verdict)
		}
		if b.Budget != nil && b.IrPerOp != nil {
			text += fmt.Sprintf(" %v → %v", *b.Budget, *b.IrPerOp)
		}
		parts = append(parts, text)
	}
	if o.document.Run.ValgrindStarts > 0 {
		parts = append(parts, fmt.Sprintf("valgrind started %d times", o.document.Run.ValgrindStarts))
	}
	return strings.Join(parts, ", ")
}
