package floe_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The package and the one below it import the standard library and nothing else.
func TestImports(t *testing.T) {
	const this = "github.com/cachekit-go/cachekit/core/floe"
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".", "./lowlevel").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	if len(all) < 3 {
		t.Errorf("only %v", all)
	}
	for _, path := range all {
		if path != this && !strings.HasPrefix(path, this+"/") {
			t.Errorf("imports %s", path)
		}
	}
}
