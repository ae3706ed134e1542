package hard

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// Types: the runtime remembers the answers of assertions to interfaces, at
// random.

var values = []any{new(bytes.Buffer), strings.NewReader(""), 1, "text", io.EOF, nil, 2.5, []int{1}}

func BenchmarkTypeSwitch(b *testing.B) {
	i := 0
	for b.Loop() {
		i++
		switch v := values[i%len(values)].(type) {
		case io.ReaderFrom:
			sinkInt++
		case io.WriterTo:
			sinkInt += 2
		case error:
			sinkInt += len(v.Error())
		case fmt.Stringer:
			sinkInt += 3
		case string:
			sinkInt += len(v)
		}
	}
}

func BenchmarkTypeAssert(b *testing.B) {
	for i := 0; i < b.N; i++ {
		if r, ok := values[i%len(values)].(io.Reader); ok {
			if _, ok := r.(io.ByteScanner); ok {
				sinkInt++
			}
		}
	}
}
