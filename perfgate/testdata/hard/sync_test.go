package hard

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Package sync, and as many goroutines as the machine has processors.

func BenchmarkPool(b *testing.B) {
	p := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	for b.Loop() {
		x, y := p.Get().(*bytes.Buffer), p.Get().(*bytes.Buffer)
		x.Reset()
		x.WriteString("pooled")
		p.Put(x)
		p.Put(y)
	}
}

func BenchmarkMutexContended(b *testing.B) {
	var mu sync.Mutex
	for b.Loop() {
		var wg sync.WaitGroup
		for range 3 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 3 {
					mu.Lock()
					sinkInt++
					runtime.Gosched() // with the lock held
					mu.Unlock()
				}
			}()
		}
		wg.Wait()
	}
}

func BenchmarkRunParallel(b *testing.B) {
	b.Run("atomic", func(b *testing.B) {
		var n atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				n.Add(1)
			}
		})
	})
	b.Run("map", func(b *testing.B) {
		var m sync.Map
		b.SetParallelism(4)
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				m.Store(i%50, i)
				if v, ok := m.Load(i % 7); ok {
					_ = v.(int)
				}
			}
		})
	})
}

func BenchmarkNumCPU(b *testing.B) {
	for b.Loop() {
		var wg sync.WaitGroup
		for range runtime.NumCPU() * runtime.GOMAXPROCS(0) {
			wg.Add(1)
			go func() { defer wg.Done() }()
		}
		wg.Wait()
	}
}
