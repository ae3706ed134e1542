//go:build !linux

package measure

import (
	"io/fs"
	"time"
)

// changeTime is not known here, where nothing is measured.
func changeTime(fs.FileInfo) time.Time { return time.Now() }
