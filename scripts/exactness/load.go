//go:build linux

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// busyArg makes this program one that only keeps a core busy.
const busyArg = "busy"

// busy computes and moves memory until it is killed.
func busy() {
	memory := make([]byte, 16<<20)
	for {
		sum := sha256.Sum256(memory[:1<<20])
		for i := range memory {
			memory[i] += sum[i%len(sum)]
		}
		os.Getppid() // a system call now and then
	}
}

// startLoad starts a busy process for each core. They end with this process, or
// by stop, which fails if one ended before: then the cores were not busy.
func startLoad() (stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var children []*exec.Cmd
	stop = func() error {
		var errs []error
		for _, c := range children {
			c.Process.Kill()
			c.Wait()
			status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
			if !ok || status.Signal() != syscall.SIGKILL {
				errs = append(errs, fmt.Errorf("a busy process ended by itself: %v", c.ProcessState))
			}
		}
		return errors.Join(errs...)
	}
	for range runtime.NumCPU() {
		c := exec.Command(self, busyArg)
		c.Env = append(os.Environ(), "GOMAXPROCS=1")
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			return nil, errors.Join(err, stop())
		}
		children = append(children, c)
	}
	return stop, nil
}
