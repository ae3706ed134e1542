package gate

import (
	"encoding/json"
	"math"
	"testing"
)

func TestDecimal(t *testing.T) {
	for v, want := range map[int64]string{
		0:             "0",
		1:             "0.0001",
		-1:            "-0.0001",
		9999:          "0.9999",
		10_000:        "1",
		10_500:        "1.05",
		29_134_200:    "2913.42",
		-10_000:       "-1",
		-5000:         "-0.5",
		100_000_000:   "10000",
		math.MaxInt64: "922337203685477.5807",
		math.MinInt64: "-922337203685477.5808",
	} {
		if got := PerOp(v).String(); got != want {
			t.Errorf("%d: got %s, want %s", v, got, want)
		}
		if got, err := parseDecimal(want); got != v || err != nil {
			t.Errorf("%s: got %d, %v, want %d", want, got, err, v)
		}
	}
	for _, s := range []string{"", ".", "-", "-0", "-0.0", "0.0", "1.", ".5", "-.5", "+1", "01", "1.50", "1.00005", "1e3", "1_000", " 1", "1 ", "0x1", "NaN", "null", `"1"`, "1.+5", "1.-5",
		"922337203685477.5808", "-922337203685477.5809", "99999999999999999999"} {
		if v, err := parseDecimal(s); err == nil {
			t.Errorf("%q: got %d, want an error", s, v)
		}
		var q PerOp
		if err := q.UnmarshalJSON([]byte(s)); err == nil {
			t.Errorf("%q: got %v, want an error", s, q)
		}
		if p, err := ParsePercent(s); err == nil {
			t.Errorf("%q: got %v, want an error", s, p)
		}
	}
}

func FuzzDecimal(f *testing.F) {
	for _, v := range []int64{0, 1, -1, 1000, 29_134_200, math.MaxInt64, math.MinInt64} {
		f.Add(v, PerOp(v).String())
	}
	f.Fuzz(func(t *testing.T, v int64, s string) {
		text, err := json.Marshal(PerOp(v))
		if err != nil {
			t.Fatal(err)
		}
		var q PerOp
		if err := json.Unmarshal(text, &q); err != nil || q != PerOp(v) {
			t.Errorf("%s: got %d, %v, want %d", text, q, err, v)
		}
		if w, err := parseDecimal(s); err == nil && formatDecimal(w) != s {
			t.Errorf("%q is read as %s", s, formatDecimal(w))
		}
	})
}

func TestSlope(t *testing.T) {
	tests := []struct {
		diff int64
		k    int
		want string
	}{
		{7, 0, "7"}, {291342, 2, "2913.42"}, {1, 4, "0.0001"}, {0, 3, "0"}, {-25, 1, "-2.5"}, {3_000_000_000, 0, "3000000000"},
	}
	for _, test := range tests {
		if got := Slope(test.diff, test.k).String(); got != test.want {
			t.Errorf("Slope(%d, %d): got %s, want %s", test.diff, test.k, got, test.want)
		}
	}
}

func TestRound(t *testing.T) {
	for q, want := range map[PerOp]int64{
		0: 0, 4999: 0, 5000: 1, 9999: 1, 14_999: 1, 15_000: 2, -4999: 0, -5000: -1, -14_999: -1, -15_000: -2,
		math.MaxInt64: 922337203685478, math.MinInt64: -922337203685478,
	} {
		if got := q.Round(); got != want {
			t.Errorf("%v: got %d, want %d", q, got, want)
		}
	}
}

func TestSigned(t *testing.T) {
	for p, want := range map[Percent]string{
		0:             "+0.00 %",
		1:             "+0.0001 %",
		-99:           "-0.0099 %",
		100:           "+0.01 %",
		149:           "+0.01 %",
		150:           "+0.02 %",
		45_200:        "+4.52 %",
		-60_400:       "-6.04 %",
		9_999_950:     "+1000.00 %",
		math.MaxInt64: "+922337203685477.58 %",
		math.MinInt64: "-922337203685477.58 %",
	} {
		if got := p.Signed(); got != want {
			t.Errorf("%d: got %s, want %s", int64(p), got, want)
		}
	}
}

func TestChange(t *testing.T) {
	tests := []struct {
		was, now PerOp
		want     Percent
	}{
		{100, 100, 0},
		{100, 101, 1_0000},
		{100, 99, -1_0000},
		{100, 0, -100_0000},
		{100, -100, -200_0000},
		{3, 4, 33_3333},
		{3, 5, 66_6667},
		{2_000_000, 2_000_001, 1},  // half a ten-thousandth, away from zero
		{2_000_000, 1_999_999, -1}, // likewise
		{2_000_001, 2_000_002, 0},
		{1, math.MaxInt64, math.MaxInt64},
		{1, math.MinInt64, -math.MaxInt64},
		{math.MaxInt64, math.MinInt64, -200_0000},
		{math.MaxInt64, math.MaxInt64 - 1, 0},
		{math.MaxInt64, 1, -100_0000},
	}
	for _, test := range tests {
		if got := Change(test.was, test.now); got != test.want {
			t.Errorf("Change(%d, %d): got %d, want %d", test.was, test.now, got, test.want)
		}
	}
}

func TestChangePanics(t *testing.T) {
	for _, was := range []PerOp{0, -1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Change(%d, 1): want a panic", was)
				}
			}()
			Change(was, 1)
		}()
	}
}

func TestCompareExtremes(t *testing.T) {
	tests := []struct {
		was, now PerOp
		want     Verdict
	}{
		{1, math.MaxInt64, Regressed},
		{math.MaxInt64, 1, Improved},
		{math.MaxInt64, math.MaxInt64, OK},
		{math.MaxInt64, math.MinInt64, Improved},
		{1, 1, OK},
		{1, 2, Regressed},
	}
	for _, test := range tests {
		if got := compare(Ir, test.was, test.now, 0, DefaultLimit); got != test.want {
			t.Errorf("compare(%d, %d): got %v, want %v", test.was, test.now, got, test.want)
		}
	}
}
