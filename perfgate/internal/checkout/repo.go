// Package checkout reads a git repository with the git command: its commits,
// and the files of one in a folder of ours. The user's working tree, index,
// branches and stash are never touched, and nothing is written into .git.
package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

// A Repo is a git repository with a working tree.
type Repo struct {
	Root string // top folder of the working tree, without symbolic links

	inner bool // a submodule
}

// ofOne are variables that are about one repository. Git sets some for its hooks.
var ofOne = []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_WORK_TREE"}

// A Commit of a [Repo]. The zero value is none.
type Commit struct {
	Hash    string // the whole hash
	Subject string // the first line of its message
}

// String returns what people call a commit: 3f2c1a9 "its subject".
func (c Commit) String() string { return fmt.Sprintf("%s %q", c.Short(), c.Subject) }

// Short returns the first seven digits of the hash.
func (c Commit) Short() string { return c.Hash[:min(7, len(c.Hash))] }

// Open returns the repository that dir is in.
func Open(ctx context.Context, dir string) (*Repo, error) {
	r := &Repo{Root: dir}
	top, err := r.git(ctx, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("looking for a git repository: %w", err)
	}
	if r.Root, err = filepath.EvalSymlinks(strings.TrimSuffix(top, "\n")); err != nil {
		return nil, fmt.Errorf("looking for a git repository: %w", err)
	}
	return r, nil
}

// git runs git in the top folder, with variables beside the user's own.
func (r *Repo) git(ctx context.Context, env []string, args ...string) (string, error) {
	// Messages are looked at, and "git diff" would refresh the index.
	own := os.Environ()
	if r.inner {
		own = slices.DeleteFunc(own, func(v string) bool {
			name, _, _ := strings.Cut(v, "=")
			return slices.Contains(ofOne, name)
		})
	}
	env = append(append(own, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"), env...)
	out, err := process.Run(ctx, process.Command{Path: "git", Args: args, Dir: r.Root, Env: env})
	switch text := strings.TrimSpace(string(out.Stderr)); {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("git is not in PATH")
	case process.Died(err) && text != "":
		return string(out.Stdout), fmt.Errorf("git %s: %w: %s", args[0], err, text)
	case err != nil:
		return string(out.Stdout), fmt.Errorf("git %s: %w", args[0], err)
	}
	return string(out.Stdout), nil
}

// defaultRefs are looked for where no name is given.
var defaultRefs = []string{"origin/main", "main", "origin/master", "master"}

// Find returns the commit that a name stands for: a branch, a tag, a hash, or a
// branch that only the remote "origin" has here.
func (r *Repo) Find(ctx context.Context, name string) (Commit, error) {
	for _, n := range []string{name, "origin/" + name} {
		out, err := r.git(ctx, nil, "log", "-1", "--no-show-signature", "--format=%H %s", "--end-of-options", n+"^{commit}", "--")
		if err == nil {
			hash, subject, _ := strings.Cut(strings.TrimSuffix(out, "\n"), " ")
			return Commit{hash, subject}, nil
		}
		if !process.Exited(err) || process.Trouble(err.Error()) {
			return Commit{}, err
		}
	}
	return Commit{}, fmt.Errorf("no commit %q here: fetch it (git fetch origin %s:refs/remotes/origin/%s)%s", name, name, name, r.shallowNote(ctx))
}

// MergeBase returns the commit at which HEAD's branch left ref; "" is the first
// there is of origin/main, main, origin/master and master.
func (r *Repo) MergeBase(ctx context.Context, ref string) (Commit, error) {
	var other Commit
	var err error
	for _, name := range defaultRefs {
		if ref != "" {
			name = ref
		}
		if other, err = r.Find(ctx, name); err == nil || ref != "" {
			break
		}
	}
	if err != nil && ref == "" {
		err = fmt.Errorf("none of %s is here: name the commit to compare with", strings.Join(defaultRefs, ", "))
	}
	if err != nil {
		return Commit{}, err
	}
	out, err := r.git(ctx, nil, "merge-base", "HEAD", other.Hash)
	if process.Exited(err) && out == "" && !process.Trouble(err.Error()) {
		return Commit{}, fmt.Errorf("HEAD and %s have no common commit here%s", other.Short(), r.shallowNote(ctx))
	}
	if err != nil {
		return Commit{}, err
	}
	return r.Find(ctx, strings.TrimSpace(out))
}

// shallowNote says what to do about a history that was cut.
func (r *Repo) shallowNote(ctx context.Context) string {
	out, err := r.git(ctx, nil, "rev-parse", "--is-shallow-repository")
	if err != nil || strings.TrimSpace(out) != "true" {
		return ""
	}
	return "; this clone is shallow, its history is cut: git fetch --unshallow origin (with actions/checkout: fetch-depth: 0)"
}

// Has reports whether the commit and its files are here.
func (r *Repo) Has(ctx context.Context, hash string) (bool, error) {
	_, err := r.git(ctx, nil, "cat-file", "-e", hash+"^{tree}")
	if process.Exited(err) {
		return false, nil
	}
	return err == nil, err
}

// File returns the content of a file, named by its slash-separated path below
// Root, in a commit. ok is false if the commit has no such file.
func (r *Repo) File(ctx context.Context, c Commit, path string) (text []byte, ok bool, err error) {
	out, err := r.git(ctx, nil, "ls-tree", "-z", "--full-tree", c.Hash, "--", ":(top,literal)"+path)
	if err != nil || !strings.Contains(out, " blob ") {
		return nil, false, err
	}
	content, err := r.git(ctx, nil, "cat-file", "blob", c.Hash+":"+path)
	return []byte(content), err == nil, err
}

// Tracks reports whether a file of the working tree is in its index: whether
// it is, or is to be, in a commit. A file outside of the repository is not.
func (r *Repo) Tracks(ctx context.Context, file string) (bool, error) {
	if real, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		file = filepath.Join(real, filepath.Base(file))
	}
	path, err := filepath.Rel(r.Root, file)
	if err != nil || !filepath.IsLocal(path) {
		return false, nil
	}
	out, err := r.git(ctx, nil, "ls-files", "-z", "--", ":(top,literal)"+filepath.ToSlash(path))
	return out != "", err
}

// Changed returns the files, as slash-separated paths below Root, that differ
// between a commit and the working tree, files that git does not know included
// and those that it is told to ignore not. A submodule in which anything differs
// is one of them as a whole.
func (r *Repo) Changed(ctx context.Context, c Commit) ([]string, error) {
	tracked, err := r.git(ctx, nil, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=none", "-z", c.Hash, "--")
	if err != nil {
		return nil, err
	}
	unknown, err := r.git(ctx, nil, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	files := strings.FieldsFunc(tracked+unknown, func(c rune) bool { return c == 0 })
	slices.Sort(files)
	return slices.Compact(files), nil
}

// A Trailer is a line "Key: value" at the end of a commit's message.
type Trailer struct {
	Commit
	Value  string
	Astray bool // such a line elsewhere in the message: git knows no trailer there
}

var reverts = regexp.MustCompile(`(?m)^This reverts commit ([0-9a-f]{40})`)

// Trailers returns the trailers of that key in the commits that HEAD has and
// base has not, the latest first, and after those of each commit the lines that
// only look like it. Those of commits that a later one reverts are not among them.
func (r *Repo) Trailers(ctx context.Context, base Commit, key string) ([]Trailer, error) {
	out, err := r.git(ctx, nil, "log", "--no-show-signature", "-z",
		"--format=%H%x1f%s%x1f%b%x1f%(trailers:key="+key+",valueonly,unfold,separator=%x1f)", base.Hash+"..HEAD", "--")
	if err != nil {
		return nil, err
	}
	looksLike := regexp.MustCompile(`(?mi)^` + regexp.QuoteMeta(key) + `:[ \t]*(\S.*)$`)
	var found []Trailer
	reverted := make(map[string]bool)
	for record := range strings.SplitSeq(out, "\x00") {
		fields := strings.Split(record, "\x1f")
		if len(fields) < 3 || reverted[fields[0]] {
			continue
		}
		for _, m := range reverts.FindAllStringSubmatch(fields[2], -1) {
			reverted[m[1]] = true
		}
		c := Commit{fields[0], fields[1]}
		trailers := 0
		for _, value := range fields[3:] {
			if value = strings.TrimSpace(value); value != "" {
				found = append(found, Trailer{Commit: c, Value: value})
				trailers++
			}
		}
		// Trailers are the last lines of a message that look so.
		lines := looksLike.FindAllStringSubmatch(fields[2], -1)
		for _, m := range lines[:max(0, len(lines)-trailers)] {
			found = append(found, Trailer{Commit: c, Value: strings.TrimSpace(m[1]), Astray: true})
		}
	}
	return found, nil
}
