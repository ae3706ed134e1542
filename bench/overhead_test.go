package bench

import (
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// overheads are how much more FLOE may execute for a segment sealed or opened in
// place than a bare call of the standard library's AES-GCM, in percent.
var overheads = map[string]float64{"/segment=4096": 5, "/segment=1048576": 1}

// checkOverheads judges counts of this package's benchmarks by name.
func checkOverheads(t *testing.T, from string, ir map[string]float64) {
	t.Helper()
	for size, limit := range overheads {
		for _, op := range []string{"SealInPlace", "OpenInPlace"} {
			bare, ours := ir["Floe/Bare"+op+size], ir["Floe/"+op+size]
			if bare == 0 || ours == 0 {
				t.Errorf("%s has no count of %s%s", from, op, size)
				continue
			}
			pct := 100 * (ours - bare) / bare
			t.Logf("%s: %s%s: %.0f Ir, bare %.0f, %+.3f %%", from, op, size, ours, bare, pct)
			if pct > limit {
				t.Errorf("%s: %s%s executes %.2f %% more than bare AES-GCM, want at most %v %%", from, op, size, pct, limit)
			}
		}
	}
}

// The committed budgets keep the promise on every target.
func TestFloeOverheadBudgets(t *testing.T) {
	b, err := os.ReadFile("../baselines.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Targets []struct {
			GOOS, GOARCH string
			Benchmarks   map[string]map[string]struct{ Ir float64 }
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Targets) == 0 {
		t.Fatal("no budgets")
	}
	for _, target := range doc.Targets {
		ir := map[string]float64{}
		for name, row := range target.Benchmarks["github.com/cachekit-go/cachekit/bench"] {
			ir[name] = row.Ir
		}
		checkOverheads(t, target.GOOS+"/"+target.GOARCH, ir)
	}
}

// And so does the code as it is, counted now.
func TestFloeOverhead(t *testing.T) {
	if testing.Short() {
		t.Skip("counts for some time")
	}
	if runtime.GOOS != "linux" {
		t.Skip("perfgate counts on Linux only")
	}
	if _, err := exec.LookPath("valgrind"); err != nil {
		t.Fatal("valgrind is not installed: scripts/need valgrind")
	}
	c := exec.Command("go", "run", "./perfgate", "run", "-format", "json", "-bench", "Floe/(Bare)?(Seal|Open)InPlace", "./bench")
	c.Dir = ".."
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Benchmarks []struct {
			Name string
			Ir   float64 `json:"ir_per_op"`
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatalf("reading perfgate's document: %v", err)
	}
	ir := map[string]float64{}
	for _, row := range doc.Benchmarks {
		ir[row.Name] = row.Ir
	}
	checkOverheads(t, "now", ir)
}
