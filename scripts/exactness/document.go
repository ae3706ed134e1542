//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A document is what perfgate run -format json printed.
type document struct {
	members map[string]json.RawMessage // without run
	rows    []row
	totals  json.RawMessage
	starts  int
}

// A row is one benchmark.
type row struct {
	Pkg     string      `json:"pkg"`
	Name    string      `json:"name"`
	Ir      json.Number `json:"ir_per_op"`
	Verdict string      `json:"verdict"`
	Reason  string      `json:"reason"`
	raw     string
}

func (r row) key() string { return r.Pkg + " " + r.Name }

func parseDocument(text []byte) (*document, error) {
	d := new(document)
	if err := json.Unmarshal(text, &d.members); err != nil {
		return d, fmt.Errorf("reading perfgate's document: %w", err)
	}
	var run struct {
		Starts int             `json:"valgrind_starts"`
		Totals json.RawMessage `json:"totals"`
	}
	var raw []json.RawMessage
	err := errors.Join(json.Unmarshal(d.members["run"], &run), json.Unmarshal(d.members["benchmarks"], &raw))
	if err != nil {
		return d, fmt.Errorf("reading perfgate's document: %w", err)
	}
	delete(d.members, "run")
	d.starts, d.totals = run.Starts, run.Totals
	for _, m := range raw {
		r := row{raw: string(m)}
		if err := json.Unmarshal(m, &r); err != nil {
			return d, fmt.Errorf("reading perfgate's document: %w", err)
		}
		d.rows = append(d.rows, r)
	}
	return d, nil
}

// faults names the rows that were not measured.
func (d *document) faults() string {
	var why []string
	for _, r := range d.rows {
		if r.Verdict != "" || r.Ir == "" {
			why = append(why, fmt.Sprintf("%s: %s: %s", r.key(), r.Verdict, r.Reason))
		}
	}
	return strings.Join(why, "\n")
}

// check fails unless every row was counted, and now: two processes or more
// each, nothing stored.
func (d *document) check() error {
	switch why := d.faults(); {
	case why != "":
		return errors.New(why)
	case len(d.rows) == 0:
		return errNothing
	case d.starts < 2*len(d.rows):
		return fmt.Errorf("%d starts of valgrind for %d benchmarks: some counts are stored ones", d.starts, len(d.rows))
	}
	return nil
}

// only returns the document with the rows of the packages that other has.
func (d *document) only(other *document) (*document, error) {
	packages := make(map[string]bool)
	for _, r := range other.rows {
		packages[r.Pkg] = true
	}
	part := &document{members: make(map[string]json.RawMessage), starts: d.starts}
	for name, text := range d.members {
		part.members[name] = text
	}
	var raw []string
	for _, r := range d.rows {
		if packages[r.Pkg] {
			part.rows = append(part.rows, r)
			raw = append(raw, r.raw)
		}
	}
	part.members["benchmarks"] = json.RawMessage("[\n    " + strings.Join(raw, ",\n    ") + "\n  ]")
	var totals []json.RawMessage
	if err := json.Unmarshal(d.totals, &totals); err != nil {
		return nil, err
	}
	raw = nil
	for _, t := range totals {
		var r row
		if err := json.Unmarshal(t, &r); err != nil {
			return nil, err
		}
		if packages[r.Pkg] {
			raw = append(raw, string(t))
		}
	}
	part.totals = json.RawMessage("[\n      " + strings.Join(raw, ",\n      ") + "\n    ]")
	return part, nil
}

// compare says in which members and rows two documents differ; with place also
// in which totals.
func compare(a, b *document, place bool) []string {
	var found []string
	names := make(map[string]bool)
	for name := range a.members {
		names[name] = true
	}
	for name := range b.members {
		names[name] = true
	}
	for name := range names {
		switch {
		case bytes.Equal(a.members[name], b.members[name]):
		case name == "benchmarks":
			found = append(found, compareRows(a.rows, b.rows)...)
		default:
			found = append(found, "member "+name)
		}
	}
	if place && !bytes.Equal(a.totals, b.totals) {
		found = append(found, compareTotals(a.totals, b.totals)...)
	}
	slices.Sort(found)
	return found
}

func compareRows(a, b []row) []string {
	other := make(map[string]row)
	for _, r := range b {
		other[r.key()] = r
	}
	var found []string
	for _, r := range a {
		o, ok := other[r.key()]
		delete(other, r.key())
		switch {
		case !ok:
			found = append(found, r.key()+": missing")
		case o.Ir != r.Ir:
			found = append(found, fmt.Sprintf("%s: %s and %s Ir/op", r.key(), r.Ir, o.Ir))
		case o.raw != r.raw:
			found = append(found, r.key()+": equal Ir/op, but the rows differ")
		}
	}
	for key := range other {
		found = append(found, key+": only here")
	}
	if found == nil {
		return []string{"member benchmarks: its order or its form"}
	}
	return found
}

func compareTotals(a, b json.RawMessage) []string {
	type total struct {
		row
		Low  int64 `json:"low_ir"`
		High int64 `json:"high_ir"`
	}
	var x, y []total
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil || len(x) != len(y) {
		return []string{"member run.totals"}
	}
	var found []string
	for i, t := range x {
		if d, e := y[i].Low-t.Low, y[i].High-t.High; d != 0 || e != 0 {
			found = append(found, fmt.Sprintf("%s: totals differ by %+d and %+d Ir", t.key(), d, e))
		}
	}
	if found == nil {
		return []string{"member run.totals: its form"}
	}
	return found
}

// spread says how far apart the values of each row are that has several.
func spread(documents []*document) []string {
	type limits struct{ lo, hi float64 }
	seen := make(map[string]limits)
	for _, d := range documents {
		for _, r := range d.rows {
			v, err := strconv.ParseFloat(r.Ir.String(), 64)
			if err != nil {
				continue
			}
			l, ok := seen[r.key()]
			if !ok {
				l = limits{v, v}
			}
			seen[r.key()] = limits{math.Min(l.lo, v), math.Max(l.hi, v)}
		}
	}
	var found []string
	for key, l := range seen {
		if l.lo != l.hi {
			found = append(found, fmt.Sprintf("%s: %v to %v Ir/op, %.4f %%", key, l.lo, l.hi, 100*(l.hi-l.lo)/l.lo))
		}
	}
	slices.Sort(found)
	return found
}
