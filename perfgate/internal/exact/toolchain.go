package exact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

// Go is the go command that a module is built with, and what it says of itself.
type Go struct {
	Version    string // as in "go1.26.8"
	GOOS       string
	GOARCH     string
	Level      string // GOAMD64, GOARM64 or the like
	Experiment string // GOEXPERIMENT, "" if not set
	Root       string // GOROOT as the command sees it
	ModFile    string // go.mod of the main module, "" outside of a module
	Work       string // go.work, "" without one
	ModCache   string // GOMODCACHE
	Cache      string // perfgate's own cache folder

	command string
	env     []string
	flags   []string // fields of GOFLAGS
	fips    string   // GOFIPS140
	dir     string
	named   []string // import paths of the packages that the user named
}

// FindGo asks the go command in PATH which toolchain the module in dir is built
// with, and returns that one. Temporary files of the go command go to tmp.
func FindGo(ctx context.Context, dir, tmp string) (*Go, error) {
	env := append(os.Environ(), "GOTMPDIR="+tmp)
	out, err := process.Run(ctx, process.Command{Path: "go", Args: []string{"env", "-json"}, Dir: dir, Env: env})
	if err != nil {
		return nil, fmt.Errorf("asking go for its environment: %w", explain(err, out))
	}
	var v map[string]string
	if err := json.Unmarshal(out.Stdout, &v); err != nil {
		return nil, fmt.Errorf("asking go for its environment: %w", err)
	}
	g := &Go{
		Version: v["GOVERSION"], GOOS: v["GOOS"], GOARCH: v["GOARCH"], Experiment: v["GOEXPERIMENT"],
		Level: v["GO"+strings.ToUpper(v["GOARCH"])], Root: v["GOROOT"], ModCache: v["GOMODCACHE"],
		flags: splitFlags(v["GOFLAGS"]), fips: v["GOFIPS140"], dir: dir,
	}
	if v["GOMOD"] != os.DevNull {
		g.ModFile = v["GOMOD"]
	}
	if v["GOWORK"] != "off" {
		g.Work = v["GOWORK"]
	}
	if host := v["GOHOSTOS"] + "/" + v["GOHOSTARCH"]; host != g.GOOS+"/"+g.GOARCH {
		return nil, fmt.Errorf("GOOS and GOARCH ask for %s/%s, but this machine can only run %s", g.GOOS, g.GOARCH, host)
	}
	if g.Cache, err = cacheDir(v["GOCACHE"]); err != nil {
		return nil, err
	}
	if g.Root, err = outsideModCache(g.Root, v["GOMODCACHE"], g.Cache); err != nil {
		return nil, err
	}
	g.command = filepath.Join(g.Root, "bin", "go")
	g.env = append(env, "GOROOT="+g.Root, "GOTOOLCHAIN=local")
	return g, nil
}

// In returns g for the module in another folder: the same toolchain with the
// same settings, and the workspace file work, if that is not "".
func (g *Go) In(dir, modFile, work string) *Go {
	c := *g
	c.dir, c.ModFile, c.Work = dir, modFile, work
	if work != "" {
		c.env = append(slices.Clip(g.env), "GOWORK="+work)
	}
	return &c
}

// Dir returns the folder of the main module, or that of go.work if it is in the
// module's or there is no module; "" without either.
func (g *Go) Dir() string {
	if g.ModFile == "" && g.Work == "" {
		return ""
	}
	module, work := filepath.Dir(g.ModFile), filepath.Dir(g.Work)
	rel, err := filepath.Rel(module, work)
	if below := err == nil && filepath.IsLocal(rel); g.Work == "" || g.ModFile != "" && !below {
		return module
	}
	return work
}

// A LocalPath is a folder outside of the module cache that a go.mod or go.work
// file names.
type LocalPath struct {
	Path     string // as it stands there
	Replaces string // module, and @version if there is one; "" for a module of go.work
}

// LocalPaths returns the local paths in a go.mod or go.work file.
func (g *Go) LocalPaths(ctx context.Context, file string) ([]LocalPath, error) {
	out, err := g.run(ctx, nil, editor(file), "edit", "-json", file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, explain(err, out))
	}
	type module struct{ Path, Version string }
	var text struct {
		Use     []struct{ DiskPath string }
		Replace []struct{ Old, New module }
	}
	if err := json.Unmarshal(out.Stdout, &text); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	var paths []LocalPath
	for _, u := range text.Use {
		paths = append(paths, LocalPath{Path: u.DiskPath})
	}
	for _, r := range text.Replace {
		if r.New.Version == "" {
			paths = append(paths, LocalPath{r.New.Path, strings.TrimSuffix(r.Old.Path+"@"+r.Old.Version, "@")})
		}
	}
	return paths, nil
}

// SetLocalPath changes one of the local paths in a file of ours to another
// folder; "" takes a module out of a go.work file.
func (g *Go) SetLocalPath(ctx context.Context, file string, p LocalPath, to string) error {
	args := []string{editor(file), "edit"}
	switch {
	case p.Replaces != "":
		args = append(args, "-replace="+p.Replaces+"="+to)
	case to == "":
		args = append(args, "-dropuse="+p.Path)
	default:
		args = append(args, "-dropuse="+p.Path, "-use="+to)
	}
	out, err := g.run(ctx, nil, append(args, file)...)
	if err != nil {
		return fmt.Errorf("editing %s: %w", file, explain(err, out))
	}
	return nil
}

// editor is go's command that reads and edits a file.
func editor(file string) string {
	if filepath.Base(file) == "go.work" {
		return "work"
	}
	return "mod"
}

// cacheDir returns perfgate's folder below the user's cache folder, or, for a
// user who has none, beside Go's build cache.
func cacheDir(gocache string) (string, error) {
	base, err := os.UserCacheDir()
	errs := []error{err} // nil if the user has one
	for _, b := range []string{base, gocache} {
		if b == "" || b == "off" {
			continue
		}
		dir := filepath.Join(b, "perfgate")
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			return dir, nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("no folder for cached files (set XDG_CACHE_HOME to one that can be written): %w", errors.Join(errs...))
}

// outsideModCache returns a path of root that is not in the module cache: go
// refuses an overlay of files there, and that is where downloaded toolchains
// are.
func outsideModCache(root, modCache, cache string) (string, error) {
	if rel, err := filepath.Rel(modCache, root); modCache == "" || err != nil || !filepath.IsLocal(rel) {
		return root, nil
	}
	link := filepath.Join(cache, "goroot-"+digest(root))
	err := os.Symlink(root, link)
	if errors.Is(err, os.ErrExist) {
		err = nil
	}
	return link, err
}

// read returns the text of a file of the standard library.
func (g *Go) read(file string) (string, error) {
	b, err := os.ReadFile(filepath.Join(g.Root, "src", filepath.FromSlash(file)))
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s has no %s: its source is not installed (%w)", g.Root, file, fs.ErrNotExist)
	}
	return string(b), err
}

// run runs the go command.
func (g *Go) run(ctx context.Context, env []string, args ...string) (process.Output, error) {
	return process.Run(ctx, process.Command{Path: g.command, Args: args, Dir: g.dir, Env: slices.Concat(g.env, env)})
}

// splitFlags splits GOFLAGS as the go command does: at white space, except in a
// field that stands in quotes.
func splitFlags(s string) []string {
	var fields []string
	for s = strings.TrimLeft(s, " \t\r\n"); s != ""; s = strings.TrimLeft(s, " \t\r\n") {
		var field string
		if quote := s[:1]; quote == "'" || quote == `"` {
			field, s, _ = strings.Cut(s[1:], quote)
		} else if i := strings.IndexAny(s, " \t\r\n"); i >= 0 {
			field, s = s[:i], s[i:]
		} else {
			field, s = s, ""
		}
		fields = append(fields, field)
	}
	return fields
}

// codeFlags are build flags that change the code of a program.
var codeFlags = []string{"asan", "asmflags", "buildmode", "compiler", "cover", "covermode", "coverpkg", "gccgoflags", "installsuffix", "linkshared", "msan", "pgo", "race"}

// Settings returns what the user set that changes the code of a program, by
// flags, GOFLAGS or GOFIPS140, in a fixed order. Counts of different settings do
// not compare.
func (g *Go) Settings(f Flags) []string {
	var all []string
	add := func(name, value string) {
		if value != "" {
			all = append(all, "-"+name+"="+value)
		}
	}
	add("tags", g.tags(f))
	values := g.values("gcflags")
	for i, flags := range values {
		if !forNamed(flags) || !slices.ContainsFunc(slices.Concat(values[i+1:], f.GCFlags), forNamed) {
			add("gcflags", flags) // no later one replaces it
		}
	}
	for _, flags := range f.GCFlags {
		add("gcflags", flags)
	}
	if f.Sysmon {
		all = append(all, "-sysmon")
	}
	if f.Realtime {
		all = append(all, "-realtime")
	}
	for _, name := range codeFlags {
		add(name, g.Flag(name))
	}
	if g.fips != "" && g.fips != "off" {
		all = append(all, "GOFIPS140="+g.fips)
	}
	return all
}

// BuildSettings returns everything beside the source and the toolchain that goes
// into a build without cgo: GOFLAGS, and the contents of the files that they
// name. See also [Go.PackageSettings].
func (g *Go) BuildSettings() ([]string, error) {
	all := slices.Clone(g.flags)
	for _, file := range g.SettingFiles() {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, digest(string(text)))
	}
	return append(all, g.toolStamps()...), nil
}

// SettingFiles returns the files that GOFLAGS name and a build reads.
func (g *Go) SettingFiles() (files []string) {
	for _, name := range []string{"pgo", "overlay", "modfile"} {
		file := g.Flag(name)
		if file == "" || file == "auto" || file == "off" {
			continue
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(g.dir, file)
		}
		files = append(files, file)
	}
	return files
}

// toolStamps tells apart what someone who works on Go builds: the version of
// tools between releases is that of their commit.
func (g *Go) toolStamps() (all []string) {
	if !strings.Contains(g.Version, "devel") {
		return nil
	}
	for _, tool := range []string{"asm", "compile", "link"} {
		info, err := os.Stat(filepath.Join(g.Root, "pkg", "tool", g.GOOS+"_"+g.GOARCH, tool))
		if err == nil {
			all = append(all, fmt.Sprint(tool, " ", info.Size(), " ", info.ModTime().UnixNano()))
		}
	}
	return all
}

// PackageSettings returns what the flags and GOFLAGS ask for some of the packages
// that p is made of.
func (g *Go) PackageSettings(f Flags, p Package) []string {
	all := g.packageFlags(f, p)
	values := slices.Concat(f.GCFlags, g.values("gcflags"), g.values("asmflags"), g.values("ldflags"))
	if slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(strings.TrimSpace(v), ".") }) {
		all = append(all, g.dir) // a pattern names a folder from here
	}
	return all
}

// packageFlags returns the arguments of go test -c that give each package its
// -gcflags and -asmflags. Without a pattern a value holds for the packages that
// are named, but test binaries are built one by one: here it is given for the
// others that the user named, too. Of several the last that matches counts, so
// those in GOFLAGS come again.
func (g *Go) packageFlags(f Flags, p Package) []string {
	var others []string
	for _, q := range p.inputs {
		path, _, _ := strings.Cut(q.ImportPath, " ") // "path [test]"
		if path != p.ImportPath && slices.Contains(g.named, path) && !slices.Contains(others, path) {
			others = append(others, path)
		}
	}
	var args []string
	give := func(name string, own []string) {
		values := own
		if len(others) > 0 {
			values = slices.Concat(g.values(name), own)
		}
		for _, v := range values {
			for _, path := range others {
				if forNamed(v) {
					args = append(args, "-"+name+"="+path+"="+v)
				}
			}
			args = append(args, "-"+name+"="+v) // the last is what the binary says of itself
		}
	}
	give("gcflags", f.GCFlags)
	give("asmflags", nil)
	return args
}

// forNamed reports whether a value of -gcflags and the like is for the packages
// that are named, as there is no pattern in it.
func forNamed(value string) bool {
	value = strings.TrimSpace(value)
	return value == "" || value[0] == '-'
}

// values returns all values of a flag in GOFLAGS.
func (g *Go) values(name string) (all []string) {
	for _, f := range g.flags {
		if n, v, ok := strings.Cut(strings.TrimLeft(f, "-"), "="); n == name && ok {
			all = append(all, v)
		}
	}
	return all
}

// Flag returns the value of a flag in GOFLAGS, whichever of its names it has there,
// "true" for one without a value, or "".
func (g *Go) Flag(names ...string) string {
	value := ""
	for _, f := range g.flags {
		n, v, ok := strings.Cut(strings.TrimLeft(f, "-"), "=")
		if !slices.Contains(names, n) {
			continue
		}
		if value = v; !ok {
			value = "true"
		}
	}
	return value
}

// explain adds what a failed command printed to its error.
func explain(err error, out process.Output) error {
	text := strings.TrimSpace(string(out.Stderr))
	if text == "" {
		text = strings.TrimSpace(string(out.Stdout))
	}
	switch {
	case text == "":
		return err
	case process.Exited(err):
		return errors.New(text)
	case process.Died(err):
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}
