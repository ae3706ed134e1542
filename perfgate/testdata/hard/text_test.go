package hard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Text: caches that fill at random, pools, reflection, growing buffers.

type record struct {
	ID    int            `json:"id"`
	Name  string         `json:"name"`
	Tags  []string       `json:"tags"`
	Attrs map[string]any `json:"attrs"`
}

func sample() record {
	return record{42, "first", []string{"a", "b"}, map[string]any{"x": 1.5, "y": nil, "z": []any{"w", true}}}
}

func BenchmarkJSON(b *testing.B) {
	text, err := json.Marshal(sample())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("marshal", func(b *testing.B) {
		r := sample()
		for b.Loop() {
			if sinkBytes, err = json.Marshal(r); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("unmarshal", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			var r record
			if err := json.Unmarshal(text, &r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRegexp(b *testing.B) {
	re := regexp.MustCompile(`(\w+)@(\w+)\.(com|org)`)
	text := strings.Repeat("nobody, ", 2) + "someone@example.org"
	for b.Loop() {
		if re.FindStringSubmatch(text) == nil {
			b.Fatal("no match")
		}
	}
}

func BenchmarkSprintf(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sinkString = fmt.Sprintf("%d %v %s %q", i%1000, sinkAny, "text", []string{"a"})
	}
}

func BenchmarkBufferGrow(b *testing.B) {
	for b.Loop() {
		var buf bytes.Buffer
		for range 40 {
			buf.WriteString("sixteen bytes ..")
		}
		sinkInt = buf.Len()
	}
}
