// Command perfgate counts the instructions that Go benchmarks execute, exactly,
// and gates them: against the budgets in baselines.json. The same source gives
// the same count on every run, so there is no noise to average away and no
// change too small to see.
//
// Does it work on this machine, and does its gate go red when it must?
//
//	perfgate doctor
//	perfgate selftest
//
// Look at what the benchmarks of a module cost, record that as budgets, and judge
// later code by them:
//
//	perfgate run ./...
//	perfgate update ./...
//	perfgate check ./...
//
// Look at a few of them; what is selected is spelled as go test has it:
//
//	perfgate list -bench Store ./...
//	perfgate run -bench Store/size=64 -v ./...
//
// Measure everything twice, and take a budget that became too high for a failure:
//
//	perfgate check -verify -stale=fail ./...
//
// Let a budget go up, with the reason on record:
//
//	perfgate update -allow-increase -reason "checks every block now" -bench Store ./...
//
// Write what a program can read: one JSON object, or lines for benchstat:
//
//	perfgate run -format json ./...
//	perfgate run -format bench ./...
//
// Each command says more about itself:
//
//	perfgate help check
//
// Exit status: 0 within budget, 1 could not measure, 2 usage or nothing to
// measure, 3 over budget, 4 incomparable or without a budget.
package main
