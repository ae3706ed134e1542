package gate

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// places is the number of decimal places that [PerOp] and [Percent] keep.
const places = 4

const scale = 10_000 // 10^places

// MaxK is the largest exponent of a [Sample]: with it a slope is an exact
// multiple of 1/10^MaxK.
const MaxK = places

// PerOp is a quantity per operation, an exact decimal in ten-thousandths. The
// slope of two counts over 10^k iterations, k at most [MaxK], is always exact.
type PerOp int64

// Slope returns diff/10^k.
func Slope(diff int64, k int) PerOp {
	for ; k < MaxK; k++ {
		diff *= 10
	}
	return PerOp(diff)
}

// Round returns the nearest whole number, halves away from zero.
func (q PerOp) Round() int64 {
	return int64(q)/scale + int64(q)%scale/(scale/2)
}

// String returns the exact decimal without trailing zeros: "2913.42", "7".
func (q PerOp) String() string { return formatDecimal(int64(q)) }

// MarshalJSON writes a JSON number, the exact decimal.
func (q PerOp) MarshalJSON() ([]byte, error) { return []byte(q.String()), nil }

// UnmarshalJSON reads what MarshalJSON writes and nothing else.
func (q *PerOp) UnmarshalJSON(b []byte) error {
	v, err := parseDecimal(string(b))
	*q = PerOp(v)
	return err
}

// Percent is an exact decimal in ten-thousandths of a percent.
type Percent int64

// ParsePercent reads a decimal such as "0.1".
func ParsePercent(s string) (Percent, error) {
	v, err := parseDecimal(s)
	return Percent(v), err
}

// String returns the exact decimal without trailing zeros, with no sign for
// positive values and no percent sign.
func (p Percent) String() string { return formatDecimal(int64(p)) }

// Signed returns p with a sign and two decimal places, as tables show it:
// "+4.52 %", "-6.04 %". A change too small for two places shows four.
func (p Percent) Signed() string {
	sign := "+"
	if p < 0 {
		sign = "-"
	}
	return sign + p.unsigned()
}

func (p Percent) unsigned() string {
	abs := uint64(p)
	if p < 0 {
		abs = -abs
	}
	if abs != 0 && abs < 100 {
		return fmt.Sprintf("%d.%04d %%", abs/scale, abs%scale)
	}
	cent := (abs + 50) / 100
	return fmt.Sprintf("%d.%02d %%", cent/100, cent%100)
}

// MarshalJSON writes a JSON number, the exact decimal.
func (p Percent) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON reads what MarshalJSON writes and nothing else.
func (p *Percent) UnmarshalJSON(b []byte) error {
	v, err := parseDecimal(string(b))
	*p = Percent(v)
	return err
}

// Change returns (now-was)/was in percent, rounded to the nearest
// ten-thousandth, halves away from zero, or the largest Percent if that is
// larger. was must be positive. The rounding is for people; [cmpChange] judges
// without it.
func Change(was, now PerOp) Percent {
	if was <= 0 {
		panic("gate: change from a budget that is not positive")
	}
	d := scaledChange(was, now)
	w := big.NewInt(int64(was))
	half := new(big.Int).Rsh(w, 1)
	if d.Sign() < 0 {
		half.Neg(half)
	}
	d.Add(d, half)
	if d.Quo(d, w); !d.IsInt64() {
		return Percent(d.Sign()) * math.MaxInt64
	}
	return Percent(d.Int64())
}

// Share returns part/whole in percent, as in "0.12 %".
func Share(part, whole PerOp) string { return Change(whole, whole+part).unsigned() }

// scaledChange returns the change in parts of was, in ten-thousandths of a
// percent.
func scaledChange(was, now PerOp) *big.Int {
	d := new(big.Int).Sub(big.NewInt(int64(now)), big.NewInt(int64(was)))
	return d.Mul(d, big.NewInt(100*scale))
}

// cmpChange compares the change from was to now with p, exactly.
func cmpChange(was, now PerOp, p Percent) int {
	l := new(big.Int).Mul(big.NewInt(int64(was)), big.NewInt(int64(p)))
	return scaledChange(was, now).Cmp(l)
}

func formatDecimal(v int64) string {
	sign := ""
	u := uint64(v)
	if v < 0 {
		sign, u = "-", -u
	}
	s := fmt.Sprintf("%s%d.%04d", sign, u/scale, u%scale)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// parseDecimal reads an optional minus, digits, and at most [places] decimals.
// It takes canonical numbers only, so that files round-trip.
func parseDecimal(s string) (int64, error) {
	whole, frac, dot := strings.Cut(s, ".")
	if dot && (frac == "" || len(frac) > places) {
		return 0, fmt.Errorf("%q is not a decimal of at most %d places", s, places)
	}
	v, err := strconv.ParseInt(whole+frac+strings.Repeat("0", places-len(frac)), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s is out of range", s)
	}
	if err != nil || formatDecimal(v) != s {
		return 0, fmt.Errorf("%q is not a decimal in its shortest form", s)
	}
	return v, nil
}

func itoa(i int) string { return strconv.Itoa(i) }
