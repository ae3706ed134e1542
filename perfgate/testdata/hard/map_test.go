package hard

import (
	"strconv"
	"testing"
)

// Maps: hash seeds are random, and so is where an iteration starts.

func BenchmarkMapGrow(b *testing.B) {
	b.Run("key=int", func(b *testing.B) {
		for b.Loop() {
			m := make(map[int]int)
			for i := range 50 {
				m[i*i] = i
			}
			sinkInt = len(m)
		}
	})
	b.Run("key=string", func(b *testing.B) {
		keys := keys(50)
		for b.Loop() {
			m := make(map[string]int)
			for i, k := range keys {
				m[k] = i
			}
			sinkInt = len(m)
		}
	})
}

func BenchmarkMapLookup(b *testing.B) {
	keys := keys(1000)
	m := make(map[string]int)
	for i, k := range keys {
		m[k] = i
	}
	for i := 0; i < b.N; i++ {
		sinkInt += m[keys[i%len(keys)]]
	}
}

func BenchmarkMapIterate(b *testing.B) {
	m := make(map[string]int)
	for i, k := range keys(100) {
		m[k] = i
	}
	for b.Loop() {
		n := 0
		for _, v := range m {
			if n += v; n > 1000 {
				break // so how long it takes depends on the start
			}
		}
		sinkInt = n
	}
}

func keys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = "key-" + strconv.Itoa(i*7919)
	}
	return keys
}
