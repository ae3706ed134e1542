//go:build linux

package main

import (
	"os"
	"os/exec"
	"testing"
)

// TestShort is the proof in its short form, with the real valgrind.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("counts for a minute")
	}
	if _, err := exec.LookPath("valgrind"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("valgrind is not installed: scripts/need valgrind")
	}
	t.Chdir("../..")
	if err := run(t.Context(), options{load: true, short: true}.shortened()); err != nil {
		t.Error(err)
	}
}
