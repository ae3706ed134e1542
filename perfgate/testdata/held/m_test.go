package m

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func BenchmarkSum(b *testing.B) {
	hold()
	for b.Loop() {
		Sum(3)
	}
}

func BenchmarkOther(b *testing.B) {
	for b.Loop() {
		Sum(2)
	}
}

// hold waits, when benchmarks are listed, if it is asked to.
func hold() {
	dir, err := os.Getwd()
	if err != nil || !slices.Contains(os.Args, "-test.v") {
		return
	}
	side := "head"
	if _, mirrored, ok := strings.Cut(dir, "/tree-b00"); ok {
		side, dir = "base", mirrored
	}
	dir += "/.hold/"
	if want, err := os.ReadFile(dir + "want"); err != nil || string(want) != "list "+side+"\n" {
		return
	}
	os.Remove(dir + "want")
	os.WriteFile(dir+"new", []byte(strconv.Itoa(os.Getpid())+"\n"), 0o666)
	os.Rename(dir+"new", dir+"held")
	os.ReadFile(dir + "gate")
}
