// Package count describes what one run of a program executed, and the
// [Counter] that finds out.
package count

import (
	"context"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

// A Count is the number of instructions that one run executed in user space.
type Count struct {
	Total     int64
	Functions map[string]int64 // by symbol; sums up to Total
	Lines     map[Line]int64   // what of Functions is known by line; nil for a program without line numbers
}

// A Line is a source line as a part of a function. Its file may be another one
// than the function's: the compiler inlines.
type Line struct {
	Function string
	File     string // as the program names it
	Number   int
}

// A Result is what is known of a run that came to its end.
type Result struct {
	Count
	process.Output
	Status string // "" if the program exited with status 0, else how it ended; Count means nothing then
}

// A Counter runs programs and counts their instructions.
type Counter interface {
	// Run runs c. scratch is an empty folder for the counter's own files. An
	// error is trouble of the counter; how the program ended is in the
	// result. A run that takes longer than limit is killed and the error wraps
	// [ErrTimeout]; the result has its output then.
	Run(ctx context.Context, c process.Command, scratch string, limit time.Duration) (Result, error)
}

// ErrTimeout is the error of a run that took too long.
type ErrTimeout struct{ Limit time.Duration }

func (e ErrTimeout) Error() string { return "still running after " + e.Limit.String() }
