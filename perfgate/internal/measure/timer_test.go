package measure

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
)

func TestStoppedTimers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a_test.go")
	if err := os.WriteFile(file, []byte(`package a

func BenchmarkN(b *testing.B) {
	b.StopTimer()
	b.StartTimer()
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		b.StartTimer()
	}
}

func BenchmarkRange(b *testing.B) {
	b.Run("x", func(b *testing.B) {
		for range b.N {
			if true {
				b.StopTimer()
			}
		}
	})
}

func BenchmarkLoop(b *testing.B) {
	for b.Loop() {
		func() { b.StopTimer() }()
	}
}

func BenchmarkOther(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
	}
}

func helper(b *testing.B) {
	for range 3 {
		b.StopTimer()
	}
	for n := 0; n < b.N; n++ {
		b.StopTimer()
	}
	for {
	}
}
`), 0o666); err != nil {
		t.Fatal(err)
	}
	got := stoppedTimers(file, func(f string) bool { return f != "BenchmarkOther" })
	if want := []int{7, 16, 24, 39}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	s := &Session{req: Request{Dir: filepath.Dir(file), Bench: "Range"}}
	s.Packages = []exact.Package{{Benchmarks: []exact.Benchmark{{Name: "BenchmarkN", File: file}, {Name: "BenchmarkRange", File: file}}}}
	want := []string{
		"a_test.go:16: StopTimer in the loop: what runs until StartTimer is counted too",
		"a_test.go:39: StopTimer in the loop: what runs until StartTimer is counted too",
	}
	if got := s.Warnings(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
