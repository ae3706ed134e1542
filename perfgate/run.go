package main

import (
	"context"
	"flag"
	"slices"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

func runCommand() command {
	return command{
		name: "run", args: "[flags] [packages]", short: "measure and print",
		long: `Run measures the benchmarks of the packages (default: the one in this folder)
and prints instructions, allocations and bytes per operation. Budgets play no
part. Exit status 1 says that something could not be measured.

Example: perfgate run -bench Store -format bench ./... >new.txt`,
		flags: func(o *options, fs *flag.FlagSet) {
			selectFlags(o, fs)
			verifyFlag(o, fs)
			freshFlag(o, fs)
			cureFlags(o, fs)
			formatFlag(o, fs)
		},
		run: run,
	}
}

func run(ctx context.Context, o *options, std streams) (int, error) {
	start := time.Now()
	return withSession(ctx, o, std, func(s *measure.Session, p *progress) (int, error) {
		m := newMemory(s, o)
		samples, err := m.run(ctx, gate.Budgets{})
		if err != nil {
			return 0, err
		}
		p.clear()
		d := report.New(s.Target, s.Toolchain, samples, runInfo(s, o, start, m.recalls))
		d.Notes = append(d.Notes, s.Warnings()...)
		d.Locate(placesOf(s))
		code := gate.ExitOK
		if slices.ContainsFunc(samples, func(x gate.Sample) bool { return x.Fault != nil }) {
			code = gate.ExitFault
		}
		return code, writeDocument(ctx, d, o, std)
	})
}
