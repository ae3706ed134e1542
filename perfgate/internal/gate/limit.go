package gate

import (
	"fmt"
	"math"
	"math/big"
)

// A Metric is one of the quantities that are gated.
type Metric uint8

// The metrics, in the order in which they are looked at.
const (
	Ir Metric = iota
	Allocs
	Bytes
)

// Metrics returns all of them.
func Metrics() []Metric { return []Metric{Ir, Allocs, Bytes} }

// String returns the unit, as in "allocs/op".
func (m Metric) String() string { return [...]string{"Ir/op", "allocs/op", "B/op"}[m] }

var metricNames = [...]string{Ir: "ir_per_op", Allocs: "allocs_per_op", Bytes: "bytes_per_op"}

// MarshalText returns the word that JSON uses, as in "allocs_per_op".
func (m Metric) MarshalText() ([]byte, error) { return []byte(metricNames[m]), nil }

// UnmarshalText reads what MarshalText writes.
func (m *Metric) UnmarshalText(b []byte) error {
	for i, name := range metricNames {
		if name == string(b) {
			*m = Metric(i)
			return nil
		}
	}
	return fmt.Errorf("unknown metric %q", b)
}

// The limits that hold where a budget has none of its own.
//
// Unrelated edits do not move allocations, and bytes by no more than a
// tinyBlock, so that a lower limit would raise no false alarm. But 1 % has one
// more allocation fail up to a hundred, and leaves code that allocates thousands
// the room that its instructions have too.
const (
	DefaultLimit Percent = 1_0000 // fail at +1 % or more; -1 % or less makes a budget stale
	DefaultWarn  Percent = 2000   // warn from +0.2 %
	ExactLimit   Percent = 1000   // 0.1 %: counts without allocations do not move with unrelated edits at all
	movable      Percent = 6000   // how far unrelated edits move the instructions of what allocates
)

// fromZero is what an increase from 0 counts as: it passes a wider limit only.
const fromZero Percent = 100_0000

// A Limit is where a change fails, and who said so.
type Limit struct {
	Pct  Percent
	From string // LimitDefault, LimitFile, LimitExact, or what was given to [Budgets.Accept]
}

// Where limits come from, beside what is accepted.
const (
	LimitDefault = "default"
	LimitFile    = FileName
	LimitExact   = "-exact"
)

// String returns "+0.1 % (-exact)".
func (l Limit) String() string { return fmt.Sprintf("+%v %% (%s)", l.Pct, l.From) }

// limit returns the limit in force for one metric of r, and without what was
// accepted. s may be nil.
func (b Budgets) limit(r *Budget, s *Sample, m Metric) (inForce, otherwise Limit) {
	l := Limit{DefaultLimit, LimitDefault}
	if own := r.Own(m); own != 0 {
		l = Limit{own, LimitFile}
	} else if m == Ir && b.Exact && r.Allocs == 0 && s != nil && s.AllocsPerOp == 0 {
		l = Limit{ExactLimit, LimitExact}
	}
	if r.accepted.Pct > l.Pct {
		return r.accepted, l
	}
	return l, l
}

// A Comparison is one metric of a benchmark against its budget.
type Comparison struct {
	Metric   Metric
	Was, Now PerOp
	Limit    Limit   // in force
	Verdict  Verdict // Regressed, Warned, Improved or OK; zero if it was not compared
}

// Delta returns the change in percent. An increase from 0 has none.
func (c Comparison) Delta() (p Percent, ok bool) {
	switch {
	case c.Was > 0:
		return Change(c.Was, c.Now), true
	case c.Now == 0:
		return 0, true
	}
	return 0, false
}

// tinyBlock is the size of the block in which the runtime packs small objects
// without pointers. Where in such a block a benchmark begins is decided by what
// ran before it, so that unrelated code moves its bytes by one block in all
// iterations together.
const tinyBlock = 16

// compare judges one metric, measured with exponent k.
func compare(m Metric, was, now PerOp, k int, limit Percent) Verdict {
	switch {
	case was == 0 && now == 0:
		return OK
	case was == 0 && limit > fromZero:
		return Warned
	case was == 0:
		return Regressed
	case m == Bytes && now > 0 && max(now-was, was-now) <= Slope(tinyBlock, k):
		return OK
	case cmpChange(was, now, limit) >= 0:
		return Regressed
	case cmpChange(was, now, -limit) <= 0:
		return Improved
	case cmpChange(was, now, min(DefaultWarn, limit)) >= 0:
		return Warned
	}
	return OK
}

// compareAll judges the three metrics of a sample and returns what the worst
// one says, and which it is.
func (b Budgets) compareAll(r *Budget, s *Sample) (all [3]Comparison, worst Metric) {
	all = b.uncompared(r, s)
	for i := range all {
		c := &all[i]
		c.Now = s.of(c.Metric)
		c.Verdict = compare(c.Metric, c.Was, c.Now, s.K, c.Limit.Pct)
		if spread := r.spread + s.Spread; spread > 0 && (c.Metric != Ir || max(c.Now-c.Was, c.Was-c.Now) <= spread) {
			c.Verdict = OK // counts that are not exact cannot tell
			continue
		}
		if _, own := b.limit(r, s, c.Metric); c.Verdict == OK && compare(c.Metric, c.Was, c.Now, s.K, own.Pct) == Improved {
			c.Verdict = Improved // whatever increase was accepted
		}
		if c.Verdict < all[worst].Verdict {
			worst = c.Metric
		}
	}
	return all, worst
}

// uncompared is what is known of a budget without a count.
func (b Budgets) uncompared(r *Budget, s *Sample) (all [3]Comparison) {
	for _, m := range Metrics() {
		limit, _ := b.limit(r, s, m)
		all[m] = Comparison{Metric: m, Was: r.Of(m), Limit: limit}
	}
	return all
}

// notes says what a reader of a row that is not ok should know.
func (b Budgets) notes(r *Row) []string {
	var notes []string
	for _, c := range r.Metrics {
		_, otherwise := b.limit(r.Budget, r.Sample, c.Metric)
		if c.Limit != otherwise && c.Verdict != Regressed && compare(c.Metric, c.Was, c.Now, r.Sample.K, otherwise.Pct) == Regressed {
			notes = append(notes, fmt.Sprintf("accepted: %v over the limit of %v, let pass up to %v", c.Metric, otherwise, c.Limit))
		}
	}
	if r.Verdict != OK && r.Decided == Ir && r.Metrics[Ir].Limit.Pct < movable && (r.Budget.Allocs > 0 || r.Sample.AllocsPerOp > 0) {
		notes = append(notes, TightNote)
	}
	if r.Verdict == Improved && b.Base == "" {
		notes = append(notes, headroom(r.Deciding()))
	}
	return notes
}

// TightNote stands beside a limit that is too tight for a benchmark which
// allocates.
const TightNote = "unrelated edits can move the instructions of a benchmark that allocates by up to 0.6 %, and the limit is tighter"

// Tight reports whether the limit that b has for instructions needs [TightNote].
func (b *Budget) Tight() bool { return b.Limit != 0 && b.Limit < movable && b.Allocs > 0 }

// headroom says how much could be lost before a stale budget notices.
func headroom(c Comparison) string {
	if c.Now == 0 {
		return fmt.Sprintf("could go back to %v %v before this budget notices: lower it with `perfgate update`", c.Was, c.Metric)
	}
	return fmt.Sprintf("could get %s dearer before this budget notices: lower it with `perfgate update`", rise(c.Was, c.Now, c.Limit.Pct).unsigned())
}

// rise returns by how much now may grow until it is over was by limit.
func rise(was, now PerOp, limit Percent) Percent {
	d := scaledChange(now, was) // in parts of now
	d.Add(d, new(big.Int).Mul(big.NewInt(int64(was)), big.NewInt(int64(limit))))
	if d.Quo(d, big.NewInt(int64(now))); !d.IsInt64() {
		return math.MaxInt64
	}
	return Percent(d.Int64())
}
