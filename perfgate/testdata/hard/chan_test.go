package hard

import (
	"sync"
	"testing"
)

// Goroutines and channels: the scheduler decides who runs next, and select
// chooses among ready cases at random.

func BenchmarkChan(b *testing.B) {
	b.Run("buffer=16", func(b *testing.B) {
		c := make(chan int, 16)
		done := make(chan int)
		go func() {
			n := 0
			for v := range c {
				n += v
			}
			done <- n
		}()
		i := 0
		for b.Loop() {
			i++
			c <- i
		}
		close(c)
		sinkInt = <-done
	})
	b.Run("buffer=0", func(b *testing.B) {
		ping, pong := make(chan int), make(chan int)
		go func() {
			for v := range ping {
				pong <- v + 1
			}
			close(pong)
		}()
		for i := 0; i < b.N; i++ {
			ping <- i
			sinkInt = <-pong
		}
		close(ping)
	})
}

func BenchmarkWorkers(b *testing.B) {
	jobs, results := make(chan int), make(chan int)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range jobs {
				results <- j * j
			}
		}()
	}
	for b.Loop() {
		go func() {
			for i := range 10 {
				jobs <- i
			}
		}()
		for range 10 {
			sinkInt += <-results
		}
	}
	close(jobs)
	wg.Wait()
}

func BenchmarkGo(b *testing.B) {
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				deep(i * 10) // makes the stack grow
			}()
		}
		wg.Wait()
	}
}

//go:noinline
func deep(n int) int {
	var a [64]int
	if n > 0 {
		a[n%64] = deep(n - 1)
	}
	return a[0] + n
}

func BenchmarkSelect(b *testing.B) {
	b.Run("ready=3", func(b *testing.B) {
		x, y, z := make(chan int, 1), make(chan int, 1), make(chan int, 1)
		x <- 1
		y <- 2
		z <- 3
		for b.Loop() {
			select {
			case v := <-x:
				x <- v
			case v := <-y:
				sinkInt += v
				y <- v
			case v := <-z:
				sinkInt += v * v
				z <- v
			}
		}
	})
	b.Run("ready=0", func(b *testing.B) {
		x, y, quit := make(chan int), make(chan int), make(chan bool)
		for _, c := range []chan int{x, y} {
			go func() {
				for {
					select {
					case c <- 1:
					case <-quit:
						return
					}
				}
			}()
		}
		for i := 0; i < b.N; i++ {
			select {
			case v := <-x:
				sinkInt += v
			case v := <-y:
				sinkInt -= v
			}
		}
		close(quit)
	})
}
