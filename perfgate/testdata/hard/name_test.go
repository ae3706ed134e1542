package hard

import "testing"

// Names: slashes and spaces in them, two that are the same, a pattern's signs.

func BenchmarkName(b *testing.B) {
	for _, name := range []string{"with space", "a/b=c", "same", "same", "a|b(c)+$"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sinkBytes = append([]byte(nil), name...)
			}
		})
	}
}

// Benchmark has no name of its own.
func Benchmark(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sinkBytes = make([]byte, 10+i%10)
	}
}
