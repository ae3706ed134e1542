package process

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills what is left of the child's process group. Its identifier is
// not reused while a member lives, and is harmless to signal when none does.
func killGroup(p *os.Process) {
	syscall.Kill(-p.Pid, syscall.SIGKILL)
}

// Adopt makes this process the parent of what its children leave running, also
// of what left their process groups. It returns a function that kills all of
// those, to be called when no child is wanted any more.
//
// See prctl(2), PR_SET_CHILD_SUBREAPER.
func Adopt() (end func()) {
	const setChildSubreaper = 36
	syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
	return func() {
		for {
			pids := children()
			for _, pid := range pids {
				syscall.Kill(pid, syscall.SIGKILL)
			}
			for _, pid := range pids {
				syscall.Wait4(pid, nil, 0, nil)
			}
			if len(pids) == 0 {
				return
			}
		}
	}
}

// EndUsersOf kills the processes of this user that were given a folder in dir to
// work in: the grandchildren of a perfgate that was killed, of which the kernel
// ends the children only. dir must be the caller's alone.
//
// It returns when none is left, or after a while if one cannot be killed.
func EndUsersOf(dir string) {
	for range 1000 {
		pids := usersOf(dir)
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
}

// folderVariables name the folders that go, git and measured programs are given.
var folderVariables = []string{"GOTMPDIR", "GIT_INDEX_FILE", "HOME", "TMPDIR"}

// usersOf returns the processes of this user whose environment has a path in dir
// under one of those names. A program that ended has no environment.
func usersOf(dir string) []int {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var pids []int
	for _, f := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		info, err := os.Stat(f)
		if err != nil {
			continue // it ended
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
			continue
		}
		environ, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		for v := range strings.SplitSeq(string(environ), "\x00") {
			name, value, _ := strings.Cut(v, "=")
			if slices.Contains(folderVariables, name) && strings.HasPrefix(value, dir+"/") {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// children returns the processes whose parent is this one.
func children() []int {
	files, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		return nil
	}
	var pids []int
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // a thread that ended
		}
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
