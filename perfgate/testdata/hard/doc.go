// Package hard has ordinary benchmarks of what is hard to count exactly: code
// whose path depends on chance, on the clock, on the scheduler, on the
// collector or on the kernel. Nothing in it is made for perfgate: plain
// "go test -bench ." runs it too.
//
// Each must count equal in every run. It exports nothing.
package hard

// Sinks keep the compiler from removing the work.
var (
	sinkInt    int
	sinkString string
	sinkBytes  []byte
	sinkAny    any
)
