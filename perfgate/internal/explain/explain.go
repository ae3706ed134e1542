// Package explain tells by function and line where the instructions of a
// benchmark go, and which of them a change added or took away.
//
// Everything is counted per operation and exact: the functions of an
// [Explanation] and its Other add up to its Delta to the last digit.
package explain

import (
	"errors"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// An Explanation is what changed between an old and a new side, or where the
// instructions of one side go. Quantities are Ir/op.
//
// Of one side there is no Old: it is 0 throughout, and Delta is New.
type Explanation struct {
	Source    string     `json:"source,omitempty"`  // one line that names the old side; "" for one side
	Missing   string     `json:"missing,omitempty"` // one line that says what could not be told, or why
	Functions []Function `json:"functions,omitempty"`
	Other     gate.PerOp `json:"other"` // what the functions that are not listed add up to
	Old       gate.PerOp `json:"old"`
	New       gate.PerOp `json:"new"`
	Delta     gate.PerOp `json:"delta"`
}

// A Group is whose code a function is.
type Group string

// The groups, in the order in which they are shown.
const (
	Yours   Group = "yours"   // the module's and its dependencies'
	Std     Group = "std"     // the standard library's, but for those that follow
	Runtime Group = "runtime" // Go's runtime: memory, maps, channels, scheduling
	Testing Group = "testing" // the harness around the benchmark
	Native  Group = "native"  // code without a Go symbol: C, or stripped of its names
)

// A Function is one that an explanation lists. Those of one group stand
// together, the largest change first.
type Function struct {
	Group Group      `json:"group"`
	Name  string     `json:"name"` // as in "example.com/m/core.(*encoder).match"
	Old   gate.PerOp `json:"old"`
	New   gate.PerOp `json:"new"`
	Delta gate.PerOp `json:"delta"`
	Lines []Line     `json:"lines,omitempty"` // those that changed most, the largest change first
}

// A Line is a source line whose instructions belong to a function. It may be in
// another function's source, which the compiler inlined.
type Line struct {
	File  string     `json:"file"` // "core/encode.go", "module@version/file.go", "$GOROOT/src/runtime/map.go"
	Line  int        `json:"line"`
	Came  bool       `json:"came,omitempty"` // the old side's file does not have it
	Gone  bool       `json:"gone,omitempty"` // it is a line of the old side's file, which the new one does not have
	Old   gate.PerOp `json:"old"`
	New   gate.PerOp `json:"new"`
	Delta gate.PerOp `json:"delta"`
}

// Explained reports whether e has numbers. Without, Missing says why.
func (e *Explanation) Explained() bool { return e.New != 0 }

// Validate reports an error for an explanation whose parts do not add up.
func (e *Explanation) Validate() error {
	if !e.Explained() && e.Missing == "" {
		return errors.New("an explanation with neither numbers nor a reason")
	}
	sum := e.Other
	for _, f := range e.Functions {
		if f.New-f.Old != f.Delta {
			return errors.New("explanation: " + f.Name + ": delta is not new - old")
		}
		sum += f.Delta
	}
	if e.New-e.Old != e.Delta || sum != e.Delta {
		return errors.New("an explanation that does not add up")
	}
	return nil
}
