package lines

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestMap(t *testing.T) {
	tests := []struct {
		old, new string // a line for each letter
		want     []int
	}{
		{"", "", []int{1}},
		{"abc", "abc", []int{1, 2, 3}},
		{"abc", "xabc", []int{2, 3, 4}},
		{"abc", "abxc", []int{1, 2, 4}},
		{"abc", "ac", []int{1, 0, 2}},
		{"abc", "axc", []int{1, 0, 3}},
		{"abc", "xyz", []int{0, 0, 0}},
		{"abc", "", []int{0, 0, 0}},
		{"ab", "abb", []int{1, 2}},                    // the second b is new
		{"{a}{b}", "{b}{a}", []int{1, 0, 3, 4, 0, 6}}, // neither of the two that changed places
		{"xab}cd}y", "zab}e}cd}w", []int{0, 2, 3, 4, 7, 8, 9, 0}},
	}
	for _, test := range tests {
		split := func(s string) string { return strings.Join(strings.Split(s, ""), "\n") }
		if got := Map(split(test.old), split(test.new)); !slices.Equal(got, test.want) {
			t.Errorf("%q to %q: got %v, want %v", test.old, test.new, got, test.want)
		}
	}
}

// TestMapLong: a file as large as the largest of the runtime, changed in a
// hundred places.
func TestMapLong(t *testing.T) {
	var old, changed []string
	var want []int
	for i := range 10_000 {
		line := fmt.Sprintf("line %d", i)
		if i%3 == 0 {
			line = "}"
		}
		old = append(old, line)
		if i%100 == 1 {
			changed = append(changed, fmt.Sprintf("more %d", i))
		}
		changed = append(changed, line)
		want = append(want, len(changed))
	}
	if got := Map(strings.Join(old, "\n"), strings.Join(changed, "\n")); !slices.Equal(got, want) {
		t.Error("lines are not where they were moved to")
	}
}

// FuzzMap: what is mapped is equal, and in order.
func FuzzMap(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nb\nb")
	f.Fuzz(func(t *testing.T, old, new string) {
		a, b := strings.Split(old, "\n"), strings.Split(new, "\n")
		last := 0
		for i, n := range Map(old, new) {
			if n == 0 {
				continue
			}
			if n <= last || n > len(b) || a[i] != b[n-1] {
				t.Fatalf("line %d became line %d after line %d", i+1, n, last)
			}
			last = n
		}
	})
}
