package cachegrind

import (
	"maps"
	"os"
	"strings"
	"testing"
)

func readSample(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/counts")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestParse(t *testing.T) {
	c, err := Parse([]byte(readSample(t)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{
		"example.com/m.Sum": 1827,
		"example.com/m.Max[go.shape.struct { A int; B int }]": 21,
		"runtime.main": 3,
		"???":          2149,
	}
	if c.Total != 4000 || !maps.Equal(c.Functions, want) {
		t.Errorf("got %d, %v, want 4000, %v", c.Total, c.Functions, want)
	}
}

func TestParseTruncated(t *testing.T) {
	text := readSample(t)
	for n := range len(text) {
		if c, err := Parse([]byte(text[:n])); err == nil {
			t.Fatalf("cut at byte %d: got %d, want an error", n, c.Total)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	text := readSample(t)
	replaced := func(old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("the sample has no %q", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	tests := []struct{ name, text, want string }{
		{"empty", "", "the file ends too early (is the disk full?)"},
		{"garbage", "\x00\x01\x02\n", `line 1: "\x00\x01\x02" is not a line of counts`},
		{"no summary", replaced("summary: 4000\n", ""), "ends too early"},
		{"no events", replaced("events: Ir\n", ""), "ends too early"},
		{"zero", "events: Ir\nsummary: 0\n", "no instruction was counted"},
		{"zero lines", "events: Ir\nfn=a\n1 0\nsummary: 0\n", "no instruction was counted"},
		{"negative", "events: Ir\nfn=a\n1 -5\nsummary: -5\n", "line 3"},
		{"sum is less", replaced("12 440", "12 439"), "the lines add up to 3999, the summary says 4000"},
		{"sum is more", replaced("summary: 4000", "summary: 3999"), "the lines add up to 4000, the summary says 3999"},
		{"several events", replaced("events: Ir", "events: Ir I1mr ILmr"), `line 5: events are "Ir I1mr ILmr", not Ir alone`},
		{"other event", replaced("events: Ir", "events: Dr"), `line 5: events are "Dr"`},
		{"several counts", replaced("12 440", "12 440 1"), `line 8: "12 440 1" is not a line of counts`},
		{"no count", replaced("12 440", "12"), "line 8"},
		{"two spaces", replaced("12 440", "12  440"), "line 8"},
		{"negative line", replaced("12 440", "-12 440"), "line 8"},
		{"line too large", replaced("12 440", "4294967296 440"), "line 8"},
		{"not decimal", replaced("12 440", "12 0x1b8"), "line 8"},
		{"summary of several", replaced("summary: 4000", "summary: 4000 5"), `bad summary "4000 5"`},
		{"summary without a number", replaced("summary: 4000", "summary: "), `bad summary ""`},
		{"two summaries", text + "summary: 4000\n", "line 23: text after the summary"},
		{"more after it", text + "1 2\n", "text after the summary"},
		{"blank after it", text + "\n", "text after the summary"},
		{"overflow", "events: Ir\nfn=a\n1 9223372036854775807\n2 9223372036854775807\n3 7\nsummary: 5\n", "line 4"},
		{"too large", "events: Ir\nfn=a\n1 9223372036854775808\nsummary: 5\n", "line 3"},
	}
	for _, test := range tests {
		if c, err := Parse([]byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %d, %v, want %q in the error", test.name, c.Total, err, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	text := readSample(f)
	f.Add([]byte(text))
	f.Add([]byte(text[:len(text)/2]))
	f.Add([]byte("events: Ir\nfn=a\n1 5\nsummary: 5\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Parse(b)
		if err != nil {
			return
		}
		var sum int64
		for name, ir := range c.Functions {
			if ir < 0 || ir > c.Total {
				t.Errorf("%q: got %d of %d", name, ir, c.Total)
			}
			sum += ir
		}
		if sum != c.Total || c.Total <= 0 {
			t.Errorf("got %d, the functions add up to %d", c.Total, sum)
		}
	})
}
