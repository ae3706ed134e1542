package gate

import "fmt"

// A Verdict is the judgement of one benchmark. The zero value is no judgement
// at all and fails.
type Verdict uint8

// The verdicts, worst first within an exit status.
const (
	unjudged     Verdict = iota
	Regressed            // over the budget by the limit or more, in any metric
	Removed              // has a budget, is in scope, and is gone
	Broken               // could not be measured
	Unstable             // equal runs gave unequal counts
	Empty                // executes no more than its empty loop
	Incomparable         // no budget of this target and toolchain
	New                  // has no budget
	Warned               // over the budget, within the limit
	Improved             // under the budget by the limit or more: the budget is stale
	OK                   // within budget
)

var verdictNames = [...]string{
	unjudged:     "unjudged",
	Regressed:    "regressed",
	Removed:      "removed",
	Broken:       "broken",
	Unstable:     "unstable",
	Empty:        "empty",
	Incomparable: "incomparable",
	New:          "new",
	Warned:       "warned",
	Improved:     "improved",
	OK:           "ok",
}

// String returns the word that JSON and tables use.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// MarshalText returns the word; it refuses the zero value.
func (v Verdict) MarshalText() ([]byte, error) {
	if v == unjudged || int(v) >= len(verdictNames) {
		return nil, fmt.Errorf("encoding %v: not a verdict", v)
	}
	return []byte(v.String()), nil
}

// UnmarshalText reads the word.
func (v *Verdict) UnmarshalText(b []byte) error {
	for i, name := range verdictNames {
		if i != int(unjudged) && name == string(b) {
			*v = Verdict(i)
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q", b)
}

// The exit status of perfgate. ExitUsage is also that of a selection in which
// there is nothing to measure.
const (
	ExitOK           = 0
	ExitFault        = 1
	ExitUsage        = 2
	ExitOver         = 3
	ExitIncomparable = 4
)

// Exit returns the status of a run with these rows. Of several statuses
// regressions win, then faults, then what cannot be compared. No rows at all is
// nothing measured.
func Exit(rows []Row, o Options) int {
	if len(rows) == 0 && !o.Same {
		return ExitUsage
	}
	seen := make(map[int]bool)
	for _, r := range rows {
		seen[r.Verdict.exit(o)] = true
	}
	for _, code := range []int{ExitOver, ExitFault, ExitIncomparable} {
		if seen[code] {
			return code
		}
	}
	return ExitOK
}

func (v Verdict) exit(o Options) int {
	switch v {
	case OK, Warned:
		return ExitOK
	case Improved:
		if o.StaleFails {
			return ExitOver
		}
		return ExitOK
	case Regressed:
		return ExitOver
	case Removed:
		if o.RemovedAllowed {
			return ExitOK
		}
		return ExitOver
	case New:
		if o.NewAllowed {
			return ExitOK
		}
		return ExitIncomparable
	case Incomparable:
		return ExitIncomparable
	}
	return ExitFault
}
