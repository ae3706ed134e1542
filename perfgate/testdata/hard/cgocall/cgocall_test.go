package cgocall

import "testing"

var sink int

func BenchmarkAdd(b *testing.B) {
	for b.Loop() {
		sink = add(sink, 1)
	}
}

func BenchmarkCallback(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = callback(i)
	}
}

func BenchmarkString(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink += len(text("there and back"))
	}
}
