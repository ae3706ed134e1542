package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

type output struct{ stdout, stderr string }

// command runs a program in a folder with a version of Go; "" is the one in use.
// The output is returned beside an error, too.
func command(ctx context.Context, dir, version, name string, args ...string) (output, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if version != "" {
		cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+version)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// perfgate ends what it started when it is asked to end.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if err != nil {
		text := strings.TrimSpace(stderr.String())
		err = fmt.Errorf("%s %s: %w: %s", name, args[0], err, text[strings.LastIndex(text, "\n")+1:])
	}
	return output{stdout.String(), stderr.String()}, err
}
