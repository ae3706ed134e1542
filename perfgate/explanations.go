package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/checkout"
	"github.com/cachekit-go/cachekit/perfgate/internal/explain"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

// An oldSide is what a benchmark is compared with to explain its change.
type oldSide struct {
	tree    *measure.Session // nil if there is none
	commit  checkout.Commit
	what    string // theBase, or as in "budget from"; the commit follows
	missing string // why there is none
}

const theBase = "base"

func (s oldSide) String() string { return s.what + " " + s.commit.String() }

// oldSides returns what a row is compared with. Where it cannot be had, the side
// says so; an error is trouble of another kind.
type oldSides func(context.Context, gate.Row) (oldSide, error)

// explainRows explains the n red and improved rows that changed most, those that
// are red first.
//
// Of two sessions beside each other only one may measure at a time, so the
// head's profiles come first and then those of each old side.
func explainRows(ctx context.Context, s *measure.Session, rows []gate.Row, n int, old oldSides) (map[gate.Key]*explain.Explanation, error) {
	rows = mostChanged(rows, n)
	if len(rows) == 0 {
		return nil, nil
	}
	news, err := s.Profiles(ctx, samplesOf(rows))
	if err != nil {
		return nil, err
	}
	sides := make([]oldSide, len(rows))
	byTree := make(map[*measure.Session][]int)
	var trees []*measure.Session // in the order of rows
	for i, r := range rows {
		if sides[i], err = old(ctx, r); err != nil {
			return nil, err
		}
		t := sides[i].tree
		if t != nil && byTree[t] == nil {
			trees = append(trees, t)
		}
		byTree[t] = append(byTree[t], i)
	}
	olds := make([]measure.Profile, len(rows))
	for _, t := range trees {
		var of []gate.Sample
		for _, i := range byTree[t] {
			of = append(of, *rows[i].Sample)
		}
		profiles, err := t.Profiles(ctx, of)
		if err != nil {
			return nil, err
		}
		for j, i := range byTree[t] {
			olds[i] = profiles[j]
		}
	}
	explained := make(map[gate.Key]*explain.Explanation)
	alone := false
	for i, r := range rows {
		e := explainChange(*r.Sample, r.Budget.Ir, s, news[i], sides[i], olds[i])
		if e.Explained() && e.Old == 0 {
			if alone { // one long list is enough
				e = &explain.Explanation{Missing: e.Missing}
			}
			alone = true
		}
		explained[r.Key] = e
	}
	return explained, nil
}

// mostChanged returns the n rows that changed most of those that are red or
// improved, the red ones first.
func mostChanged(rows []gate.Row, n int) []gate.Row {
	var changed []gate.Row
	for _, r := range rows {
		if (r.Verdict == gate.Regressed || r.Verdict == gate.Improved) && r.Compared() && r.Sample.IrPerOp != r.Budget.Ir {
			changed = append(changed, r)
		}
	}
	size := func(r gate.Row) gate.Percent {
		change := gate.Change(r.Budget.Ir, r.Sample.IrPerOp)
		return max(change, -change)
	}
	slices.SortStableFunc(changed, func(a, b gate.Row) int {
		return cmp.Or(cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(size(b), size(a)))
	})
	return changed[:min(n, len(changed))]
}

func samplesOf(rows []gate.Row) []gate.Sample {
	var samples []gate.Sample
	for _, r := range rows {
		samples = append(samples, *r.Sample)
	}
	return samples
}

// explainChange explains a sample of the session s against an old side, of which
// was is known. Without one it tells where the instructions go.
func explainChange(sample gate.Sample, was gate.PerOp, s *measure.Session, new measure.Profile, side oldSide, old measure.Profile) *explain.Explanation {
	if new.Missing != "" {
		return &explain.Explanation{Missing: "not explained: built with line numbers, " + new.Missing}
	}
	p := profileOf(s, sample.K, new)
	missing := side.missing
	if missing == "" && old.Missing != "" {
		missing = fmt.Sprintf("%v: %s", side, firstLine(old.Missing))
	}
	if missing != "" {
		e := explain.Of(p)
		e.Missing = missing
		return e
	}
	e := explain.Compare(profileOf(side.tree, sample.K, old), p)
	e.Source = side.String()
	switch {
	case side.what != theBase:
		e.Source += "; that commit measured again: " + report.Thousands(e.Old)
		if e.Old != was {
			e.Source += ", not " + report.Thousands(was)
		}
		e.Missing = contradiction(p, sample.IrPerOp)
	case e.Old != was:
		e.Missing = contradiction(profileOf(side.tree, sample.K, old), was)
	default:
		e.Missing = contradiction(p, sample.IrPerOp)
	}
	return e
}

func profileOf(s *measure.Session, k int, p measure.Profile) explain.Profile {
	return explain.Profile{K: k, Lo: p.Lo, Hi: p.Hi, Source: s.Source, Package: s.Package}
}

// contradiction says if a profile is not of what was measured, as can be when a
// benchmark looks at its own program.
func contradiction(p explain.Profile, measured gate.PerOp) string {
	switch {
	case p.IrPerOp() != measured:
		return fmt.Sprintf("built with line numbers it executes %v Ir/op instead of %v", p.IrPerOp(), measured)
	case len(p.Hi.Lines) == 0:
		return "this valgrind reads no line numbers from the program"
	}
	return ""
}

// explainHint names the command that tells more of the first red row.
func explainHint(ctx context.Context, rows []gate.Row, o *options, std streams, old oldSides) {
	for _, r := range mostChanged(rows, min(1, o.explained)) {
		if side, err := old(ctx, r); err == nil && side.tree != nil && r.Verdict == gate.Regressed {
			hint(std, fmt.Sprintf("more of it: `perfgate explain -base %s %s %s`", side.commit.Short(), quote(r.Name), o.selection(false)))
		}
	}
}

// oldSide is the base for every row.
func (b *base) oldSide(context.Context, gate.Row) (oldSide, error) {
	return oldSide{tree: b.tree, what: theBase, commit: b.commit}, nil
}

// recordedSides returns the old sides of the rows of a budget file: for each the
// commit that last changed its budget, or HEAD for one that is not committed.
func recordedSides(s *measure.Session, o *options, file *gate.File, path string) oldSides {
	trees := make(map[string]oldSide) // by commit
	return func(ctx context.Context, row gate.Row) (oldSide, error) {
		repo, err := checkout.Open(ctx, o.request.Dir)
		var side oldSide
		if err == nil {
			side.commit, side.what, err = recordedAt(ctx, repo, path, file.Line(s.Target, row.Key))
		}
		if ctx.Err() != nil {
			return oldSide{}, context.Cause(ctx)
		}
		if err != nil {
			why := err.Error()
			if strings.Contains(why, "not a git repository") {
				why = "this is no git repository"
			}
			return oldSide{missing: "what the budget was recorded from is not known: " + why}, nil
		}
		known, ok := trees[side.commit.Hash]
		if !ok {
			known.tree, err = openTree(ctx, s, repo, side.commit, fmt.Sprintf("c%02d", len(trees)))
			if ctx.Err() != nil {
				return oldSide{}, context.Cause(ctx)
			}
			if err != nil {
				known.missing = fmt.Sprintf("%v cannot be measured: %v", side, err)
			}
			trees[side.commit.Hash] = known
		}
		side.tree, side.missing = known.tree, known.missing
		return side, nil
	}
}

// recordedAt returns the commit that last changed a line of the budget file, and
// what to call it.
func recordedAt(ctx context.Context, repo *checkout.Repo, path string, line int) (checkout.Commit, string, error) {
	commit, err := repo.Blame(ctx, path, line)
	if !errors.Is(err, checkout.ErrUncommitted) {
		return commit, "budget from", err
	}
	commit, err = repo.Find(ctx, "HEAD")
	return commit, "budget not committed; HEAD", err
}
