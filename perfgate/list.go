package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
)

func listCommand() command {
	return command{
		name: "list", args: "[flags] [packages]", short: "print what run would measure",
		long: `List prints the package and the name of each benchmark that the flags select, one
a line: it runs each once to find the sub-benchmarks.

Example: perfgate list -bench Store ./...`,
		flags: func(o *options, fs *flag.FlagSet) {
			selectFlags(o, fs)
			cureFlags(o, fs)
		},
		run: list,
	}
}

func list(ctx context.Context, o *options, std streams) (int, error) {
	return withSession(ctx, o, std, func(s *measure.Session, p *progress) (int, error) {
		keys, faults, err := s.Leaves(ctx)
		if err != nil {
			return 0, err
		}
		p.clear()
		for _, k := range keys {
			fmt.Fprintf(std.out, "%s %s\n", k.Pkg, k.Name)
		}
		for _, f := range faults {
			reason, _, _ := strings.Cut(f.Fault.Reason, "\n")
			fmt.Fprintf(std.err, "perfgate: %s %s: %s\n", f.Pkg, f.Name, reason)
		}
		if len(faults) > 0 {
			return gate.ExitFault, nil
		}
		return gate.ExitOK, nil
	})
}
