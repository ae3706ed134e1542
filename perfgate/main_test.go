package main

import (
	"strings"
	"testing"
)

// TestSupported: elsewhere than on Linux there is one line with cause and cure.
func TestSupported(t *testing.T) {
	if err := supported("linux"); err != nil {
		t.Errorf("linux: got %v, want nil", err)
	}
	for _, goos := range []string{"darwin", "windows"} {
		err := supported(goos)
		if err == nil {
			t.Fatalf("%s: got nil, want an error", goos)
		}
		text := err.Error()
		if !strings.Contains(text, goos) || !strings.Contains(text, "run perfgate in a Linux container") || strings.Contains(text, "\n") {
			t.Errorf("%s: got %q", goos, text)
		}
	}
}
