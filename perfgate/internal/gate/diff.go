package gate

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
)

// A BudgetChange is a row of baselines.json that differs between two files.
type BudgetChange struct {
	Key
	Target Target
	Old    *Budget // nil if it was added
	New    *Budget // nil if it was removed
	Reason string  // why it was raised; "" if it was not, or nobody said
}

// DiffFiles returns the rows that differ, sorted by benchmark and then by
// target. A row that moved between the budgets with and without cgo is one that
// changed.
func DiffFiles(old, new *File) []BudgetChange {
	type place struct {
		Target // without cgo
		Key
	}
	changes := make(map[place]BudgetChange)
	each(old, func(t Target, k Key, b *Budget) {
		changes[place{t.withCGO(false), k}] = BudgetChange{Key: k, Target: t, Old: b}
	})
	each(new, func(t Target, k Key, b *Budget) {
		p := place{t.withCGO(false), k}
		c := changes[p]
		if c.Old != nil && *c.Old == *b {
			delete(changes, p)
			return
		}
		c.Key, c.Target, c.New = k, t, b
		if c.Old == nil || b.dearer(c.Old) || b.Reason != c.Old.Reason {
			c.Reason = b.Reason
		}
		changes[p] = c
	})
	return slices.SortedFunc(maps.Values(changes), func(a, b BudgetChange) int {
		return cmp.Or(a.Key.Compare(b.Key), bytes.Compare(mustJSON(a.Target), mustJSON(b.Target)))
	})
}

func each(f *File, do func(Target, Key, *Budget)) {
	for _, s := range f.Sets {
		for k, b := range s.Rows {
			do(s.Target, k, &b)
		}
	}
}
