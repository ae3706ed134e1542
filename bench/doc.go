// Package bench has the benchmarks that the instruction budgets are for: the
// calls of core that users wait for, with the payloads, keys and additional
// data of spec section 14. It exports nothing.
package bench
