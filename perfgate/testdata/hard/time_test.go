package hard

import (
	"context"
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

func BenchmarkTimeout(b *testing.B) {
	for b.Loop() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Microsecond)
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			b.Fatal("no time-out")
		}
		cancel()
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

func BenchmarkNow(b *testing.B) {
	for b.Loop() {
		sinkString = time.Now().UTC().Format(time.RFC3339Nano)
	}
}
