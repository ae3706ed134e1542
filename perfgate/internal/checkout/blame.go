package checkout

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrUncommitted is the error of a line that no commit has.
var ErrUncommitted = errors.New("is not committed")

// Blame returns the commit that last changed a line, numbered from 1, of a file
// in the working tree. A comma at its end is no part of the line: it comes and
// goes with the line after.
//
// The error is [ErrUncommitted] for what is not in HEAD, and says so if the
// history that is here does not tell.
func (r *Repo) Blame(ctx context.Context, file string, line int) (Commit, error) {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	path, err := filepath.Rel(r.Root, file)
	if err != nil || !filepath.IsLocal(path) {
		return Commit{}, fmt.Errorf("%s is not in the repository", file)
	}
	b, err := r.blame(ctx, "", filepath.ToSlash(path), line)
	for err == nil && b.previous != "" {
		text, _, err := r.File(ctx, Commit{Hash: b.previous}, b.path)
		if err != nil {
			return Commit{}, err
		}
		before := nearest(strings.Split(string(text), "\n"), b.text, b.line)
		if before == 0 {
			break
		}
		if b, err = r.blame(ctx, b.previous, b.path, before); err != nil {
			return Commit{}, err
		}
	}
	return b.Commit, err
}

// blamed is what git blame says of a line.
type blamed struct {
	Commit
	line     int    // its number in that commit
	text     string // without a comma at the end
	previous string // hash of the commit before, "" if that does not have the file
	path     string // of the file there
}

// blame blames a line of a file as it is in the commit at, "" for the working
// tree.
func (r *Repo) blame(ctx context.Context, at, path string, line int) (blamed, error) {
	args := []string{"-c", "blame.ignoreRevsFile=", "blame", "--porcelain", fmt.Sprintf("-L%d,%d", line, line)}
	if at != "" {
		args = append(args, at)
	}
	out, err := r.git(ctx, nil, append(args, "--", path)...)
	if err != nil {
		if strings.Contains(err.Error(), "no such path") {
			return blamed{}, ErrUncommitted
		}
		return blamed{}, err
	}
	var b blamed
	boundary := false
	for i, l := range strings.Split(out, "\n") {
		key, value, _ := strings.Cut(l, " ")
		text, isText := strings.CutPrefix(l, "\t")
		switch {
		case isText:
			b.text = withoutComma(text)
		case i == 0:
			b.Hash = key
			number, _, _ := strings.Cut(value, " ")
			b.line, _ = strconv.Atoi(number)
		case key == "summary":
			b.Subject = value
		case key == "previous":
			b.previous, b.path, _ = strings.Cut(value, " ")
		case key == "boundary":
			boundary = true
		}
	}
	switch {
	case strings.Trim(b.Hash, "0") == "":
		return b, ErrUncommitted
	case boundary:
		// It is the oldest commit here; in a whole history the first of all.
		if note := r.shallowNote(ctx); note != "" {
			return b, errors.New("the commit that it is from is not here" + note)
		}
	}
	return b, nil
}

func withoutComma(line string) string { return strings.TrimSuffix(strings.TrimRight(line, "\r"), ",") }

// nearest returns the number of the line that has that text, commas aside, and
// is the nearest to number; 0 if none has.
func nearest(lines []string, text string, number int) int {
	found := 0
	for i, l := range lines {
		if withoutComma(l) == text && (found == 0 || distance(i+1, number) < distance(found, number)) {
			found = i + 1
		}
	}
	return found
}

func distance(a, b int) int { return max(a-b, b-a) }
