package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/cachegrind"
	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
	"github.com/cachekit-go/cachekit/perfgate/internal/scratch"
)

func doctorCommand() command {
	return command{
		name: "doctor", short: "say whether this machine can measure",
		long: `Doctor checks what measuring needs, a line each: the platform, valgrind, the Go
toolchain and whether its runtime can be made deterministic, the cache folder, the
CPU that programs see under valgrind, and three benchmarks counted twice, which must
be equal. It takes about ten seconds once the standard library is built.

Exit status: 0 all well, 1 something is missing; its line says what to do.

Example: perfgate doctor`,
		run: doctor,
	}
}

func doctor(ctx context.Context, _ *options, std streams) (int, error) {
	d := diagnosis{w: std.out}
	d.examine(ctx, std)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if d.failed {
		fmt.Fprintln(std.out, "perfgate cannot measure here yet")
		return gate.ExitFault, nil
	}
	fmt.Fprintln(std.out, "perfgate can measure here")
	return gate.ExitOK, nil
}

// A diagnosis writes the lines of doctor's page.
type diagnosis struct {
	w      io.Writer
	failed bool
}

func (d *diagnosis) line(ok bool, what, value string) {
	mark := "✓"
	if !ok {
		mark, d.failed = "✗", true
	}
	fmt.Fprintf(d.w, "%s %-12s %s\n", mark, what, value)
}

// check writes the line of an error, or of the value if there is none.
func (d *diagnosis) check(what, value string, err error) bool {
	if err != nil {
		value = strings.ReplaceAll(err.Error(), "\n", "\n               ")
	}
	d.line(err == nil, what, value)
	return err == nil
}

func (d *diagnosis) examine(ctx context.Context, std streams) {
	if !d.check("platform", runtime.GOOS+"/"+runtime.GOARCH+fmt.Sprintf(", %d cores", runtime.NumCPU()), supported(runtime.GOOS)) {
		return
	}
	valgrind, err := cachegrind.Find(ctx)
	version := ""
	if err == nil {
		version = valgrind.Version + " (" + valgrind.Path + ")"
	}
	haveValgrind := d.check("valgrind", version, err)
	dir, err := scratch.New()
	if err != nil {
		d.check("temporary", "", err)
		return
	}
	defer func() {
		if err := dir.Remove(); err != nil {
			d.check("temporary", "", err)
		}
	}()
	d.line(true, "temporary", "files in "+filepath.Dir(dir.Path))
	module := filepath.Join(dir.Path, "self")
	if err := writeSelfModule(module); err != nil {
		d.check("temporary", "", err)
		return
	}
	if g := d.toolchain(ctx, module, dir.Path); g != nil && haveValgrind {
		d.measure(ctx, g, module, valgrind, dir.Path, std)
	}
}

// toolchain writes which Go there is, and whether it can be made deterministic. It
// returns nil if not.
func (d *diagnosis) toolchain(ctx context.Context, module, dir string) *exact.Go {
	g, err := measure.FindGo(ctx, module, dir)
	if err != nil {
		d.check("toolchain", "", err)
		return nil
	}
	d.line(true, "toolchain", fmt.Sprintf("%s (%s)", g.Version, g.Root))
	overlay, err := g.Overlay(exact.Flags{})
	if err != nil {
		d.check("edits", "", err)
		return nil
	}
	d.line(true, "edits", fmt.Sprintf("apply: %s", strings.Join(overlay.Edited, " ")))
	d.line(true, "cache", g.Cache)
	return g
}

// measure looks at the CPU and counts the benchmarks of the module twice.
func (d *diagnosis) measure(ctx context.Context, g *exact.Go, module string, valgrind *cachegrind.Valgrind, dir string, std streams) {
	p := newProgress(std.err)
	defer p.clear()
	request := measure.Request{Dir: module, Patterns: []string{"."}, Jobs: runtime.NumCPU(), Timeout: time.Minute}
	s, err := measure.Open(ctx, g, request, instrument(valgrind), dir, p.event)
	if err != nil {
		d.check("counts", "", err)
		return
	}
	p.clear()
	d.cpu(s.Target)
	samples, err := s.Run(ctx, gate.Budgets{}, true)
	p.clear()
	if err != nil {
		d.check("counts", "", err)
		return
	}
	for _, x := range samples {
		if x.Fault != nil {
			d.line(false, "counts", x.Name+": "+x.Fault.Reason)
			continue
		}
		d.line(true, "counts", fmt.Sprintf("%s %v Ir/op, twice", x.Name, x.IrPerOp))
	}
	d.line(s.Starts() >= 4*len(samples), "runs", fmt.Sprintf("valgrind started %d times, nothing was read from a store", s.Starts()))
}

// cpu writes what programs see under valgrind, and whether the level that they
// are compiled for is among it.
func (d *diagnosis) cpu(t gate.Target) {
	if t.GOARCH != "amd64" {
		d.line(true, "CPU", t.CPU)
		return
	}
	level := cpuLevel(t.CPU)
	if t.Level > level {
		d.line(false, "CPU", fmt.Sprintf("programs see x86-64-%s under valgrind, but GOAMD64=%s: unset it or use %s", level, t.Level, level))
		return
	}
	d.line(true, "CPU", fmt.Sprintf("x86-64-%s under valgrind: %s", level, t.CPU))
}

// cpuLevel names the x86-64 level that a list of features amounts to, see
// https://go.dev/wiki/MinimumRequirements#amd64.
func cpuLevel(features string) string {
	have := strings.Fields(features)
	level := "v1"
	for _, l := range []struct{ name, needs string }{
		{"v2", "popcnt sse3 sse41 sse42 ssse3"},
		{"v3", "avx avx2 bmi1 bmi2 f16c fma lzcnt movbe osxsave"},
		{"v4", "avx512bw avx512cd avx512dq avx512f avx512vl"},
	} {
		for _, f := range strings.Fields(l.needs) {
			if !slices.Contains(have, f) {
				return level
			}
		}
		level = l.name
	}
	return level
}
