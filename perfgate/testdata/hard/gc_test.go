package hard

import (
	"runtime"
	"testing"
)

// The collector: it runs beside the program, and so does what it calls.

type node struct {
	next *node
	pad  [100]byte
}

func BenchmarkGC(b *testing.B) {
	var list *node
	for range 100 {
		list = &node{next: list}
	}
	for b.Loop() {
		sinkAny = new(node)
		runtime.GC()
	}
	runtime.KeepAlive(list)
}

func BenchmarkFinalizer(b *testing.B) {
	done := make(chan bool, 1)
	for b.Loop() {
		n := new(node)
		runtime.SetFinalizer(n, func(*node) { done <- true })
		n = nil
		runtime.GC()
		<-done
	}
}

func BenchmarkCleanup(b *testing.B) {
	done := make(chan int, 1)
	for i := 0; i < b.N; i++ {
		runtime.AddCleanup(new(node), func(v int) { done <- v }, i)
		runtime.GC()
		sinkInt = <-done
	}
}

func BenchmarkMemStats(b *testing.B) {
	var m runtime.MemStats
	for b.Loop() {
		sinkBytes = make([]byte, 1000)
		runtime.ReadMemStats(&m)
		sinkInt = int(m.Mallocs)
	}
}
