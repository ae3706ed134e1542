package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRepositoryFolder(t *testing.T) {
	root := t.TempDir()
	sub := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(sub, 0o777); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ dir, root, want string }{
		{sub, root, "a/b"},
		{sub, link, "a/b"},
		{root, root, "."},
		{sub, "", ""},
		{root, sub, ""},
		{sub, filepath.Join(root, "missing"), ""},
	} {
		if got := repositoryFolder(test.dir, test.root); got != test.want {
			t.Errorf("%s in %s: got %q, want %q", test.dir, test.root, got, test.want)
		}
	}
}

func TestNoColor(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if (streams{out: &stickyWriter{w: null}}).color() {
		t.Error("colours for what is no terminal")
	}
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminal: ", err)
	}
	defer terminal.Close()
	s := streams{out: &stickyWriter{w: terminal}}
	if !s.color() {
		t.Error("no colours for a terminal")
	}
	for name, value := range map[string]string{"NO_COLOR": "1", "TERM": "dumb"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			if s.color() {
				t.Error("colours in spite of it")
			}
		})
	}
}

// TestPatient: what is written after an interrupt is printed where it can be, and
// a pipe that nobody reads does not hold up the end.
func TestPatient(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	p := &patient{ctx: ctx, f: w}
	if n, err := p.Write([]byte("last words")); n != 10 || err != nil {
		t.Errorf("got %d, %v, want it written", n, err)
	}
	if _, err := p.Write(make([]byte, 1<<20)); err != cause {
		t.Errorf("got %v, want %v", err, cause)
	}
	if _, err := p.Write([]byte("more")); err != cause {
		t.Errorf("got %v, want it given up", err)
	}
}
