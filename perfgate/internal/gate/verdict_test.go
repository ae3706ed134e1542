package gate

import (
	"encoding/json"
	"testing"
)

func TestExit(t *testing.T) {
	stale, allowed := Options{StaleFails: true}, Options{NewAllowed: true}
	all := Options{NewAllowed: true, StaleFails: true, RemovedAllowed: true}
	tests := []struct {
		name string
		rows []Verdict
		o    Options
		want int
	}{
		{"no rows", nil, Options{}, ExitUsage},
		{"no rows, options", nil, all, ExitUsage},
		{"ok", []Verdict{OK}, Options{}, ExitOK},
		{"warned", []Verdict{Warned}, all, ExitOK},
		{"improved", []Verdict{Improved}, Options{}, ExitOK},
		{"improved, stale fails", []Verdict{OK, Improved}, stale, ExitOver},
		{"improved, new allowed", []Verdict{Improved}, allowed, ExitOK},
		{"regressed", []Verdict{OK, Regressed}, all, ExitOver},
		{"removed", []Verdict{Removed, OK}, Options{}, ExitOver},
		{"removed, allowed", []Verdict{Removed, OK}, Options{RemovedAllowed: true}, ExitOK},
		{"broken", []Verdict{Broken}, all, ExitFault},
		{"unstable", []Verdict{OK, Unstable}, Options{}, ExitFault},
		{"empty", []Verdict{Empty}, Options{}, ExitFault},
		{"incomparable", []Verdict{Incomparable, OK}, all, ExitIncomparable},
		{"new", []Verdict{New}, Options{}, ExitIncomparable},
		{"new, stale fails", []Verdict{New}, stale, ExitIncomparable},
		{"new, allowed", []Verdict{New}, allowed, ExitOK},
		{"unjudged", []Verdict{unjudged}, all, ExitFault},
		{"no verdict", []Verdict{OK, OK + 1, 255}, Options{}, ExitFault},
		{"3 over 1", []Verdict{Broken, Regressed}, Options{}, ExitOver},
		{"3 over 1 and 4", []Verdict{Incomparable, Empty, OK, Removed}, Options{}, ExitOver},
		{"1 over 4", []Verdict{Incomparable, OK, Unstable}, Options{}, ExitFault},
		{"1 over new", []Verdict{New, Broken}, Options{}, ExitFault},
		{"stale over incomparable", []Verdict{Incomparable, Improved}, stale, ExitOver},
		{"incomparable and new, allowed", []Verdict{New, Incomparable}, allowed, ExitIncomparable},
		{"all that passes", []Verdict{New, OK, Warned, Improved}, allowed, ExitOK},
	}
	for _, test := range tests {
		var rows []Row
		for _, v := range test.rows {
			rows = append(rows, Row{Verdict: v})
		}
		if got := Exit(rows, test.o); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}

func TestVerdictText(t *testing.T) {
	for v := Regressed; v <= OK; v++ {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var back Verdict
		if err := json.Unmarshal(text, &back); err != nil || back != v {
			t.Errorf("%s: got %v, %v, want %v", text, back, err, v)
		}
	}
	for _, v := range []Verdict{0, OK + 1, 255} {
		if text, err := json.Marshal(v); err == nil {
			t.Errorf("%v: got %s, want an error", v, text)
		}
	}
	for _, word := range []string{"", "unjudged", "OK", "pass", "ok "} {
		var v Verdict
		if err := v.UnmarshalText([]byte(word)); err == nil {
			t.Errorf("%q: got %v, want an error", word, v)
		}
	}
}
