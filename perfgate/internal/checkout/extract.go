package checkout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Extract writes all files of a commit into dir, which must not exist yet, as
// git checkout would: line endings and filters included. Submodules that are
// checked out in the working tree are written too. index is a path for a
// temporary file.
//
// Note: "git worktree add" would leave an entry in .git after a kill, and fails
// where .git cannot be written.
func (r *Repo) Extract(ctx context.Context, c Commit, dir, index string) error {
	if err := r.extract(ctx, c.Hash, dir, index); err != nil {
		return fmt.Errorf("getting the files of %s: %w", c.Short(), err)
	}
	return nil
}

func (r *Repo) extract(ctx context.Context, hash, dir, index string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	env := []string{"GIT_INDEX_FILE=" + index}
	defer os.Remove(index)
	if _, err := r.git(ctx, env, "read-tree", hash); err != nil {
		return err
	}
	if _, err := r.git(ctx, env, "checkout-index", "--all", "--force", "--quiet", "--prefix="+dir+string(filepath.Separator)); err != nil {
		if strings.Contains(err.Error(), "unable to write") { // git does not say why
			err = fmt.Errorf("is the disk full? %w", err)
		}
		return err
	}
	modules, err := r.submodules(ctx, hash)
	if err != nil {
		return err
	}
	for path, commit := range modules {
		sub := &Repo{Root: filepath.Join(r.Root, filepath.FromSlash(path)), inner: true}
		if _, err := os.Lstat(filepath.Join(sub.Root, ".git")); err != nil {
			continue // not checked out: the working tree does without it too
		}
		has, err := sub.Has(ctx, commit)
		if err != nil {
			return fmt.Errorf("submodule %s: %w", path, err)
		}
		if !has {
			return fmt.Errorf("submodule %s: its commit %.7s is not here: git -C %s fetch", path, commit, path)
		}
		if err := sub.extract(ctx, commit, filepath.Join(dir, filepath.FromSlash(path)), index); err != nil {
			return fmt.Errorf("submodule %s: %w", path, err)
		}
	}
	return nil
}

// submodules returns the commits of a commit's submodules by their paths.
func (r *Repo) submodules(ctx context.Context, hash string) (map[string]string, error) {
	out, err := r.git(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", hash)
	if err != nil {
		return nil, err
	}
	modules := make(map[string]string)
	for entry := range strings.SplitSeq(out, "\x00") {
		meta, path, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(meta); len(fields) == 3 && fields[1] == "commit" {
			modules[path] = fields[2]
		}
	}
	return modules, nil
}
