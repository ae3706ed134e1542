package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const fileSchema = 1

// FileName is the name of the budget file.
const FileName = "baselines.json"

// A File is the content of baselines.json: the budgets of every target.
type File struct {
	Sets []Set
}

// A Set is the budgets of one target, all measured with one toolchain.
type Set struct {
	Target
	Toolchain
	Rows map[Key]Budget
}

// A Budget is what one benchmark may cost.
type Budget struct {
	Ir          PerOp   `json:"ir"`                     // instructions per operation, positive
	K           int     `json:"k"`                      // exponent of the iterations it was measured with; a check uses the same
	Allocs      PerOp   `json:"allocs"`                 // heap allocations per operation
	Bytes       PerOp   `json:"bytes"`                  // heap bytes per operation
	Limit       Percent `json:"limit,omitempty"`        // its own limit for Ir; 0 for the default
	AllocsLimit Percent `json:"allocs_limit,omitempty"` // its own for Allocs
	BytesLimit  Percent `json:"bytes_limit,omitempty"`  // its own for Bytes
	Reason      string  `json:"reason,omitempty"`       // why it was raised last; "" if it never was
	CGO         bool    `json:"-"`                      // of the set it stands in

	incomparable string // why it cannot judge this run
	otherPatch   string // its set has another patch release of Go
	spread       PerOp  // as a sample's
	accepted     Limit  // wider than its own, for this run alone; zero for none
}

// Of returns the budget for one metric.
func (b *Budget) Of(m Metric) PerOp { return [...]PerOp{b.Ir, b.Allocs, b.Bytes}[m] }

// Own returns the budget's own limit for a metric, 0 if it has none.
func (b *Budget) Own(m Metric) Percent { return *b.own(m) }

func (b *Budget) own(m Metric) *Percent {
	return [...]*Percent{&b.Limit, &b.AllocsLimit, &b.BytesLimit}[m]
}

func (b *Budget) copyLimits(from *Budget) {
	b.Limit, b.AllocsLimit, b.BytesLimit = from.Limit, from.AllocsLimit, from.BytesLimit
}

// dearer reports whether any metric of b is over that of c, or does not compare.
func (b *Budget) dearer(c *Budget) bool {
	return b.K != c.K || b.CGO != c.CGO || b.Ir > c.Ir || b.Allocs > c.Allocs || b.Bytes > c.Bytes
}

// Budgets are the budgets that hold for one target and toolchain, as [Check]
// wants them. The zero value has none.
type Budgets struct {
	Rows    map[Key]Budget
	Base    string   // what they were measured from, as in "base 3f2c1a9"; "" for those of a file
	Exact   bool     // [ExactLimit] for benchmarks that do not allocate and have no limit of their own
	Missing string   // why there are none for this target although there is a file
	Same    []string // packages whose test binaries are those of the base: there is nothing to measure
	Notes   []string

	lacking map[Key]string // why a benchmark is new
}

// Measured makes budgets of samples, those of another commit that base names. A
// benchmark that could not be measured there has a budget that makes it
// incomparable. Limits of their own come from file; Measured takes no counts
// from it.
func Measured(samples []Sample, base string, file Budgets) Budgets {
	b := Budgets{Rows: make(map[Key]Budget), Base: base}
	for i := range samples {
		s := &samples[i]
		if s.IsPackage() {
			continue
		}
		r := budgetOf(s)
		limits := file.Rows[s.Key]
		r.copyLimits(&limits)
		r.spread = s.Spread
		if f := s.fault(); f != nil {
			reason, _, _ := strings.Cut(f.Reason, "\n")
			r.incomparable = fmt.Sprintf("%s in %s: %s", f.Verdict, base, reason)
		}
		b.Rows[s.Key] = r
	}
	return b
}

// Accept raises the limits of the rows that match to limit, where they are
// lower, and records from as where it came from, as in
// "Perf-Accept of commit 3f2c1a9". It returns how many rows match.
func (b *Budgets) Accept(match func(Key) bool, limit Percent, from string) int {
	n := 0
	for k, r := range b.Rows {
		if !match(k) {
			continue
		}
		n++
		if limit > r.accepted.Pct {
			r.accepted = Limit{limit, from}
			b.Rows[k] = r
		}
	}
	return n
}

func (b Budgets) keys() []Key {
	return slices.SortedFunc(maps.Keys(b.Rows), Key.Compare)
}

// K returns the exponent that the budget of k was measured with, if it has one.
func (b Budgets) K(k Key) (int, bool) {
	r, ok := b.Rows[k]
	return r.K, ok
}

// withCGO returns t for packages built with or without cgo. A module that has
// both kinds has two sets of budgets.
func (t Target) withCGO(on bool) Target {
	t.CGO = cgoDigit(on)
	return t
}

func (f *File) find(t Target) *Set {
	for i := range f.Sets {
		if f.Sets[i].Target == t {
			return &f.Sets[i]
		}
	}
	return nil
}

// Budgets selects the budgets of target t, with and without cgo, for a run with
// toolchain tc.
func (f *File) Budgets(t Target, tc Toolchain) Budgets {
	b := Budgets{Rows: make(map[Key]Budget)}
	found := false
	for _, cgo := range []bool{false, true} {
		set := f.find(t.withCGO(cgo))
		if set == nil {
			continue
		}
		found = true
		incomparable, otherPatch, note := compareToolchains(set.Toolchain, tc)
		if note != "" && !slices.Contains(b.Notes, note) {
			b.Notes = append(b.Notes, note)
		}
		for k, r := range set.Rows {
			r.incomparable, r.otherPatch = incomparable, otherPatch
			b.Rows[k] = r
		}
	}
	if !found && len(f.Sets) > 0 {
		b.Missing = "the budget file has no target like this machine: " + f.nearest(t)
	}
	return b
}

// nearest describes the set that differs least from t.
func (f *File) nearest(t Target) string {
	best := ""
	for _, s := range f.Sets {
		if d := s.Diff(t.withCGO(s.CGO == "1")); best == "" || strings.Count(d, ",") < strings.Count(best, ",") {
			best = d
		}
	}
	return best
}

func compareToolchains(was, now Toolchain) (incomparable, otherPatch, note string) {
	if Release(was.Go) != Release(now.Go) {
		return fmt.Sprintf("budgets are for %s, this is %s", was.Go, now.Go), "", ""
	}
	var notes []string
	if was.Go != now.Go {
		otherPatch = fmt.Sprintf("over the limit, but the budget is for %s and this is %s", was.Go, now.Go)
		notes = append(notes, fmt.Sprintf("budgets are for %s, this is %s", was.Go, now.Go))
	}
	if was.Valgrind != now.Valgrind {
		notes = append(notes, fmt.Sprintf("budgets were recorded with valgrind %s, this is %s", was.Valgrind, now.Valgrind))
	}
	if notes != nil {
		note = strings.Join(notes, "; ") + ": compared all the same"
	}
	return incomparable, otherPatch, note
}

type fileJSON struct {
	Schema  int       `json:"schema"`
	Targets []setJSON `json:"targets"`
}

type setJSON struct {
	Target
	Toolchain
	Benchmarks map[string]map[string]Budget `json:"benchmarks"`
}

// ParseFile reads baselines.json. It takes only what [File.Format] writes: a
// file that does not round-trip byte for byte is refused, and the error names
// the line.
func ParseFile(b []byte) (*File, error) {
	if i := bytes.IndexByte(b, '\r'); i >= 0 {
		return nil, fmt.Errorf("line %d: it has carriage returns: tell git to leave it alone (baselines.json -text in .gitattributes) and check it out again", 1+bytes.Count(b[:i], []byte("\n")))
	}
	if line := conflictLine(b); line > 0 {
		return nil, fmt.Errorf("line %d: a git conflict marker: take either side (git checkout --ours or --theirs), then run `perfgate update`", line)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var j fileJSON
	if err := d.Decode(&j); err != nil {
		return nil, describeJSONError(b, err)
	}
	switch {
	case j.Schema == 0:
		return nil, errors.New(`no "schema": this is not a budget file; delete it and record anew with "perfgate update"`)
	case j.Schema != fileSchema:
		return nil, fmt.Errorf("schema %d: this perfgate reads schema %d", j.Schema, fileSchema)
	}
	f := new(File)
	for _, s := range j.Targets {
		if err := f.add(s); err != nil {
			return nil, err
		}
	}
	if line, want, have := firstDifference(f.Format(), b); line > 0 {
		return nil, fmt.Errorf("line %d: not as perfgate writes it (a repeated key, or an edit by hand?): want %q, have %q; restore the file from git", line, want, have)
	}
	return f, nil
}

// add appends a set. It refuses a target or a benchmark that is there already,
// since only one of the two would be looked at.
func (f *File) add(s setJSON) error {
	if s.CGO != "0" && s.CGO != "1" {
		return fmt.Errorf("cgo_enabled %q is neither 0 nor 1", s.CGO)
	}
	if f.find(s.Target) != nil {
		return fmt.Errorf("two targets are equal: %s", mustJSON(s.Target))
	}
	set := Set{Target: s.Target, Toolchain: s.Toolchain, Rows: make(map[Key]Budget)}
	other := f.find(s.withCGO(s.CGO == "0"))
	for _, pkg := range slices.Sorted(maps.Keys(s.Benchmarks)) {
		for _, name := range slices.Sorted(maps.Keys(s.Benchmarks[pkg])) {
			k, r := Key{pkg, name}, s.Benchmarks[pkg][name]
			if err := r.validate(); err != nil {
				return fmt.Errorf("%s %s: %w", pkg, name, err)
			}
			if other != nil {
				if _, ok := other.Rows[k]; ok {
					return fmt.Errorf("%s %s: it has a budget with cgo and one without", pkg, name)
				}
			}
			r.CGO = s.CGO == "1"
			set.Rows[k] = r
		}
	}
	f.Sets = append(f.Sets, set)
	return nil
}

func (b *Budget) validate() error {
	switch {
	case b.Ir <= 0:
		return fmt.Errorf("ir %v is not positive", b.Ir)
	case b.K < 0 || b.K > MaxK:
		return fmt.Errorf("k %d is not in 0 to %d", b.K, MaxK)
	case b.Allocs < 0 || b.Bytes < 0:
		return errors.New("allocs and bytes must not be negative")
	}
	for _, m := range Metrics() {
		if l := b.Own(m); l < 0 {
			return fmt.Errorf("limit %v for %v is not positive", l, m)
		}
	}
	return nil
}

func conflictLine(b []byte) int {
	n := 0
	for line := range bytes.Lines(b) {
		n++
		for _, marker := range []string{"<<<<<<< ", "=======\n", ">>>>>>> ", "||||||| "} {
			if bytes.HasPrefix(line, []byte(marker)) {
				return n
			}
		}
	}
	return 0
}

// describeJSONError adds the line, as far as it can be known.
func describeJSONError(b []byte, err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("line %d: the file ends too early; restore it from git", 1+bytes.Count(b, []byte("\n")))
	}
	var offset int64
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	} else if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = kind.Offset
	} else if i := bytes.Index(b, []byte(quotation.FindString(err.Error())+":")); i > 0 {
		offset = int64(i) // an unknown field: json does not tell the place
	} else {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(b[:offset], []byte("\n")), err)
}

var quotation = regexp.MustCompile(`"[^"]+"`)

// firstDifference returns the number of the first line that differs, 0 if none.
func firstDifference(want, have []byte) (line int, w, h string) {
	if bytes.Equal(want, have) {
		return 0, "", ""
	}
	ws, hs := strings.Split(string(want), "\n"), strings.Split(string(have), "\n")
	at := func(s []string, i int) string {
		if i < len(s) {
			return strings.TrimSpace(s[i])
		}
		return "end of file"
	}
	for i := range max(len(ws), len(hs)) {
		if i >= len(ws) || i >= len(hs) || ws[i] != hs[i] {
			return i + 1, at(ws, i), at(hs, i)
		}
	}
	return 0, "", ""
}

// Format returns the canonical text of baselines.json: targets and benchmarks
// sorted, one benchmark a line.
func (f *File) Format() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"schema\": %d,\n  \"targets\": [", fileSchema)
	sets := slices.SortedFunc(slices.Values(f.Sets), func(a, b Set) int {
		return bytes.Compare(mustJSON(a.Target), mustJSON(b.Target))
	})
	for i, s := range sets {
		comma(&b, i)
		b.WriteString("\n    {\n")
		for _, v := range []any{s.Target, s.Toolchain} {
			writeFields(&b, mustJSON(v))
		}
		b.WriteString("      \"benchmarks\": {")
		pkg := ""
		rows := 0
		for _, k := range (Budgets{Rows: s.Rows}).keys() {
			if k.Pkg != pkg || rows == 0 {
				if rows > 0 {
					b.WriteString("\n        },")
				}
				fmt.Fprintf(&b, "\n        %s: {", mustJSON(k.Pkg))
				pkg, rows = k.Pkg, 0
			}
			comma(&b, rows)
			fmt.Fprintf(&b, "\n          %s: %s", mustJSON(k.Name), spaced(mustJSON(s.Rows[k])))
			rows++
		}
		if rows > 0 {
			b.WriteString("\n        }\n      ")
		}
		b.WriteString("}\n    }")
	}
	if len(sets) > 0 {
		b.WriteString("\n  ")
	}
	b.WriteString("]\n}\n")
	return b.Bytes()
}

func comma(b *bytes.Buffer, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}

// mustJSON encodes values whose encoding cannot fail, without escaping <, > and &.
func mustJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("gate: encoding " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// writeFields writes the members of a flat JSON object, a line each.
func writeFields(b *bytes.Buffer, object []byte) {
	var indented bytes.Buffer
	if err := json.Indent(&indented, object, "    ", "  "); err != nil {
		panic("gate: indenting " + err.Error())
	}
	lines := strings.Split(indented.String(), "\n")
	for _, l := range lines[1 : len(lines)-1] {
		b.WriteString(strings.TrimSuffix(l, ",") + ",\n")
	}
}

// spaced puts a space after each colon and comma between the members of a flat
// JSON object.
func spaced(object []byte) []byte {
	var b bytes.Buffer
	inString, escaped := false, false
	for _, c := range object {
		b.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case !inString && (c == ':' || c == ','):
			b.WriteByte(' ')
		}
	}
	return b.Bytes()
}
