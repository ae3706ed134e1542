package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A workflow is what we read of a file in .github/workflows.
type workflow struct {
	On          map[string]any
	Permissions map[string]string
	Jobs        map[string]struct{ Steps []step }
}

// An action is what we read of an action.yml.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct{ Steps []step }
}

type step struct {
	ID, Uses, Shell, Run, If string
	Dir                      string `yaml:"working-directory"`
	With, Env                map[string]string
}

// A runner runs steps of a workflow as GitHub's would.
type runner struct {
	lab     *recipeLab
	base    string // branch that a pull request is for
	outputs map[string]string
	status  int // of the first step that failed
	log     bytes.Buffer
	summary string
}

func (l *recipeLab) runner(base string) *runner {
	return &runner{lab: l, base: base, outputs: make(map[string]string)}
}

// steps runs steps; inputs are those of the action that they are of.
func (r *runner) steps(t *testing.T, steps []step, inputs map[string]string) {
	t.Helper()
	for _, s := range steps {
		with := make(map[string]string)
		for name, value := range s.With {
			with[name] = r.expand(t, value, inputs)
		}
		path, local := strings.CutPrefix(s.Uses, "./")
		switch {
		case local:
			var a action
			readYAML(t, path+"/action.yml", &a)
			for name := range with {
				if _, ok := a.Inputs[name]; !ok {
					t.Errorf("%s has no input %q", s.Uses, name)
				}
			}
			for name, input := range a.Inputs {
				if _, ok := with[name]; !ok {
					with[name] = input.Default
				}
			}
			r.steps(t, a.Runs.Steps, with)
		case s.Uses == "actions/checkout@v4":
			if with["fetch-depth"] != "0" {
				t.Errorf("%s: fetch-depth %q, want 0", s.Uses, with["fetch-depth"])
			}
		case s.Uses == "actions/setup-go@v5", s.Uses == "actions/cache/restore@v4", s.Uses == "actions/cache/save@v4":
			// What they do is GitHub's.
		case s.Uses != "" || s.Run == "" || s.Shell != "bash":
			t.Errorf("a step that cannot be run: %+v", s)
		case r.status == 0:
			r.run(t, s, inputs)
		}
	}
}

// run runs one step.
func (r *runner) run(t *testing.T, s step, inputs map[string]string) {
	t.Helper()
	output, summary := filepath.Join(t.TempDir(), "output"), filepath.Join(t.TempDir(), "summary")
	for _, name := range []string{output, summary} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{
		"CI=true", "GITHUB_ACTIONS=true", "GITHUB_BASE_REF=" + r.base, "GITHUB_WORKSPACE=" + r.lab.dir, "RUNNER_TEMP=" + r.lab.temp,
		"GITHUB_OUTPUT=" + output, "GITHUB_STEP_SUMMARY=" + summary, "GITHUB_ACTION_PATH=" + filepath.Join(r.lab.dir, ".github/actions/perfgate"),
	}
	for name, value := range s.Env {
		env = append(env, name+"="+r.expand(t, value, inputs))
	}
	if strings.Contains(s.Run, "${{") {
		t.Errorf("an expression in a script is a hole for whoever names a branch: %s", s.Run)
	}
	r.status = r.lab.shell(t, s.Run, filepath.Join(r.lab.dir, r.expand(t, s.Dir, inputs)), env, &r.log)
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		r.outputs["steps."+s.ID+".outputs."+name] = value
	}
	if text, err = os.ReadFile(summary); err != nil {
		t.Fatal(err)
	}
	r.summary += string(text)
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// expand replaces the expressions in a value, of which it knows only those that
// the recipes use.
func (r *runner) expand(t *testing.T, text string, inputs map[string]string) string {
	t.Helper()
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		e = expression.FindStringSubmatch(e)[1]
		if input, ok := strings.CutPrefix(e, "inputs."); ok {
			if value, ok := inputs[input]; ok {
				return value
			}
		}
		if value, ok := r.outputs[e]; ok && value != "" {
			return value
		}
		switch e {
		case "runner.os", "runner.arch", "github.run_id", "github.run_attempt", "github.job":
			return e
		case "github.base_ref && format('origin/{0}', github.base_ref) || ''":
			if r.base == "" {
				return ""
			}
			return "origin/" + r.base
		}
		if r.status == 0 {
			t.Errorf("unknown expression %q", e)
		}
		return ""
	})
}
