package gate

import (
	"errors"
	"fmt"
	"strings"
)

// An Acceptance is what somebody lets benchmarks cost more, as the value of a
// trailer "Perf-Accept: PATTERN +LIMIT% reason" in a commit's message.
type Acceptance struct {
	Pattern string // of benchmarks, as -bench has them
	Limit   Percent
	Reason  string
}

// AcceptTrailer is the key of the trailer.
const AcceptTrailer = "Perf-Accept"

// ParseAcceptance reads the value of the trailer, as in
// "Store/size=1024 +5% checks every block now".
func ParseAcceptance(value string) (Acceptance, error) {
	pattern, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
	rest, signed := strings.CutPrefix(strings.TrimSpace(rest), "+")
	number, reason, found := strings.Cut(rest, "%")
	if !signed || !found {
		return Acceptance{}, errors.New(`want "PATTERN +LIMIT% reason", as in "Store/size=1024 +5% checks every block now"`)
	}
	limit, err := ParsePercent(strings.TrimSpace(number))
	if err != nil || limit <= 0 {
		return Acceptance{}, fmt.Errorf("the limit %q is not a positive decimal of at most %d places", number, places)
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		return Acceptance{}, errors.New("a reason is missing behind the limit")
	}
	return Acceptance{pattern, limit, reason}, nil
}

// LimitFor returns the least limit, in whole percent, that lets r pass.
func LimitFor(r *Row) Percent {
	var limit Percent
	for _, c := range r.Metrics {
		if c.Verdict != Regressed {
			continue
		}
		delta, ok := c.Delta()
		if !ok {
			delta = fromZero
		}
		limit = max(limit, (max(delta, 0)/scale+1)*scale)
	}
	return limit
}
