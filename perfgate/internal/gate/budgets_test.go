package gate

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// sampleFile is a file with two targets, one of them with and without cgo, made
// by perfgate update but for the second target.
const sampleFile = "testdata/baselines.json"

func readSample(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(sampleFile)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseFile(t *testing.T) {
	text := readSample(t)
	f, err := ParseFile(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Format(); !bytes.Equal(got, text) {
		t.Errorf("got %s, want %s", got, text)
	}
	if len(f.Sets) != 3 {
		t.Fatalf("got %d targets, want 3", len(f.Sets))
	}
	b := f.Budgets(target, tools)
	if b.Missing != "" || len(b.Notes) != 0 || len(b.Rows) != 5 {
		t.Fatalf("got %d budgets, missing %q, notes %q, want 5 budgets", len(b.Rows), b.Missing, b.Notes)
	}
	got := b.Rows[Key{"example.com/m/bench", "Store/data=records/size=65536"}]
	want := Budget{Ir: 29_134_200, K: 2, Allocs: 30_000, Bytes: 1_285_000, Limit: 1000, Reason: `checks every block now: "a <b> & c"`}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if k, ok := b.K(Key{"example.com/m/bench", "Store/data=records/size=65536"}); k != 2 || !ok {
		t.Errorf("K: got %d, %v, want 2, true", k, ok)
	}
	if k, ok := b.K(key("Nope")); k != 0 || ok {
		t.Errorf("K: got %d, %v, want 0, false", k, ok)
	}
	if !b.Rows[Key{"example.com/m/native", "Call"}].CGO {
		t.Error("the budget of a set with cgo is for a build without")
	}
}

func TestFormatEmpty(t *testing.T) {
	for _, f := range []*File{{}, {Sets: []Set{{Target: target, Toolchain: tools}}}} {
		text := f.Format()
		g, err := ParseFile(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := g.Format(); !bytes.Equal(got, text) {
			t.Errorf("got %s, want %s", got, text)
		}
	}
}

// TestFormatOrder: what is equal but for its order is formatted alike.
func TestFormatOrder(t *testing.T) {
	f, err := ParseFile(readSample(t))
	if err != nil {
		t.Fatal(err)
	}
	f.Sets[0], f.Sets[1], f.Sets[2] = f.Sets[2], f.Sets[0], f.Sets[1]
	if got := f.Format(); !bytes.Equal(got, readSample(t)) {
		t.Errorf("got %s, want the same as before", got)
	}
}

func TestParseFileTruncated(t *testing.T) {
	text := readSample(t)
	for n := range text {
		if f, err := ParseFile(text[:n]); err == nil {
			t.Fatalf("cut at byte %d: got %d targets, want an error", n, len(f.Sets))
		}
	}
}

// TestParseFileChanged flips each byte: no change may go unseen, and one that
// is a budget must read as it stands.
func TestParseFileChanged(t *testing.T) {
	text := readSample(t)
	for n := range text {
		for _, c := range []byte{0, ' ', '0', '9', '"', ',', '\n', text[n] ^ 0x80} {
			changed := bytes.Clone(text)
			changed[n] = c
			if f, err := ParseFile(changed); err == nil && !bytes.Equal(f.Format(), changed) {
				t.Fatalf("byte %d is %q: it does not round-trip", n, c)
			}
		}
	}
}

func TestParseFileRefuses(t *testing.T) {
	text := string(readSample(t))
	head := text[:strings.Index(text, `      "benchmarks"`)]
	replaced := func(old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("the sample has no %q", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	line := func(part string) int {
		return 1 + strings.Count(text[:strings.Index(text, part)], "\n")
	}
	set := func(cgo, rows string) string {
		return fmt.Sprintf(`{"goos":"linux","goarch":"amd64","level":"v1","goexperiment":"","cgo_enabled":%q,"method":"cachegrind","rules":1,"cpu":"","flags":"","go":"go1.26.8","valgrind":"3.19.0","benchmarks":{%s}}`, cgo, rows)
	}
	file := func(sets ...string) string {
		return `{"schema":1,"targets":[` + strings.Join(sets, ",") + `]}`
	}
	const row = `"p":{"A":{"ir":5,"k":0,"allocs":0,"bytes":0}}`
	tests := []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"blank", " \n\t\n", "the file is empty"},
		{"an object", "{}", `no "schema": this is not a budget file`},
		{"null", "null", `no "schema"`},
		{"a list", "[]", "line 1: json: cannot unmarshal array"},
		{"text", "budgets\n", "line 1: invalid character 'b'"},
		{"other schema", replaced(`"schema": 1`, `"schema": 2`), "schema 2: this perfgate reads schema 1"},
		{"schema of another kind", replaced(`"schema": 1`, `"schema": "1"`), "line 2: json: cannot unmarshal string"},
		{"cut", text[:len(text)/2], "the file ends too early; restore it from git"},
		{"no last newline", text[:len(text)-1], "not as perfgate writes it"},
		{"more after it", text + "{}\n", "not as perfgate writes it"},
		{"blank line after it", text + "\n", "not as perfgate writes it"},
		{"carriage returns", strings.ReplaceAll(text, "\n", "\r\n"), "line 1: it has carriage returns"},
		{"byte order mark", "\ufeff" + text, "line 1: invalid character"},
		{"repeated benchmark", replaced(`"Retrieve/size=1024"`, `"Store/data=records/size=65536"`), "not as perfgate writes it (a repeated key, or an edit by hand?)"},
		{"repeated package", replaced(`"example.com/m/core"`, `"example.com/m/bench"`), "not as perfgate writes it"},
		{"repeated member", replaced(`"k": 2`, `"k": 2, "k": 2`), fmt.Sprintf("line %d: not as perfgate writes it", line(`"k": 2`))},
		{"other order of members", replaced(`"k": 2, "allocs": 3`, `"allocs": 3, "k": 2`), fmt.Sprintf("line %d: not as", line(`"k": 2`))},
		{"other letter case", replaced(`"goos"`, `"GOOS"`), fmt.Sprintf("line %d: not as", line(`"goos"`))},
		{"member missing", replaced(`"k": 2, `, ``), fmt.Sprintf("line %d: not as", line(`"k": 2`))},
		{"member of the target missing", replaced(`      "rules": 1,`+"\n", ``), fmt.Sprintf("line %d: not as", line(`"rules": 1`))},
		{"unknown member of a benchmark", replaced(`"k": 2`, `"k": 2, "colour": 1`), fmt.Sprintf(`line %d: json: unknown field "colour"`, line(`"k": 2`))},
		{"unknown member of a target", replaced(`"rules": 1`, `"colour": 1, "rules": 1`), fmt.Sprintf(`line %d: json: unknown field "colour"`, line(`"rules": 1`))},
		{"comma missing", replaced(`"k": 2,`, `"k": 2`), fmt.Sprintf("line %d: invalid character", line(`"k": 2`))},
		{"no number", replaced(`"k": 2`, `"k": "2"`), fmt.Sprintf("line %d: json: cannot unmarshal string", line(`"k": 2`))},
		{"decimal", replaced(`"ir": 2913.42`, `"ir": 2913.420`), `"2913.420" is not a decimal in its shortest form`},
		{"exponent", replaced(`"ir": 2913.42`, `"ir": 2e3`), `"2e3" is not a decimal in its shortest form`},
		{"too many places", replaced(`"ir": 2913.42`, `"ir": 2913.42001`), `"2913.42001" is not a decimal of at most 4 places`},
		{"out of range", replaced(`"ir": 2913.42`, `"ir": 99999999999999999999`), "99999999999999999999 is out of range"},
		{"zero", replaced(`"ir": 2913.42`, `"ir": 0`), "example.com/m/bench Store/data=records/size=65536: ir 0 is not positive"},
		{"negative", replaced(`"ir": 2913.42`, `"ir": -0.5`), "ir -0.5 is not positive"},
		{"null for a number", replaced(`"ir": 2913.42`, `"ir": null`), `"null" is not a decimal`},
		{"k too large", replaced(`"k": 2`, `"k": 5`), "k 5 is not in 0 to 4"},
		{"k negative", replaced(`"k": 2`, `"k": -1`), "k -1 is not in 0 to 4"},
		{"allocs negative", replaced(`"allocs": 3`, `"allocs": -3`), "must not be negative"},
		{"limit zero", replaced(`"limit": 0.1`, `"limit": 0`), "not as perfgate writes it"},
		{"limit negative", replaced(`"limit": 0.1`, `"limit": -0.1`), "limit -0.1 for Ir/op is not positive"},
		{"no benchmarks", head + `      "benchmarks": null` + "\n    }\n  ]\n}\n", "not as perfgate writes it"},
		{"conflict, ours", replaced(`          "Store/`, "<<<<<<< HEAD\n"+`          "Store/`), fmt.Sprintf("line %d: a git conflict marker: take either side (git checkout --ours or --theirs), then run `perfgate update`", line(`          "Store/`))},
		{"conflict, base", replaced(`          "Store/`, "||||||| 1234567\n"+`          "Store/`), "a git conflict marker"},
		{"conflict, between", replaced(`          "Store/`, "=======\n"+`          "Store/`), "a git conflict marker"},
		{"conflict, theirs", replaced(`          "Store/`, ">>>>>>> topic\n"+`          "Store/`), "a git conflict marker"},
		{"equal targets", file(set("0", row), set("0", "")), "two targets are equal"},
		{"with cgo and without", file(set("0", row), set("1", row)), "p A: it has a budget with cgo and one without"},
		{"neither with cgo nor without", file(set("", row)), `cgo_enabled "" is neither 0 nor 1`},
		{"first of several faults", file(set("0", `"p":{"B":{"ir":-1},"A":{"ir":-1}},"o":{"C":{"ir":-1}}`)), "o C: ir -1 is not positive"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseFile([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
		})
	}
}

func FuzzParseFile(f *testing.F) {
	text := readSample(f)
	f.Add(text)
	f.Add(text[:len(text)/2])
	f.Add((&File{}).Format())
	f.Add([]byte(`{"schema":1,"targets":[]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := ParseFile(b)
		if err != nil {
			return
		}
		if got := file.Format(); !bytes.Equal(got, b) {
			t.Errorf("got %q, want %q", got, b)
		}
		for _, s := range file.Sets {
			for k, r := range s.Rows {
				if r.Ir <= 0 || r.K < 0 || r.K > MaxK || r.CGO != (s.CGO == "1") {
					t.Errorf("%v: got %+v", k, r)
				}
			}
		}
	})
}
