// Command perfgate counts the instructions that Go benchmarks execute, exactly,
// and gates them: against the merge base of a branch, or against the budgets in
// baselines.json. The same source gives the same count on every run, so there is
// no noise to average away.
//
// Does it work on this machine, and does its gate go red when it must?
//
//	perfgate doctor
//	perfgate selftest
//
// Compare with the point at which this branch left main, measured here and now
// by the same toolchain. Nothing need be recorded for that:
//
//	perfgate check -base main ./...
//
// Or look at what the benchmarks of a module cost, record that as budgets, and
// judge later code by them:
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
// See where the instructions of one go, and what changed since main; pprof reads
// the profiles:
//
//	perfgate explain Store/size=64
//	perfgate explain -base main -pprof new.pb.gz -pprof-base old.pb.gz Store/size=64
//	go tool pprof -top -diff_base old.pb.gz new.pb.gz
//
// Be stricter: measure everything twice, fail at +0.1 % where nothing is
// allocated, and take a budget that became too high for a failure:
//
//	perfgate check -verify -exact -stale=fail ./...
//
// Let a budget go up, with the reason on record:
//
//	perfgate update -allow-increase -reason "checks every block now" -bench Store ./...
//
// Have the report in other forms: a comment for a pull request, one JSON object,
// lines for benchstat:
//
//	perfgate check -base main -o markdown=report.md -o json=report.json ./...
//	perfgate run -format bench ./...
//
// Each command says more about itself:
//
//	perfgate help check
//
// Exit status: 0 within budget, 1 could not measure, 2 usage or nothing to
// measure, 3 over budget, 4 incomparable or without a budget.
package main
