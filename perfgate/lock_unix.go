//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// lockFolder waits until no other perfgate holds the lock of a folder, and
// takes it. It cannot be interrupted. The kernel releases it when the process ends, however it ends.
func lockFolder(dir string) (unlock func() error, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
