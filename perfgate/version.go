package main

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

func versionCommand() command {
	return command{
		name: "version", short: "print versions",
		long: "Version prints the version of perfgate, of its rules (part of every target: raised\nwhen they change a count), and of the JSON document.\n\nExample: perfgate version",
		run: func(_ context.Context, _ *options, std streams) (int, error) {
			fmt.Fprintf(std.out, "perfgate %s, rules %d, JSON schema %d\n", buildVersion(), gate.RulesVersion, report.Schema)
			return gate.ExitOK, nil
		},
	}
}

func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown version)"
	}
	return info.Main.Version
}
