package hard

import (
	"testing"
	"time"
)

// The clock: timers, sleeping, and a loop that only time ends.

func BenchmarkSleep(b *testing.B) {
	for b.Loop() {
		time.Sleep(50 * time.Microsecond)
	}
}

func BenchmarkAfter(b *testing.B) {
	for i := 0; i < b.N; i++ {
		<-time.After(50 * time.Microsecond)
	}
}

func BenchmarkTicker(b *testing.B) {
	t := time.NewTicker(50 * time.Microsecond)
	defer t.Stop()
	for b.Loop() {
		<-t.C
	}
}

func BenchmarkAfterFunc(b *testing.B) {
	done := make(chan bool)
	for b.Loop() {
		stopped := time.AfterFunc(time.Hour, func() { panic("an hour") })
		time.AfterFunc(20*time.Microsecond, func() { done <- stopped.Stop() })
		<-done
	}
}

func BenchmarkSpin(b *testing.B) {
	for i := 0; i < b.N; i++ {
		start := time.Now()
		for time.Since(start) < 20*time.Microsecond {
			sinkInt++
		}
	}
}
