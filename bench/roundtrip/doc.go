// Package roundtrip has the benchmarks of storing and retrieving three kinds of
// data at six sizes. They compare corpora and have no budgets: what they call is
// counted in package bench. It exports nothing.
package roundtrip
