package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/cachekit-go/cachekit/scripts/internal/original"
)

// A table is what one run of either program printed.
type table struct {
	head string   // its first line
	rows []string // names, in their order
	ns   map[string][2]float64
}

// row matches a row of the table: a name, and two times.
var row = regexp.MustCompile(`^\| (.+?) \| ([0-9.]+) (ns|µs|ms) · [0-9.]+ GB/s \| ([0-9.]+) (ns|µs|ms) · [0-9.]+ GB/s \|$`)

// parse reads the table that a program prints.
func parse(text string) (*table, error) {
	t := &table{ns: map[string][2]float64{}}
	t.head, _, _ = strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		m := row.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		var ns [2]float64
		for i := range ns {
			v, err := strconv.ParseFloat(m[2+2*i], 64)
			if err != nil || v <= 0 {
				return nil, fmt.Errorf("%q is no time", m[2+2*i])
			}
			ns[i] = v * map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6}[m[3+2*i]]
		}
		t.rows = append(t.rows, m[1])
		t.ns[m[1]] = ns
	}
	if len(t.rows) == 0 {
		return nil, errors.New("it has no rows")
	}
	return t, nil
}

// pairs are the rows that are compared: ours, and the original's.
var pairs = [][2]string{
	{"`Store`", "`ByteStorage::store`"},
	{"`Retrieve`", "`ByteStorage::retrieve`"},
	{"`Encryptor.Seal`", "`encrypt_aes_gcm`"},
	{"`Encryptor.Open`", "`decrypt_aes_gcm`"},
	{"`NewEncryptor`, `Seal`", "`encrypt_aes_gcm`"},
	{"`NewEncryptor`, `Open`", "`decrypt_aes_gcm`"},
}

// compare prints our times divided by the original's: for each pair of runs that
// followed each other a ratio, and of these the median and the range.
func compare(w io.Writer, theirs, ours []*table) error {
	fmt.Fprintf(w, "%s\n%s\n\n", theirs[0].head, ours[0].head)
	fmt.Fprintf(w, "Our time divided by the original's, median and range of %d runs in alternation:\n\n", len(ours))
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintf(tw, "| Ours\t| Original\t| 1 KiB\t| 64 KiB\t|\n|:-----\t|:---------\t|:------\t|:-------\t|\n")
	for _, p := range pairs {
		var ratios [2][]float64
		for i := range ours {
			a, ok := ours[i].ns[p[0]]
			b, ok2 := theirs[i].ns[p[1]]
			if !ok || !ok2 {
				return fmt.Errorf("a run has no row %s or %s", p[0], p[1])
			}
			for j := range ratios {
				ratios[j] = append(ratios[j], a[j]/b[j])
			}
		}
		fmt.Fprintf(tw, "| %s\t| %s\t| %s\t| %s\t|\n", p[0], p[1], original.Spread(ratios[0]), original.Spread(ratios[1]))
	}
	return tw.Flush()
}
