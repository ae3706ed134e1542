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
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 5 {
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

func BenchmarkCond(b *testing.B) {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	turn, end := 0, false
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		mu.Lock()
		defer mu.Unlock()
		for !end {
			for turn == 0 && !end {
				c.Wait()
			}
			turn = 0
			c.Broadcast()
		}
	}()
	for i := 0; i < b.N; i++ {
		mu.Lock()
		turn = 1
		c.Broadcast()
		for turn == 1 {
			c.Wait()
		}
		mu.Unlock()
	}
	mu.Lock()
	end = true
	c.Broadcast()
	mu.Unlock()
	wg.Wait()
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
