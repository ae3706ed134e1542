// Package command is what the file examples have in common: arguments, a
// destination that appears only when it is complete, and progress on a
// terminal.
package command

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cachekit-go/cachekit/core/floe"
)

// A Job is what the arguments ask for.
type Job struct {
	Key    *floe.Key
	AAD    []byte
	Params floe.Params // for sealing, and required when opening
}

// usage is what is printed for wrong arguments.
const usage = `usage: %s -key FILE [-aad TEXT] [-segment BYTES] seal|open SOURCE DESTINATION

FILE has the key: 64 hexadecimal digits. Opening takes the same text and the
same length of segments as sealing.
`

// Main runs seal or open on an open source file and a new destination file, and
// ends the process: with status 1 if that fails, and 2 for wrong arguments. The
// destination gets its name when it is complete.
func Main(seal, open func(Job, *os.File, *os.File, *Progress) error) {
	name := filepath.Base(os.Args[0])
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	keyFile := flags.String("key", "", "")
	aad := flags.String("aad", "", "")
	segment := flags.Uint("segment", 1<<20, "")
	err := flags.Parse(os.Args[1:])
	work := map[string]func(Job, *os.File, *os.File, *Progress) error{"seal": seal, "open": open}[flags.Arg(0)]
	if err != nil || work == nil || flags.NArg() != 3 || *keyFile == "" {
		fmt.Fprintf(os.Stderr, usage, name)
		os.Exit(2)
	}
	job := Job{AAD: []byte(*aad)}
	if job.Params, err = floe.NewParams(uint32(min(*segment, 1<<32-1))); err == nil {
		job.Key, err = readKey(*keyFile)
	}
	if err == nil {
		err = replace(flags.Arg(1), flags.Arg(2), func(source, destination *os.File, p *Progress) error {
			return work(job, source, destination, p)
		})
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// readKey reads a key of hexadecimal digits.
func readKey(path string) (*floe.Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, errors.New("the key is not hexadecimal") // and its digits are not for a terminal
	}
	defer clear(b)
	return floe.NewKey(b)
}

// replace lets f write a new file, and gives it the name if f succeeds: what was
// opened half must not be taken for the whole.
func replace(source, destination string, f func(source, destination *os.File, p *Progress) error) (err error) {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(destination), ".floe-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, out.Close(), os.Remove(out.Name()))
		}
	}()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	p := newProgress(os.Stderr, info.Size())
	if err := f(in, out, p); err != nil {
		return err
	}
	p.end()
	if err := out.Close(); err != nil {
		return err
	}
	return os.Rename(out.Name(), destination)
}

// Progress shows how much was read, if standard error is a terminal. It is safe
// for concurrent use.
type Progress struct {
	out   *os.File // nil if it is none
	total int64
	start time.Time
	done  atomic.Int64
	shown atomic.Int64 // when, in nanoseconds after start
}

func newProgress(out *os.File, total int64) *Progress {
	p := &Progress{total: total, start: time.Now()}
	if info, err := out.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		p.out = out
	}
	return p
}

// Add says that n bytes more were read.
func (p *Progress) Add(n int) {
	done := p.done.Add(int64(n))
	if p.out == nil {
		return
	}
	last, now := p.shown.Load(), int64(time.Since(p.start))
	if now-last > int64(100*time.Millisecond) && p.shown.CompareAndSwap(last, now) {
		p.show(done, now)
	}
}

func (p *Progress) show(done, now int64) {
	fmt.Fprintf(p.out, "\r%3d %%  %.2f GiB/s ", 100*done/max(1, p.total), float64(done)/float64(max(1, now))*1e9/(1<<30))
}

func (p *Progress) end() {
	if p.out != nil {
		p.show(p.done.Load(), int64(time.Since(p.start)))
		fmt.Fprintln(p.out)
	}
}

// Reader returns a reader of r that says what was read.
func (p *Progress) Reader(r io.Reader) io.Reader { return &reader{r, p} }

type reader struct {
	r io.Reader
	p *Progress
}

func (r *reader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	r.p.Add(n)
	return n, err
}
