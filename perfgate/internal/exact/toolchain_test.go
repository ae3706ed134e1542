package exact

import (
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
