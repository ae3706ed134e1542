package main

import (
	"context"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

func doctorCommand() command {
	return command{name: "doctor", short: "say whether this machine can measure", run: func(ctx context.Context, o *options, std streams) (int, error) { return gate.ExitOK, nil }}
}
