package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	// The recipes must be what GitHub and GitLab read: YAML, for which the
	// standard library has no parser.
	"go.yaml.in/yaml/v3"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// TestRecipe runs the recipes for CI, so that they cannot rot.
func TestRecipe(t *testing.T) {
	lab := newRecipeLab(t)
	t.Run("GitHub", func(t *testing.T) { testGitHub(t, lab) })
	t.Run("GitLab", func(t *testing.T) { testGitLab(t, lab) })
}

// testGitHub runs the steps of our workflow, and with them those of the
// action, as a runner would: in a clone, with the variables that GitHub sets.
// valgrind is the fake one.
func testGitHub(t *testing.T, lab *recipeLab) {
	var w workflow
	readYAML(t, ".github/workflows/perf-ir.yml", &w)
	if _, ok := w.On["pull_request"]; !ok || len(w.On) != 2 {
		t.Errorf("the workflow runs on %v, want push and pull_request", w.On)
	}
	if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
		t.Errorf("permissions are %v, want contents: read alone", w.Permissions)
	}
	for _, tt := range []struct {
		name, branch, base string
		status             int
		summary, log       string
	}{
		{"slower", "slower", "main", 3, "Store/size=64", "(?m)^::error file=bench/store_test.go,line=9,.*Store/size=64"},
		{"unrelated", "unrelated", "main", 0, "2 benchmarks", ""},
		{"main", "main", "", 0, "2 benchmarks", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lab.git("checkout", "-q", "--detach", "origin/main")
			if tt.base != "" {
				// What actions/checkout finds at refs/pull/1/merge.
				lab.git("merge", "-q", "--no-ff", "-m", "merge", "origin/"+tt.branch)
			}
			r := lab.runner(tt.base)
			for _, job := range w.Jobs {
				r.steps(t, job.Steps, nil)
			}
			if r.status != tt.status {
				t.Errorf("exit status %d, want %d\n%s", r.status, tt.status, &r.log)
			}
			if got := r.summary; !strings.Contains(got, tt.summary) {
				t.Errorf("the summary does not say %q:\n%s\n%s", tt.summary, got, &r.log)
			}
			if !regexp.MustCompile(tt.log).MatchString(r.log.String()) {
				t.Errorf("the log does not match %q:\n%s", tt.log, &r.log)
			}
		})
	}
}

// TestRecipeReadme: the workflow that the README shows is ours but for the
// packages, with the action by its public name.
func TestRecipeReadme(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(text), "\n```yaml\n")
	shown, _, _ = strings.Cut(shown, "\n```\n")
	var want, got workflow
	readYAML(t, ".github/workflows/perf-ir.yml", &want)
	if err := yaml.Unmarshal([]byte(shown), &got); err != nil {
		t.Fatal(err)
	}
	for _, job := range want.Jobs {
		for i := range job.Steps {
			delete(job.Steps[i].With, "packages")
			delete(job.Steps[i].With, "persist-credentials")
			job.Steps[i].Uses = strings.Replace(job.Steps[i].Uses, "./.github/actions/perfgate", "cachekit-go/cachekit/.github/actions/perfgate@main", 1)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the README shows\n%+v\nwant\n%+v", got, want)
	}
}

// testGitLab runs the job of the example with the variables that GitLab
// sets.
func testGitLab(t *testing.T, lab *recipeLab) {
	var jobs map[string]gitlabJob
	readYAML(t, "scripts/ci/gitlab.yml", &jobs)
	base := lab.git("rev-parse", "origin/main")
	for _, tt := range []struct {
		name, checkout string
		env            []string
		status         int
	}{
		{"slower", "origin/slower", []string{"CI_MERGE_REQUEST_DIFF_BASE_SHA=" + base}, 3},
		{"merged results", "origin/unrelated", []string{"CI_MERGE_REQUEST_DIFF_BASE_SHA=0", "CI_MERGE_REQUEST_TARGET_BRANCH_SHA=" + base}, 0},
		{"main", "origin/main", nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lab.git("checkout", "-q", "--detach", tt.checkout)
			lab.git("clean", "-qfdx")
			if status, log := lab.gitlab(t, jobs["perf-ir"], tt.env); status != tt.status {
				t.Errorf("exit status %d, want %d\n%s", status, tt.status, log)
			}
			for _, name := range jobs["perf-ir"].Artifacts.Paths {
				if info, err := os.Stat(filepath.Join(lab.dir, name)); err != nil || info.Size() == 0 {
					t.Errorf("artifact %s: %v", name, err)
				}
			}
		})
	}
}

func readYAML(t *testing.T, name string, to any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repoRoot(), name))
	if err == nil {
		err = yaml.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// A gitlabJob is what we read of a job.
type gitlabJob struct {
	Variables    map[string]string
	BeforeScript []string `yaml:"before_script"`
	Script       []string
	Artifacts    struct{ Paths []string }
}

// A recipeLab is a clone of a repository with a copy of this tree on main, and
// two branches: one on which Store is slower, and one with a change that does
// not matter.
type recipeLab struct {
	t        *testing.T
	dir      string // the clone
	temp     string
	cacheEnv []string
}

func newRecipeLab(t *testing.T) *recipeLab {
	home := t.TempDir()
	l := &recipeLab{t: t, temp: home, dir: filepath.Join(home, "origin"), cacheEnv: goEnvironment(t)}
	copyRepo(t, l.dir)
	l.fewBenchmarks()
	l.git("init", "-q", "-b", "main")
	l.write("bench/costs", "Store/size=64 2000\n")
	if err := os.Remove(filepath.Join(l.dir, gate.FileName)); err != nil {
		t.Fatal(err)
	}
	l.must("perfgate", "update", "./bench")
	l.commit("all")
	l.git("checkout", "-q", "-b", "slower")
	l.write("core/slower.go", "package cachekit\n\nfunc init() { println() }\n")
	l.write("bench/costs", "Store/size=64 2100\n")
	l.commit("slower")
	l.git("checkout", "-q", "-b", "unrelated", "main")
	l.write("core/unrelated.go", "package cachekit\n\nfunc init() { println() }\n")
	l.commit("unrelated")
	l.git("checkout", "-q", "main")
	clone := filepath.Join(home, "clone")
	l.git("clone", "-q", l.dir, clone)
	l.dir = clone
	return l
}

// fewBenchmarks replaces those of bench: what is tried here does not need all.
func (l *recipeLab) fewBenchmarks() {
	bench := filepath.Join(l.dir, "bench")
	if err := errors.Join(os.RemoveAll(bench), os.Mkdir(bench, 0o777)); err != nil {
		l.t.Fatal(err)
	}
	l.write("bench/store_test.go", `package bench

import (
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

func BenchmarkStore(b *testing.B) {
	for _, name := range []string{"size=64", "size=65"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				cachekit.Store(nil, make([]byte, 64))
			}
		})
	}
}
`)
}

// copyRepo copies the files of this repository that git knows or would add.
func copyRepo(t *testing.T, to string) {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = repoRoot()
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		from, file := filepath.Join(repoRoot(), name), filepath.Join(to, name)
		info, err := os.Stat(from)
		if errors.Is(err, os.ErrNotExist) {
			continue // removed, and not yet committed
		}
		var text []byte
		if err == nil {
			text, err = os.ReadFile(from)
		}
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o777)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
}

func (l *recipeLab) write(name, text string) {
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o666); err != nil {
		l.t.Fatal(err)
	}
}

func (l *recipeLab) commit(message string) {
	l.git("add", ".")
	l.git("commit", "-q", "-m", message)
}

// env is a user's environment with a home folder of its own.
func (l *recipeLab) env(more ...string) []string {
	env := append(os.Environ(), l.cacheEnv...)
	env = append(env, "HOME="+l.temp, "XDG_CACHE_HOME="+filepath.Join(l.temp, "cache"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	return append(env, more...)
}

func (l *recipeLab) git(args ...string) string { return l.must("git", args...) }

func (l *recipeLab) must(name string, args ...string) string {
	l.t.Helper()
	cmd := exec.CommandContext(l.t.Context(), name, args...)
	cmd.Dir, cmd.Env = l.dir, l.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// shell runs text as both services do: by bash, which ends at the first command
// that fails.
func (l *recipeLab) shell(t *testing.T, text, dir string, env []string, log *bytes.Buffer) (status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text)
	cmd.Dir, cmd.Env = dir, l.env(env...)
	cmd.Stdout, cmd.Stderr = log, log
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// gitlab runs a job.
func (l *recipeLab) gitlab(t *testing.T, j gitlabJob, env []string) (status int, log string) {
	t.Helper()
	env = append(env, "CI=true", "GITLAB_CI=true", "CI_PROJECT_DIR="+l.dir)
	for name, value := range j.Variables {
		value = strings.ReplaceAll(value, "$CI_PROJECT_DIR", l.dir)
		if name == "GOCACHE" || name == "GOMODCACHE" {
			if !strings.HasPrefix(value, l.dir+"/.") {
				t.Errorf("%s=%s: not in a hidden folder of the project", name, value)
			}
			continue // the standard library is not built anew for this test
		}
		env = append(env, name+"="+value)
	}
	bin := filepath.Join(l.temp, "bin")
	env = append(env, "GOBIN="+bin, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	script := strings.Join(append(j.BeforeScript, j.Script...), "\n")
	// The version on the module proxy is not this one.
	const install = "go install github.com/cachekit-go/cachekit/perfgate@latest\n"
	if strings.Count(script, install) != 1 {
		t.Fatalf("the job does not install perfgate:\n%s", script)
	}
	script = strings.Replace(script, install, "go install -buildvcs=false ./perfgate\n", 1)
	script = strings.ReplaceAll(script, "$PACKAGES", "./bench")
	var b bytes.Buffer
	status = l.shell(t, script, l.dir, env, &b)
	return status, b.String()
}
