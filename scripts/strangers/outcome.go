//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// An outcome is what became of one benchmark.
type outcome struct {
	module
	benchmark
	ir     string // of the first run; "" if it was not counted
	equal  bool
	reason string // why not
	native string // what it does without perfgate
}

// unequal reports whether it was counted, but not equally.
func (o outcome) unequal() bool { return o.ir != "" && !o.equal }

// A document is what perfgate run -format json printed.
type document struct {
	rows   []row
	cached bool // some of it was not measured now
}

// A row is one benchmark, with the raw counts of its two processes.
type row struct {
	Name    string      `json:"name"`
	Ir      json.Number `json:"ir_per_op"`
	Verdict string      `json:"verdict"`
	Reason  string      `json:"reason"`
	raw     string      // with the totals
}

func (r row) counted() bool { return r.Ir != "" && r.Verdict == "" }

func (r row) verdict() string { return r.Verdict + ": " + r.Reason }

func parseDocument(text []byte) (*document, error) {
	var d struct {
		Benchmarks []json.RawMessage
		Run        struct {
			Cached []string
			Totals []json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("reading perfgate's document: %w", err)
	}
	found := &document{cached: len(d.Run.Cached) > 0}
	totals := make(map[string]string)
	for _, m := range d.Run.Totals {
		var r row
		if err := json.Unmarshal(m, &r); err != nil {
			return nil, fmt.Errorf("reading perfgate's document: %w", err)
		}
		totals[r.Name] = string(m)
	}
	for _, m := range d.Benchmarks {
		var r row
		if err := json.Unmarshal(m, &r); err != nil {
			return nil, fmt.Errorf("reading perfgate's document: %w", err)
		}
		r.raw = string(m) + totals[r.Name]
		found.rows = append(found.rows, r)
	}
	return found, nil
}

// row returns the row of a benchmark. If there is none, what is said of the
// package, or of a parent, holds for it.
func (d *document) row(name string) row {
	for _, r := range d.rows {
		if r.Name == name {
			return r
		}
	}
	for _, r := range d.rows {
		if r.Name == "*" || strings.HasPrefix(name, r.Name+"/") {
			return r
		}
	}
	return row{Name: name, Verdict: "missing", Reason: "perfgate does not mention it"}
}

// judge compares what two runs say of a benchmark. Equal are rows that agree in
// all that was counted, in the totals of both processes too.
func judge(b benchmark, first, second *document) outcome {
	one, two := first.row(b.name), second.row(b.name)
	o := outcome{benchmark: b}
	switch {
	case !one.counted():
		o.reason = one.verdict()
		return o
	case !two.counted():
		o.reason = "the second time " + two.verdict()
		return o
	}
	o.ir = one.Ir.String()
	switch {
	case one.Ir != two.Ir:
		o.reason = fmt.Sprintf("%s and %s Ir/op", one.Ir, two.Ir)
	case one.raw != two.raw:
		o.reason = fmt.Sprintf("equal Ir/op, but\n%s\n%s", one.raw, two.raw)
	case first.cached || second.cached:
		o.reason = "a count is a remembered one"
	default:
		o.equal = true
	}
	return o
}

// crashed fails if that is no way for perfgate to end: it must exit with status
// 0 or 1 and print a document, and nobody wants to read a stack.
func crashed(status int, stderr string, document error) error {
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "goroutine ") || strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return errors.New("it dumped a stack")
		}
	}
	if status != 0 && status != 1 {
		return fmt.Errorf("it ended with status %d", status)
	}
	return document
}
