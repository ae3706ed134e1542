//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/cachekit-go/cachekit/scripts/internal/child"
)

type output struct{ stdout, stderr string }

// command runs a program in a folder with a version of Go; "" is the one in use.
// The output is returned beside an error, too.
func command(ctx context.Context, dir, version, name string, args ...string) (output, error) {
	env := append(os.Environ(), "GOWORK=off")
	if version != "" {
		env = append(env, "GOTOOLCHAIN="+version)
	}
	cmd := child.Command(ctx, dir, env, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		text := strings.TrimSpace(stderr.String())
		err = fmt.Errorf("%s %s: %w: %s", name, args[0], err, text[strings.LastIndex(text, "\n")+1:])
	}
	return output{stdout.String(), stderr.String()}, err
}
