package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	// As in progress.go: what is a terminal.
	"golang.org/x/term"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

var formats = []string{"text", "json", "markdown", "github", "bench", "bencher"}

// An output is a file that gets the report too.
type output struct{ format, path string }

func formatFlag(o *options, fs *flag.FlagSet) {
	fs.StringVar(&o.format, "format", "text", "`form` of the report: "+listing(formats))
	fs.Func("o", "write the report to a file too, in the form that `FORMAT=FILE` says; repeatable", func(s string) error {
		format, path, ok := strings.Cut(s, "=")
		if !ok || path == "" {
			return errors.New("want FORMAT=FILE, as in json=report.json")
		}
		if slices.ContainsFunc(o.outputs, func(other output) bool { return other.path == path && !isStream(path) }) {
			return fmt.Errorf("two reports for %s", path)
		}
		o.outputs = append(o.outputs, output{format, path})
		return checkFormat(format)
	})
}

func checkFormat(format string) error {
	if !slices.Contains(formats, format) {
		return fmt.Errorf("no form %q: want %s", format, listing(formats))
	}
	return nil
}

func listing(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// isStream reports whether path names a standard stream. Where that is a file,
// it must not be replaced.
func isStream(path string) bool { return path == "/dev/stdout" || path == "/dev/stderr" }

// checkOutputs reports an error if a file could not be written: better before
// than after measuring.
func (o *options) checkOutputs() error {
	for _, out := range o.outputs {
		if err := out.check(); err != nil {
			return fmt.Errorf("-o %s=%s: %w", out.format, out.path, err)
		}
	}
	for _, path := range []string{o.pprof, o.pprofBase} {
		if path != "" {
			if err := (output{path: path}).check(); err != nil {
				return fmt.Errorf("profile %s: %w", path, err)
			}
		}
	}
	return nil
}

func (out output) check() error {
	if isStream(out.path) {
		return nil
	}
	path, special, err := out.resolve()
	if err != nil || special {
		return err
	}
	return creatable(path)
}

// creatable reports an error if no file can be made beside path.
func creatable(path string) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = f.Close()
	if e := os.Remove(f.Name()); e != nil && !errors.Is(e, fs.ErrNotExist) { // an update may have
		err = errors.Join(err, e)
	}
	return err
}

// resolve follows symbolic links, and reports whether the path is something
// else than a file: a pipe or a device, which is written as it is.
func (out output) resolve() (path string, special bool, err error) {
	path, err = filepath.EvalSymlinks(out.path)
	if errors.Is(err, fs.ErrNotExist) {
		return out.path, false, nil
	}
	if err != nil {
		return "", false, err
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = errors.New("is a folder")
	}
	return path, err == nil && !info.Mode().IsRegular(), err
}

// write writes a report: a file whole or not at all, with the mode that it has.
func (out output) write(ctx context.Context, text []byte, std streams) error {
	switch out.path {
	case "/dev/stdout":
		_, err := std.out.Write(text)
		return err
	case "/dev/stderr":
		_, err := std.err.Write(text)
		return err
	}
	path, special, err := out.resolve()
	if err != nil {
		return err
	}
	if special { // to open it may wait, too
		return unlessDone(ctx, func() error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.Write(text)
			return errors.Join(err, f.Close())
		})
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return exact.WriteFile(path, text, mode)
}

// writeDocument writes the report to standard output and to the files that -o
// names.
func writeDocument(ctx context.Context, d *report.Document, o *options, std streams) error {
	for _, out := range o.outputs {
		var b bytes.Buffer
		if err := o.writeAs(out.format, d, &b, false); err != nil {
			return err
		}
		if err := out.write(ctx, b.Bytes(), std); err != nil {
			return fmt.Errorf("writing the report: -o %s=%s: %w", out.format, out.path, err)
		}
	}
	return o.writeAs(o.format, d, std.out, std.color())
}

func (o *options) writeAs(format string, d *report.Document, w io.Writer, color bool) error {
	switch format {
	case "json":
		return d.WriteJSON(w)
	case "markdown":
		return d.WriteMarkdown(w)
	case "github":
		return d.WriteGitHub(w, repositoryFolder(o.request.Dir, os.Getenv("GITHUB_WORKSPACE")), o.gate())
	case "bench":
		return d.WriteBench(w)
	case "bencher":
		return d.WriteBencher(w)
	}
	return d.WriteText(w, report.TextOptions{All: o.verbose, Color: color})
}

// gate returns the options that decide the exit status. Over a base new
// benchmarks and those that are gone are what a change is about.
func (o *options) gate() gate.Options {
	if o.based {
		return gate.Options{NewAllowed: true, RemovedAllowed: true}
	}
	return gate.Options{NewAllowed: o.newVerdict == "allow", StaleFails: o.stale == "fail"}
}

// repositoryFolder is the folder dir as seen from the root of the repository, ""
// where that is not known.
func repositoryFolder(dir, root string) string {
	if root == "" {
		return ""
	}
	var paths []string
	for _, p := range []string{root, dir} {
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			return ""
		}
		paths = append(paths, real)
	}
	rel, err := filepath.Rel(paths[0], paths[1])
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// color reports whether standard output is a terminal whose user wants colours.
func (s streams) color() bool {
	f := fileOf(s.out)
	return f != nil && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}
