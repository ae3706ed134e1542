package checkout

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repository makes an empty repository and returns what runs git in it.
func repository(t *testing.T) (dir string, git func(args ...string)) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	git = func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	return dir, git
}

func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, dir string) *Repo {
	t.Helper()
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMergeBase(t *testing.T) {
	dir, git := repository(t)
	write(t, dir, "a", "1")
	git("add", ".")
	git("commit", "-q", "-m", "fork")
	git("branch", "release-1")
	git("update-ref", "refs/remotes/origin/only", "HEAD")
	git("checkout", "-q", "-b", "work")
	git("commit", "-q", "--allow-empty", "-m", "work")
	git("checkout", "-q", "main")
	git("commit", "-q", "--allow-empty", "-m", "main")
	git("checkout", "-q", "work")
	r := open(t, dir)
	for _, ref := range []string{"", "main", "release-1", "only", "HEAD~1"} {
		if c, err := r.MergeBase(t.Context(), ref); err != nil || c.Subject != "fork" {
			t.Errorf("%q: got %v, %v, want fork", ref, c, err)
		}
	}
	if c, err := r.MergeBase(t.Context(), "HEAD"); err != nil || c.Subject != "work" {
		t.Errorf("HEAD: got %v, %v, want work", c, err)
	}
	for _, ref := range []string{"none", "-q", "a", "HEAD:a"} {
		if c, err := r.MergeBase(t.Context(), ref); err == nil || !strings.Contains(err.Error(), "git fetch origin") {
			t.Errorf("%q: got %v, %v, want an error that says what to fetch", ref, c, err)
		}
	}
	if _, err := Open(t.Context(), t.TempDir()); err == nil {
		t.Error("no repository: want an error")
	}
}

func TestExtract(t *testing.T) {
	other, inOther := repository(t)
	write(t, other, "deep/file", "submodule")
	inOther("add", ".")
	inOther("commit", "-q", "-m", "other")

	dir, git := repository(t)
	write(t, dir, "a", "old", "sub/b", "b\n", ".gitattributes", "*.crlf text eol=crlf\n", "x.crlf", "1\n2\n", "with space/é", "é")
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	git("submodule", "--quiet", "add", other, "module")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	write(t, dir, "a", "new", "untracked", "u")
	git("rm", "-q", "sub/b")
	r := open(t, filepath.Join(dir, "sub", ".."))
	c, err := r.Find(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	status := func() string {
		out, err := r.git(t.Context(), nil, "status", "--porcelain")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := status()
	to := filepath.Join(t.TempDir(), "not", "there")
	index := filepath.Join(t.TempDir(), "index")
	if err := r.Extract(t.Context(), c, to, index); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	err = filepath.WalkDir(to, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(to, path)
		text, err := os.ReadFile(path)
		got[rel] = string(text)
		return err
	})
	want := map[string]string{"a": "old", "link": "old", "sub/b": "b\n", "x.crlf": "1\r\n2\r\n", "with space/é": "é", "module/deep/file": "submodule"}
	for _, f := range []string{".gitattributes", ".gitmodules"} {
		delete(got, f)
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if after := status(); after != before {
		t.Errorf("the working tree or the index changed: %q, was %q", after, before)
	}
	if _, err := os.Stat(index); err == nil {
		t.Error("the index is left")
	}
	changed, err := r.Changed(t.Context(), c)
	if want := []string{"a", "sub/b", "untracked"}; err != nil || !slices.Equal(changed, want) {
		t.Errorf("changed: got %q, %v, want %q", changed, err, want)
	}
	if text, ok, err := r.File(t.Context(), c, "sub/b"); string(text) != "b\n" || !ok || err != nil {
		t.Errorf("got %q, %v, %v", text, ok, err)
	}
	for _, none := range []string{"none", "sub", "su?/b"} {
		if text, ok, err := r.File(t.Context(), c, none); ok || err != nil {
			t.Errorf("%s: got %q, %v, %v, want none", none, text, ok, err)
		}
	}
}

func TestTrailers(t *testing.T) {
	dir, git := repository(t)
	git("commit", "-q", "--allow-empty", "-m", "base\n\nPerf-Accept: Old +1% before")
	r := open(t, dir)
	base, err := r.Find(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "a", "1")
	git("add", ".")
	git("commit", "-q", "-m", "one\n\nText.\n\nPerf-Accept: A +1% why\nPerf-Accept: B +2% a reason\n  that goes on\nSigned-off-by: a")
	git("commit", "-q", "--allow-empty", "-m", "two\n\nPerf-Accept: in the text, no trailer\n\nMore text.")
	git("commit", "-q", "--allow-empty", "-m", "three\n\nperf-accept: C +3% c")
	got, err := r.Trailers(t.Context(), base, "Perf-Accept")
	var text []string
	for _, tr := range got {
		if tr.Astray {
			tr.Subject += " astray"
		}
		text = append(text, tr.Subject+": "+tr.Value)
	}
	if want := []string{"three: C +3% c", "two astray: in the text, no trailer", "one: A +1% why", "one: B +2% a reason that goes on"}; err != nil || !slices.Equal(text, want) {
		t.Errorf("got %q, %v, want %q", text, err, want)
	}
	git("revert", "--no-edit", "HEAD~2")
	if got, err := r.Trailers(t.Context(), base, "Perf-Accept"); err != nil || len(got) != 2 || got[0].Value != "C +3% c" || !got[1].Astray {
		t.Errorf("one reverted: got %v, %v, want that of three", got, err)
	}
	git("reset", "-q", "--hard", "HEAD~1")
	if got, err := r.Trailers(t.Context(), got[0].Commit, "Perf-Accept"); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v, want none", got, err)
	}
}
