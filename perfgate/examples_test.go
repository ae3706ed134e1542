package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	// The form of the scripts, for the same reason.
	"github.com/rogpeppe/go-internal/txtar"
)

// TestHelp: every command and every flag is explained, and each command has an
// example, which TestExamples runs.
func TestHelp(t *testing.T) {
	for _, c := range commands() {
		var out, text bytes.Buffer
		if code := realMain(t.Context(), []string{"help", c.name}, streams{&out, &text}); code != 0 || text.Len() > 0 {
			t.Errorf("help %s: exit status %d, %s", c.name, code, &text)
		}
		if got := out.String(); !strings.HasPrefix(got, "usage: perfgate "+c.name) {
			t.Errorf("help %s: no usage in %q", c.name, got)
		}
		found := false
		for _, block := range examplesIn(c.long) {
			for _, e := range block {
				found = found || strings.HasPrefix(e.line, "perfgate "+c.name)
			}
		}
		if !found {
			t.Errorf("help %s: no example of it", c.name)
		}
		if c.flags == nil {
			continue
		}
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.flags(new(options), fs)
		fs.VisitAll(func(f *flag.Flag) {
			if f.Usage == "" {
				t.Errorf("help %s: -%s is not explained", c.name, f.Name)
			}
		})
	}
}

// TestExamples runs the examples of the package comment, of each command's help
// and of the README, with a fake valgrind, in a small module whose HEAD is a
// change to main. Those of one block follow each other; each must exit 0, or
// with the status that a comment behind it names.
func TestExamples(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	comment := regexp.MustCompile(`(?m)^// ?`).ReplaceAllString(string(doc), "")
	type source struct{ where, text string }
	sources := []source{{"doc.go", comment}, {"README.md", string(readme)}}
	demandExamples(t, "doc.go", comment, "\t")
	for _, c := range commands() {
		sources = append(sources, source{"help_" + c.name, c.long})
		_, after, _ := strings.Cut(c.long, "\nExample:\n")
		demandExamples(t, "help "+c.name, after, "  ")
	}
	lab := newExampleLab(t)
	for _, s := range sources {
		t.Run(s.where, func(t *testing.T) {
			for _, block := range examplesIn(s.text) {
				lab.run(t, "git reset -q --hard && git clean -qfdx", 0)
				for _, e := range block {
					lab.run(t, e.line, e.status)
				}
			}
		})
	}
}

// demandExamples demands that every line that is indented is an example, and
// will be run.
func demandExamples(t *testing.T, where, text, indent string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, indent) && examplesIn(line) == nil {
			t.Errorf("%s: no test can run %q", where, line)
		}
	}
}

// An example is a line for the shell.
type example struct {
	line   string
	status int
}

// An example's line is indented, or stands behind "Example: ".
var (
	exampleLine   = regexp.MustCompile(`^(?:Example: |\t| {2,})(?:\$ )?((?:perfgate|go tool pprof) .*)$`)
	exampleStatus = regexp.MustCompile(`#.* exit status (\d)`)
)

// examplesIn returns the examples in a text, those on consecutive lines
// together.
func examplesIn(text string) (blocks [][]example) {
	follows := false
	for line := range strings.Lines(text) {
		m := exampleLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m != nil {
			e := example{line: m[1]}
			if strings.HasPrefix(e.line, "perfgate selftest") {
				e.status = 1 // with a valgrind that counts the same for every code
			}
			if s := exampleStatus.FindStringSubmatch(e.line); s != nil {
				e.status, _ = strconv.Atoi(s[1])
			}
			if !follows {
				blocks = append(blocks, nil)
			}
			blocks[len(blocks)-1] = append(blocks[len(blocks)-1], e)
		}
		follows = m != nil
	}
	return blocks
}

// An exampleLab is a folder with the module that examples are run in.
type exampleLab struct {
	dir string
	env []string
}

// newExampleLab writes the files of examples.txtar and runs the lines before
// them.
func newExampleLab(t *testing.T) *exampleLab {
	archive, err := txtar.ParseFile("testdata/examples.txtar")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	l := &exampleLab{dir: filepath.Join(home, "m"), env: append(os.Environ(), goEnvironment(t)...)}
	l.env = append(l.env, "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	for _, f := range archive.Files {
		name := filepath.Join(l.dir, f.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, f.Data, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(string(archive.Comment)) {
		l.run(t, line, 0)
	}
	return l
}

// run runs a line with the shell and demands its exit status.
func (l *exampleLab) run(t *testing.T, line string, want int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Env = l.dir, l.env
	out, err := cmd.CombinedOutput()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("%s: exit status %d, want %d\n%s", line, got, want, out)
	}
}
