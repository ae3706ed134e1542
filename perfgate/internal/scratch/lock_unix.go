//go:build unix

package scratch

import (
	"os"
	"syscall"
)

// tryLock takes the lock that a living run holds on its folder. The kernel
// releases it when the run ends, however it ends.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// private reports whether path is a folder that only this user can enter.
func private(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
