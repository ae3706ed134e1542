package explain

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/pprof/profile"
)

// TestWritePprof: the values add up to the whole, and equal profiles are equal
// bytes.
func TestWritePprof(t *testing.T) {
	p := profileOf(nil,
		at{"example.com/m%2ev2.F", "m.go", 2, 300}, at{"example.com/m%2ev2.F", goroot + "strings/strings.go", 7, 5},
		at{"example.com/m%2ev2.F", "", 0, 4}, at{"memcpy", "", 0, 90})
	var one, two bytes.Buffer
	for _, b := range []*bytes.Buffer{&one, &two} {
		if err := p.WritePprof(b, "F", func(file string) string { return "/src/" + file }); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("two profiles of the same counts differ")
	}
	got, err := profile.Parse(&one)
	if err != nil {
		t.Fatal(err)
	}
	if x := got.SampleType[0]; x.Type != "Ir" || x.Unit != "count" {
		t.Errorf("got sample type %v", x)
	}
	if want := []string{"F: instructions of 10 iterations"}; !slices.Equal(got.Comments, want) {
		t.Errorf("got comments %q, want %q", got.Comments, want)
	}
	type sample struct {
		name, file string
		line, ir   int64
	}
	var samples []sample
	for _, s := range got.Sample {
		l := s.Location[0].Line[0]
		samples = append(samples, sample{l.Function.Name, l.Function.Filename, l.Line, s.Value[0]})
	}
	want := []sample{
		{"example.com/m.v2.F", "", 0, 4},
		{"example.com/m.v2.F", "/src/" + goroot + "strings/strings.go", 7, 5},
		{"example.com/m.v2.F", "/src/m.go", 2, 300},
		{"memcpy", "", 0, 90},
	}
	if !slices.Equal(samples, want) {
		t.Errorf("got %v, want %v", samples, want)
	}
}
