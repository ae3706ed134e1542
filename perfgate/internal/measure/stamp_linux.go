package measure

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime returns when a file or its metadata changed last, as [Start] needs
// it; of a file system that does not say, now.
func changeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return time.Now()
}
