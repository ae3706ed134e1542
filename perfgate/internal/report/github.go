package report

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// maxAnnotations is how many errors, and how many warnings, GitHub shows of one step.
const maxAnnotations = 10

// WriteGitHub writes annotations for GitHub Actions: an error for each row that
// fails under o, a warning for each that is near its limit, at the benchmark's
// file and line, and a notice with the summary and with how many rows found no
// room. folder is where perfgate runs, slash-separated and relative to the
// repository; "" for its root.
//
// See "Workflow commands for GitHub Actions" in GitHub's documentation.
func (d *Document) WriteGitHub(w io.Writer, folder string, o gate.Options) error {
	b := bufio.NewWriter(w)
	_, rows := d.split(true)
	for _, r := range d.Benchmarks {
		if r.verdict() == gate.New && r.IrPerOp != nil {
			rows = append([]Benchmark{r}, rows...)
		}
	}
	rows = alike(rows)
	n := make(map[string]int)
	for i := len(rows) - 1; i >= 0; i-- { // the worst is last
		r := &rows[i]
		level := r.level(o)
		if level == "" {
			continue
		}
		if n[level]++; n[level] <= maxAnnotations {
			r.annotate(b, level, folder, d.severalPackages())
		}
	}
	more := ""
	for _, level := range []string{"error", "warning"} {
		if left := n[level] - maxAnnotations; left > 0 {
			more += fmt.Sprintf("; not shown: %s", plural(left, "more "+level))
		}
	}
	fmt.Fprintf(b, "::notice title=perfgate::%s\n", escapeData(d.Summary+more))
	return b.Flush()
}

// level is how a row is annotated: "error", "warning", or "" for not at all.
func (b *Benchmark) level(o gate.Options) string {
	switch {
	case gate.Exit([]gate.Row{{Verdict: b.verdict()}}, o) != gate.ExitOK:
		return "error"
	case b.verdict() == gate.Warned:
		return "warning"
	}
	return ""
}

func (b *Benchmark) annotate(w io.Writer, level, folder string, several bool) {
	title := b.label(several) + " " + b.verdict().String() + b.worst()
	var text []string
	if all := b.compared(); all != nil {
		was, now := figures(all[0].Metric, all[0].Budget, all[0].now)
		text = append(text, fmt.Sprintf("%s → %s %v, %s", was, now, all[0].Metric, all[0].limit()), beside(all[1:]))
	}
	text = append(text, lines(b.Reason, maxReason)...)
	text = append(text, b.Notes...)
	text = append(text, explained(b.Explanation)...)
	place := ""
	if b.File != "" {
		place = fmt.Sprintf("file=%s,line=%d,", escapeProperty(path.Join(folder, b.File)), max(1, b.Line))
	}
	fmt.Fprintf(w, "::%s %stitle=%s::%s\n", level, place, escapeProperty(shorten(title, 200)), escapeData(strings.Join(text, "\n")))
}

// escapeData escapes the message of a workflow command.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// escapeProperty escapes the value of one of its properties.
func escapeProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeData(s))
}
