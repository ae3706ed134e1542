// Package report holds the one document that perfgate makes, and its forms:
// JSON, which is also read here, text, Markdown, annotations for GitHub, and the
// benchmark formats of Go and Bencher.
package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cachekit-go/cachekit/perfgate/internal/explain"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// Schema is the number of the JSON form. It is raised when a member changes its
// meaning or goes.
const Schema = 1

// A Document is what run and check found. Equal runs give equal documents but
// for the member Run.
type Document struct {
	Schema     int            `json:"schema"`
	Target     gate.Target    `json:"target"`
	Toolchain  gate.Toolchain `json:"toolchain"`
	Base       string         `json:"base,omitempty"` // what was judged against, as in "base 3f2c1a9"; missing for the budgets of a file
	Summary    string         `json:"summary"`        // what it comes to, in one line: see [Document.Summarize]
	Benchmarks []Benchmark    `json:"benchmarks"`     // sorted by package and name
	Same       []string       `json:"same,omitempty"` // packages that were not measured: their test binaries are the base's
	OutOfScope int            `json:"out_of_scope,omitempty"`
	Notes      []string       `json:"notes,omitempty"`
	Changes    []Change       `json:"budget_changes,omitempty"`
	Run        Run            `json:"run"`
}

// A Benchmark is one row. Without a count the measured members are missing;
// those of the judgement are missing in a run.
type Benchmark struct {
	Pkg         string        `json:"pkg"`
	Name        string        `json:"name"`           // "*" for a package that could not be built or listed
	File        string        `json:"file,omitempty"` // of its function, see [Place]
	Line        int           `json:"line,omitempty"`
	IrPerOp     *gate.PerOp   `json:"ir_per_op,omitempty"`
	K           *int          `json:"k,omitempty"`
	Spread      *gate.PerOp   `json:"spread_per_op,omitempty"` // how far apart several runs are, if counts are not exact
	AllocsPerOp *gate.PerOp   `json:"allocs_per_op,omitempty"`
	BytesPerOp  *gate.PerOp   `json:"bytes_per_op,omitempty"`
	CGO         string        `json:"cgo_enabled,omitempty"` // where it is not the target's
	Verdict     *gate.Verdict `json:"verdict,omitempty"`
	DecidedBy   *gate.Metric  `json:"decided_by,omitempty"` // whose change the verdict is about
	Budget      *gate.PerOp   `json:"budget,omitempty"`     // of Ir, as the next three
	DeltaPct    *gate.Percent `json:"delta_pct,omitempty"`
	LimitPct    *gate.Percent `json:"limit_pct,omitempty"`
	LimitFrom   string        `json:"limit_from,omitempty"`
	Allocs      *Budgeted     `json:"allocs,omitempty"`
	Bytes       *Budgeted     `json:"bytes,omitempty"`
	Reason      string        `json:"reason,omitempty"`
	Notes       []string      `json:"notes,omitempty"`

	Explanation *explain.Explanation `json:"explanation,omitempty"`
}

// Budgeted is what is allowed of one metric, and how far from it the count is.
type Budgeted struct {
	Budget    gate.PerOp    `json:"budget"`
	DeltaPct  *gate.Percent `json:"delta_pct,omitempty"` // missing for an increase from 0
	LimitPct  gate.Percent  `json:"limit_pct"`
	LimitFrom string        `json:"limit_from"`
}

// A Change is a budget that differs between two versions of baselines.json.
type Change struct {
	Pkg    string       `json:"pkg"`
	Name   string       `json:"name"`
	Target gate.Target  `json:"target"`
	Old    *gate.Budget `json:"old,omitempty"` // missing if it was added
	New    *gate.Budget `json:"new,omitempty"` // missing if it was removed
	Reason string       `json:"reason,omitempty"`
}

// SetChanges puts in what the change under review does to the budgets.
func (d *Document) SetChanges(changes []gate.BudgetChange) {
	d.Changes = nil
	for _, c := range changes {
		d.Changes = append(d.Changes, Change{c.Pkg, c.Name, c.Target, c.Old, c.New, c.Reason})
	}
}

// Explain puts an explanation in with each row for which explain has one.
func (d *Document) Explain(of func(gate.Key) *explain.Explanation) {
	for i := range d.Benchmarks {
		b := &d.Benchmarks[i]
		b.Explanation = of(b.key())
	}
}

// A Place is where a benchmark function stands.
type Place struct {
	File string // slash-separated, relative to the folder that perfgate runs in
	Line int
}

// Locate puts the places of the benchmarks in. Where place returns the zero
// Place, the benchmark has none.
func (d *Document) Locate(place func(gate.Key) Place) {
	for i := range d.Benchmarks {
		b := &d.Benchmarks[i]
		p := place(b.key())
		b.File, b.Line = p.File, p.Line
	}
}

func (b *Benchmark) key() gate.Key { return gate.Key{Pkg: b.Pkg, Name: b.Name} }

// Run is what may differ between equal runs.
type Run struct {
	Host           string   `json:"host"`
	Seconds        float64  `json:"seconds"`
	Jobs           int      `json:"jobs"`
	ValgrindStarts int      `json:"valgrind_starts"`
	Cached         []string `json:"cached,omitempty"` // packages whose counts are those of an earlier run
	Totals         []Total  `json:"totals"`
}

// A Total is the raw counts of one benchmark's two processes. Runs of one
// binary in one place agree in them too.
type Total struct {
	Pkg    string `json:"pkg"`
	Name   string `json:"name"`
	LowN   int    `json:"low_n"`
	LowIr  int64  `json:"low_ir"`
	HighN  int    `json:"high_n"`
	HighIr int64  `json:"high_ir"`
}

// New returns the document of samples that were not judged.
func New(t gate.Target, tc gate.Toolchain, samples []gate.Sample, run Run) *Document {
	d := &Document{Schema: Schema, Target: t, Toolchain: tc, Run: run, Benchmarks: []Benchmark{}}
	faults := 0
	for i := range samples {
		b := Benchmark{Pkg: samples[i].Pkg, Name: samples[i].Name}
		d.measured(&b, &samples[i])
		switch f := samples[i].Fault; {
		case f != nil:
			b.Verdict, b.Reason = &f.Verdict, f.Reason
		case b.IrPerOp == nil:
			broken := gate.Broken
			b.Verdict, b.Reason = &broken, "no count"
		}
		if b.Verdict != nil {
			faults++
		}
		d.Benchmarks = append(d.Benchmarks, b)
	}
	d.Summary = plural(len(samples)-faults, "benchmark") + " measured"
	if faults > 0 {
		d.Summary += fmt.Sprintf(", %d not", faults)
	}
	return d
}

// Judged returns the document of a judgement.
func Judged(t gate.Target, tc gate.Toolchain, j gate.Judgement, run Run) *Document {
	d := &Document{Schema: Schema, Target: t, Toolchain: tc, Run: run, Benchmarks: []Benchmark{}, Base: j.Base, Same: j.Same, OutOfScope: j.OutOfScope, Notes: j.Notes}
	for i := range j.Rows {
		r := &j.Rows[i]
		b := Benchmark{Pkg: r.Pkg, Name: r.Name, Verdict: &r.Verdict, Reason: r.Reason, Notes: r.Notes}
		if r.Sample != nil {
			d.measured(&b, r.Sample)
		}
		if r.Budget != nil {
			b.judged(r)
		}
		d.Benchmarks = append(d.Benchmarks, b)
	}
	return d
}

// judged fills in the budgets, and what became of them.
func (b *Benchmark) judged(r *gate.Row) {
	if r.Compared() {
		b.DecidedBy = &r.Decided
	}
	var all [3]Budgeted
	for i, c := range r.Metrics {
		all[i] = Budgeted{Budget: c.Was, LimitPct: c.Limit.Pct, LimitFrom: c.Limit.From}
		if delta, ok := c.Delta(); ok && r.Compared() {
			all[i].DeltaPct = &delta
		}
	}
	ir := all[gate.Ir]
	b.Budget, b.DeltaPct, b.LimitPct, b.LimitFrom = &ir.Budget, ir.DeltaPct, &ir.LimitPct, ir.LimitFrom
	b.Allocs, b.Bytes = &all[gate.Allocs], &all[gate.Bytes]
}

// measured fills in the counts, if there are any.
func (d *Document) measured(b *Benchmark, s *gate.Sample) {
	if s.Hi.Ir == 0 {
		return
	}
	b.IrPerOp, b.K, b.AllocsPerOp, b.BytesPerOp = &s.IrPerOp, &s.K, &s.AllocsPerOp, &s.BytesPerOp
	if s.CGO {
		b.CGO = "1"
	}
	if s.Spread > 0 {
		b.Spread = &s.Spread
		d.Notes = append(d.Notes, fmt.Sprintf("not exact: %s is the median of runs that are %s apart", b.key(), gate.Share(s.Spread, s.IrPerOp)))
	}
	d.Run.Totals = append(d.Run.Totals, Total{s.Pkg, s.Name, s.Lo.N, s.Lo.Ir, s.Hi.N, s.Hi.Ir})
}

// WriteJSON writes d as JSON.
func (d *Document) WriteJSON(w io.Writer) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// ReadJSON reads what WriteJSON writes, and refuses rows that no run makes.
func ReadJSON(r io.Reader) (*Document, error) {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	d := new(Document)
	if err := dec.Decode(d); err != nil {
		return nil, fmt.Errorf("reading a perfgate document: %w", err)
	}
	if d.Schema != Schema {
		return nil, fmt.Errorf("reading a perfgate document: schema %d, this perfgate reads %d", d.Schema, Schema)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("reading a perfgate document: there is more behind it")
	}
	for _, b := range d.Benchmarks {
		if err := b.validate(); err != nil {
			return nil, fmt.Errorf("reading a perfgate document: %s %s: %w", b.Pkg, b.Name, err)
		}
	}
	return d, nil
}

func (b *Benchmark) validate() error {
	counted := b.IrPerOp != nil
	switch {
	case (b.K != nil) != counted, (b.AllocsPerOp != nil) != counted, (b.BytesPerOp != nil) != counted:
		return errors.New("ir_per_op, k, allocs_per_op and bytes_per_op go together")
	case counted && (*b.K < 0 || *b.K > gate.MaxK):
		return fmt.Errorf("k %d is not in 0 to %d", *b.K, gate.MaxK)
	case b.DeltaPct != nil && (!counted || b.Budget == nil):
		return errors.New("delta_pct without a count or a budget")
	case (b.LimitPct != nil) != (b.Budget != nil):
		return errors.New("budget and limit_pct go together")
	case b.Budget != nil && *b.Budget <= 0:
		return fmt.Errorf("budget %v is not positive", *b.Budget)
	case b.DecidedBy != nil && (!counted || b.Verdict == nil || b.Budget == nil || b.Allocs == nil || b.Bytes == nil):
		return errors.New("decided_by without a count, a verdict or budgets")
	case b.Explanation != nil && b.Explanation.Validate() != nil:
		return b.Explanation.Validate()
	case counted:
		return nil
	case b.Verdict == nil:
		return errors.New("neither a count nor a verdict")
	case *b.Verdict >= gate.New:
		return fmt.Errorf("%v without a count", *b.Verdict)
	}
	return nil
}
