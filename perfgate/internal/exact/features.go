package exact

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

// probe is the source of a small program, with ".txt" behind each name so that
// it is no package of this module.
//
//go:embed probe
var probe embed.FS

// BuildProbe compiles a program that prints the CPU features it sees, as a
// deterministic build like any other, and returns its path in the cache folder.
//
// It is the first thing that is built with the edited standard library, so that
// it tells how long that takes: building is called before, and the time is 0 if
// there was nothing to do.
func (g *Go) BuildProbe(ctx context.Context, o *Overlay, tmp string, building func()) (string, time.Duration, error) {
	entries, err := probe.ReadDir("probe")
	if err != nil {
		return "", 0, err
	}
	src := filepath.Join(tmp, "probe")
	var all []string
	for _, e := range entries {
		text, err := probe.ReadFile("probe/" + e.Name())
		if err != nil {
			return "", 0, err
		}
		if err := writeOnce(filepath.Join(src, strings.TrimSuffix(e.Name(), ".txt")), text); err != nil {
			return "", 0, err
		}
		all = append(all, string(text))
	}
	if err := writeOnce(filepath.Join(src, "go.mod"), []byte("module probe\n\ngo 1.24\n")); err != nil {
		return "", 0, err
	}
	binary := filepath.Join(g.Cache, "probe-"+digest(append(all, o.Hash, g.Version, g.Level, g.Experiment)...))
	if info, err := os.Stat(binary); err == nil && info.Mode().IsRegular() {
		return binary, 0, nil
	}
	building()
	start := time.Now()
	made := filepath.Join(tmp, "probe.bin")
	out, err := process.Run(ctx, process.Command{
		Path: g.command,
		Args: []string{"build", "-o", made, "-overlay=" + o.File, "-ldflags=-w", "."},
		Dir:  src,
		Env:  append(append([]string{}, g.env...), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off"),
	})
	if err != nil {
		return "", 0, fmt.Errorf("building a program with the edited standard library: %w", explain(err, out))
	}
	data, err := os.ReadFile(made)
	if err != nil {
		return "", 0, err
	}
	return binary, time.Since(start), WriteFile(binary, data, 0o755)
}

// Features runs the probe under c and returns the CPU features that a measured
// program sees, and the count of that run.
func Features(ctx context.Context, c count.Counter, binary, scratch string, limit time.Duration) (string, int64, error) {
	r, err := c.Run(ctx, process.Command{Path: binary, Dir: scratch, Env: Environment(scratch, scratch, nil, false)}, scratch, limit)
	if err == nil && r.Status != "" {
		err = fmt.Errorf("%s: %s", r.Status, strings.TrimSpace(Text(r.Stderr)))
	}
	if err != nil {
		if strings.Contains(err.Error(), "can only be run on") {
			err = fmt.Errorf("%w (set a lower GOAMD64: valgrind emulates no more than v3)", err)
		}
		return "", 0, fmt.Errorf("running a small Go program under valgrind: %w", err)
	}
	return strings.TrimSpace(Text(r.Stdout)), r.Total, nil
}
