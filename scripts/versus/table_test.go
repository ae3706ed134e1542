package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cachekit-go/cachekit/scripts/internal/original"
)

// tableOf makes the text of a run whose times are multiples of unit.
func tableOf(head, unit string, names ...string) string {
	text := head + "\nLZ4 compressed/raw ratio: 0.57, 0.37 (1 KiB, 64 KiB)\n\n| Operation | 1 KiB | 64 KiB |\n|:----------|------:|-------:|\n"
	for i, n := range names {
		text += "| " + n + " | " + strings.Repeat("1", i%3+1) + " " + unit + " · 1.00 GB/s | 2.50 ms · 0.03 GB/s |\n"
	}
	return text
}

func ourNames() (names []string) {
	for _, p := range pairs {
		names = append(names, p[0])
	}
	return names
}

func TestParse(t *testing.T) {
	got, err := parse(tableOf("head", "µs", "`a`", "`b`, `c`"))
	if err != nil || got.head != "head" || !slices.Equal(got.rows, []string{"`a`", "`b`, `c`"}) ||
		got.ns["`a`"] != [2]float64{1e3, 2.5e6} || got.ns["`b`, `c`"] != [2]float64{11e3, 2.5e6} {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{"", "head\n", tableOf("head", "s", "`a`"), strings.Replace(tableOf("head", "ns", "`a`"), "| 1 ns", "| 0 ns", 1)} {
		if got, err := parse(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
}

func TestCompare(t *testing.T) {
	var theirs, ours []*table
	for _, unit := range []string{"ns", "µs", "µs"} {
		a, err := parse(tableOf("theirs", "µs", "`ByteStorage::store`", "`ByteStorage::retrieve`", "`encrypt_aes_gcm`", "`decrypt_aes_gcm`"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := parse(tableOf("ours", unit, ourNames()...))
		if err != nil {
			t.Fatal(err)
		}
		theirs, ours = append(theirs, a), append(ours, b)
	}
	var out strings.Builder
	if err := compare(&out, theirs, ours); err != nil {
		t.Fatal(err)
	}
	// Rows 0 to 3 of both have the same times but for the unit of a run.
	if want := "| `Store` | `ByteStorage::store` | 1.00 (0.00 to 1.00) | 1.00 (1.00 to 1.00) |"; !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
		t.Errorf("got\n%s\nwant %s", out.String(), want)
	}
	delete(ours[1].ns, "`Store`")
	if err := compare(&out, theirs, ours); err == nil {
		t.Error("a run without a row is compared")
	}
}

func TestManifestPath(t *testing.T) {
	const text = `{"packages":[{"name":"cachekit-core","version":"0.7.1","manifest_path":"/a"},{"name":"cachekit-core","version":"0.7.2","manifest_path":"/b"}]}`
	if p, err := manifestPath(text); p != "/b" || err != nil {
		t.Errorf("got %q, %v", p, err)
	}
	for _, bad := range []string{"", "{}", strings.ReplaceAll(text, "0.7.2", "0.7.3")} {
		if p, err := manifestPath(bad); err == nil {
			t.Errorf("%q has %q", bad, p)
		}
	}
	if !strings.Contains(manifest, crate+` = { version = "=`+version+`"`) {
		t.Error("the manifest asks for another crate")
	}
}

func TestNoCargo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := run(t.Context()); !errors.Is(err, original.ErrNoCargo) {
		t.Errorf("got %v", err)
	}
}
