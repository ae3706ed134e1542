//go:build linux

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// text returns a document as perfgate writes it: rows of name and Ir/op in two
// packages.
func text(starts int, rows ...string) string {
	var benchmarks, totals []string
	for _, r := range rows {
		pkg, rest, _ := strings.Cut(r, " ")
		name, ir, _ := strings.Cut(rest, " ")
		benchmarks = append(benchmarks, fmt.Sprintf(`    {
      "pkg": %q,
      "name": %q,
      "ir_per_op": %s,
      "k": 2
    }`, pkg, name, ir))
		totals = append(totals, fmt.Sprintf(`      {
        "pkg": %q,
        "name": %q,
        "low_ir": 1000,
        "high_ir": 2000
      }`, pkg, name))
	}
	return fmt.Sprintf(`{
  "schema": 1,
  "target": {
    "goos": "linux"
  },
  "benchmarks": [
%s
  ],
  "run": {
    "seconds": 1.5,
    "valgrind_starts": %d,
    "totals": [
%s
    ]
  }
}
`, strings.Join(benchmarks, ",\n"), starts, strings.Join(totals, ",\n"))
}

func parsed(t *testing.T, text string) *document {
	t.Helper()
	d, err := parseDocument([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCompare(t *testing.T) {
	base := text(9, "p A 10.25", "p B/x=1 7", "q C 3")
	swap := func(old, new string) string { return strings.Replace(base, old, new, 1) }
	tests := []struct {
		name, other   string
		want          []string // at different places
		wantSamePlace []string // more at one place
	}{
		{"equal", base, nil, nil},
		{"seconds and starts", strings.Replace(swap("1.5", "99"), "starts\": 9", "starts\": 8", 1), nil, nil},
		{"one count", swap("10.25", "10.26"), []string{"p A: 10.25 and 10.26 Ir/op"}, nil},
		{"a count's form", swap("10.25", "10.250"), []string{"p A: 10.25 and 10.250 Ir/op"}, nil},
		{"another member of a row", swap(`"k": 2`, `"k": 3`), []string{"p A: equal Ir/op, but the rows differ"}, nil},
		{"a row more", text(9, "p A 10.25", "p B/x=1 7", "q C 3", "q D 4"), []string{"q D: only here"}, []string{"member run.totals"}},
		{"a row less", text(9, "p A 10.25", "q C 3"), []string{"p B/x=1: missing"}, []string{"member run.totals"}},
		{"order", text(9, "p B/x=1 7", "p A 10.25", "q C 3"), []string{"member benchmarks: its order or its form"}, []string{"member run.totals: its form"}},
		{"target", swap("linux", "plan9"), []string{"member target"}, nil},
		{"new member", swap(`"schema": 1`, `"schema": 1, "notes": []`), []string{"member notes"}, nil},
		{"a total", swap("2000", "2001"), nil, []string{"p A: totals differ by +0 and +1 Ir"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := parsed(t, base), parsed(t, tt.other)
			if got := compare(a, b, false); !slices.Equal(got, tt.want) {
				t.Errorf("elsewhere: got %q, want %q", got, tt.want)
			}
			want := append(slices.Clone(tt.want), tt.wantSamePlace...)
			slices.Sort(want)
			if got := compare(a, b, true); !slices.Equal(got, want) {
				t.Errorf("in place: got %q, want %q", got, want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	fault := strings.Replace(text(9, "p A 1"), `"k": 2`, `"verdict": "unstable", "reason": "1 and 2"`, 1)
	tests := []struct{ name, text, want string }{
		{"enough starts", text(4, "p A 1", "p B 2"), ""},
		{"too few starts", text(3, "p A 1", "p B 2"), "3 starts of valgrind for 2 benchmarks"},
		{"fault", fault, "p A: unstable: 1 and 2"},
		{"no count", strings.Replace(text(9, "p A 1"), `"ir_per_op": 1,`, "", 1), "p A"},
		{"nothing", text(9), "nothing to measure"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := parsed(t, tt.text).check()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if err := parsed(t, text(9)).check(); !errors.Is(err, errNothing) {
		t.Errorf("got %v, want %v", err, errNothing)
	}
}

func TestParseDocumentCut(t *testing.T) {
	whole := strings.TrimSpace(text(4, "p A 1", "q B 2"))
	for i := range whole {
		if _, err := parseDocument([]byte(whole[:i])); err == nil {
			t.Fatalf("no error for the first %d bytes", i)
		}
	}
}

func TestOnly(t *testing.T) {
	whole, part := text(9, "p A 10.25", "p B 7", "q C 3"), text(5, "p A 10.25", "p B 7")
	d, err := parsed(t, whole).only(parsed(t, part))
	if err != nil {
		t.Fatal(err)
	}
	if got := compare(d, parsed(t, part), true); got != nil {
		t.Errorf("got %q, want no difference", got)
	}
}

func TestSpread(t *testing.T) {
	got := spread([]*document{
		parsed(t, text(9, "p A 100", "p B 7")), parsed(t, text(9, "p A 98", "p B 7")), parsed(t, text(9, "p A 99", "p B 7")),
	})
	want := []string{"p A: 98 to 100 Ir/op, 2.0408 %"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
