package gate

import (
	"fmt"
	"strings"
	"testing"
)

func TestDiffFiles(t *testing.T) {
	budget := func(ir PerOp, reason string) Budget { return Budget{Ir: ir * scale, K: 2, Reason: reason} }
	old := fileOf(map[string]Budget{
		"Same": budget(5, "once"), "Raised": budget(5, ""), "Lowered": budget(5, "once"), "Gone": budget(5, "once"),
		"Limited": budget(5, "once"), "Heap": budget(5, ""), "Moved": budget(5, ""),
	})
	now := fileOf(map[string]Budget{
		"Same": budget(5, "once"), "Raised": budget(6, "meant"), "Lowered": budget(4, "once"), "Young": budget(7, ""),
		"Limited": {Ir: 5 * scale, K: 2, Reason: "once", BytesLimit: 5_0000}, "Heap": {Ir: 4 * scale, Allocs: scale, K: 2, Reason: "a copy"},
	})
	now.Sets = append(now.Sets, Set{Target: target.withCGO(true), Toolchain: tools, Rows: map[Key]Budget{
		key("Moved"): {Ir: 9 * scale, K: 2, Reason: "calls C", CGO: true},
	}}, Set{Target: target.withLevel("v3"), Toolchain: tools, Rows: map[Key]Budget{key("Young"): budget(3, "")}})
	var got []string
	for _, c := range DiffFiles(old, now) {
		ir := func(b *Budget) string {
			if b == nil {
				return "none"
			}
			return b.Ir.String()
		}
		got = append(got, fmt.Sprintf("%s %s %s→%s %s", c.Name, c.Target.Level, ir(c.Old), ir(c.New), c.Reason))
	}
	want := `Gone v1 5→none 
Heap v1 5→4 a copy
Limited v1 5→5 
Lowered v1 5→4 
Moved v1 5→9 calls C
Raised v1 5→6 meant
Young v1 none→7 
Young v3 none→3 `
	if g := strings.Join(got, "\n"); g != want {
		t.Errorf("got\n%s\nwant\n%s", g, want)
	}
	for _, same := range []*File{old, now, new(File)} {
		again, err := ParseFile(same.Format())
		if err != nil {
			t.Fatal(err)
		}
		if d := DiffFiles(same, again); len(d) != 0 {
			t.Errorf("got %+v, want none", d)
		}
	}
}
