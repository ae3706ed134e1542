package exact

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestPackageFlags: what holds for named packages is given for each of them,
// where it stands among the others.
func TestPackageFlags(t *testing.T) {
	p := Package{ImportPath: "m/a"}
	for _, path := range []string{"fmt", "m/a", "m/a [m/a.test]", "m/a.test", "m/b", "m/b [m/a.test]", "m/c"} {
		p.inputs = append(p.inputs, &inputPackage{ImportPath: path})
	}
	tests := []struct {
		name    string
		named   []string
		goflags []string
		flags   []string
		want    []string
	}{
		{"none", []string{"m/a", "m/b"}, []string{"-v"}, nil, nil},
		{"alone", []string{"m/a"}, []string{"-gcflags=-l"}, []string{"-N", "all=-B"}, []string{"-gcflags=-N", "-gcflags=all=-B"}},
		{"not part of it", []string{"m/a", "m/d"}, nil, []string{"-N"}, []string{"-gcflags=-N"}},
		{"part of it", []string{"m/a", "m/b", "m/d"}, nil, []string{"-N -l"}, []string{"-gcflags=m/b=-N -l", "-gcflags=-N -l"}},
		{"standard library", []string{"fmt", "m/a"}, nil, []string{"-N"}, []string{"-gcflags=fmt=-N", "-gcflags=-N"}},
		{"order", []string{"m/a", "m/b"}, nil, []string{"all=-l", " -N", "m/b=-B", ""},
			[]string{"-gcflags=all=-l", "-gcflags=m/b= -N", "-gcflags= -N", "-gcflags=m/b=-B", "-gcflags=m/b=", "-gcflags="}},
		{"GOFLAGS", []string{"m/a", "m/c"}, []string{"-gcflags=-N", "--asmflags=-S", "-gcflags=m/c=-l"}, []string{"m/a=-B"},
			[]string{"-gcflags=m/c=-N", "-gcflags=-N", "-gcflags=m/c=-l", "-gcflags=m/a=-B", "-asmflags=m/c=-S", "-asmflags=-S"}},
	}
	for _, test := range tests {
		g := &Go{named: test.named, flags: test.goflags}
		if got := g.packageFlags(Flags{GCFlags: test.flags}, p); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// TestToolStamps: a compiler that was built again is another one between releases.
func TestToolStamps(t *testing.T) {
	for version, same := range map[string]bool{"go1.26.8": true, "devel go1.27-0123456789": false, "go1.27-devel_0123456789": false} {
		g := &Go{Version: version, Root: t.TempDir(), GOOS: "linux", GOARCH: "amd64"}
		var seen [][]string
		for _, text := range []string{"one", "other"} {
			tool := filepath.Join(g.Root, "pkg", "tool", "linux_amd64", "compile")
			if err := writeOnce(tool, []byte(text)); err != nil {
				t.Fatal(err)
			}
			settings, err := g.BuildSettings()
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, settings)
		}
		if got := slices.Equal(seen[0], seen[1]); got != same {
			t.Errorf("%s: got the same %v, want %v", version, got, same)
		}
	}
}

// TestPackageSettings: a pattern that is a folder depends on where it starts from.
func TestPackageSettings(t *testing.T) {
	for value, same := range map[string]bool{"-N": true, "all=-N": true, "m/...=-N": true, "./...=-N": false, ".=-N": false, " ../b=-N": false} {
		for name, flags := range map[string]Flags{"flag": {GCFlags: []string{value}}, "GOFLAGS": {}} {
			g := Go{dir: "/m"}
			if name == "GOFLAGS" {
				g.flags = []string{"-asmflags=" + value}
			}
			h := g
			h.dir = "/m/sub"
			if got := slices.Equal(g.PackageSettings(flags, Package{}), h.PackageSettings(flags, Package{})); got != same {
				t.Errorf("%s %q: got the same elsewhere %v, want %v", name, value, got, same)
			}
		}
	}
}

// TestSettingsValues: of several values those count that no later one replaces.
func TestSettingsValues(t *testing.T) {
	g := &Go{flags: []string{"-gcflags=all=-N", "-gcflags=-l", "-gcflags=-B"}}
	if got, want := g.Settings(Flags{}), []string{"-gcflags=all=-N", "-gcflags=-B"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := g.Settings(Flags{GCFlags: []string{"m/b=-l"}}), []string{"-gcflags=all=-N", "-gcflags=-B", "-gcflags=m/b=-l"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := g.Settings(Flags{GCFlags: []string{"-l"}}), []string{"-gcflags=all=-N", "-gcflags=-l"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
