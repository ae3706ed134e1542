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
	want := []sample{
		{"example.com/m.v2.F", "", "", 0, 4},
		{"example.com/m.v2.F", "", "/src/" + goroot + "strings/strings.go", 7, 5},
		{"example.com/m.v2.F", "", "/src/m.go", 2, 300},
		{"memcpy", "", "", 0, 90},
	}
	if samples := samplesOf(t, p); !slices.Equal(samples, want) {
		t.Errorf("got %v, want %v", samples, want)
	}
}

// sample is one of a profile in pprof's format.
type sample struct {
	name, in, file string
	line, ir       int64
}

func samplesOf(t *testing.T, p Profile) []sample {
	t.Helper()
	var b bytes.Buffer
	if err := p.WritePprof(&b, "", func(file string) string { return "/src/" + file }); err != nil {
		t.Fatal(err)
	}
	got, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	var samples []sample
	for _, s := range got.Sample {
		frames := s.Location[0].Line
		x := sample{name: frames[0].Function.Name, file: frames[0].Function.Filename, line: frames[0].Line, ir: s.Value[0]}
		if len(frames) > 1 {
			x.in = frames[1].Function.Name
		}
		samples = append(samples, x)
	}
	return samples
}
