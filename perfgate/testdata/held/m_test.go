package m

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
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
	// With the runtime's own clock a read that has to wait passes for a deadlock.
	gate, err := syscall.Open(dir+"gate", syscall.O_RDONLY, 0)
	if err == nil {
		syscall.Read(gate, make([]byte, 1))
	}
}
