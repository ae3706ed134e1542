package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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
