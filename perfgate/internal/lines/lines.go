// Package lines tells which line of a text became which line of another.
package lines

import (
	"slices"
	"strings"
)

// Map returns for each line of old the number of the line of new that it became,
// or 0 for one that is gone: Map(old, new)[i] is of line i+1. Lines are numbered
// from 1, as compilers do.
//
// The ends that are equal correspond, and between them the lines that occur once
// in both texts, as many as are in the same order; then what is between each two
// of these is looked at in the same way ("patience diff").
func Map(old, new string) []int {
	a, b := strings.Split(old, "\n"), strings.Split(new, "\n")
	to := make([]int, len(a))
	match(a, b, 0, 0, to)
	return to
}

// match fills to for the lines a, the first of which is that of index i, and b,
// the first of which is that of index j.
func match(a, b []string, i, j int, to []int) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		to[i] = j + 1
		a, b, i, j = a[1:], b[1:], i+1, j+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
		to[i+len(a)] = j + len(b) + 1
	}
	x, y := 0, 0
	for _, p := range anchors(a, b) {
		match(a[x:p.a], b[y:p.b], i+x, j+y, to)
		to[i+p.a] = j + p.b + 1
		x, y = p.a+1, p.b+1
	}
	if x > 0 {
		match(a[x:], b[y:], i+x, j+y, to)
	}
}

type pair struct{ a, b int }

// anchors returns the longest list of lines that occur once in a and in b, in
// the order of both.
func anchors(a, b []string) []pair {
	type places struct{ inA, inB, a, b int }
	seen := make(map[string]*places, len(a))
	for i, line := range a {
		p := seen[line]
		if p == nil {
			p = new(places)
			seen[line] = p
		}
		p.inA, p.a = p.inA+1, i
	}
	for i, line := range b {
		if p := seen[line]; p != nil {
			p.inB, p.b = p.inB+1, i
		}
	}
	var unique []pair
	for i, line := range a {
		if p := seen[line]; p.inA == 1 && p.inB == 1 {
			unique = append(unique, pair{i, p.b})
		}
	}
	return increasing(unique)
}

// increasing returns the longest part of pairs, which are in the order of a,
// that is in the order of b too.
func increasing(pairs []pair) []pair {
	var ends []int                    // ends[n]: index of the pair with the least b that ends a list of n+1
	before := make([]int, len(pairs)) // index of the pair before it in its list
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p.b, func(e, b int) int { return pairs[e].b - b })
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	list := make([]pair, len(ends))
	for n, i := len(ends)-1, 0; n >= 0; n-- {
		if n == len(ends)-1 {
			i = ends[n]
		}
		list[n] = pairs[i]
		i = before[i]
	}
	return list
}
