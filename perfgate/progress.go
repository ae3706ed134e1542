package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	// Whether standard error is a terminal takes a system call of its own for
	// each platform, and the standard library has none of them.
	"golang.org/x/term"

	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
)

// progress shows on standard error what is being done: on a terminal one line
// that changes, otherwise plain lines.
type progress struct {
	w        io.Writer
	terminal bool
	phases   bool       // tell how long each phase took
	columns  func() int // width of the terminal
	now      func() time.Time

	mu      sync.Mutex
	start   time.Time // of counting
	drawn   bool
	printed int // tenths of the work that plain lines told of
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, now: time.Now}
	if f := fileOf(w); f != nil && term.IsTerminal(int(f.Fd())) {
		p.terminal = true
		p.columns = func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil || width < 2 {
				return 80
			}
			return width
		}
	}
	return p
}

func (p *progress) event(e measure.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Phase != "" {
		if p.phases {
			p.erase()
			fmt.Fprintf(p.w, "perfgate: %6.2f s  %s\n", e.Took.Seconds(), e.Phase)
		}
		return
	}
	if e.Message != "" {
		p.erase()
		fmt.Fprintf(p.w, "perfgate: %s\n", e.Message)
		return
	}
	if p.start.IsZero() {
		p.start = p.now()
	}
	if p.terminal {
		p.erase()
		// A line that wraps could not be erased.
		line := []rune(p.line(e))
		fmt.Fprint(p.w, string(line[:min(len(line), p.columns()-1)]))
		p.drawn = true
		return
	}
	if tenth := e.Done * 10 / e.Total; tenth > p.printed {
		p.printed = tenth
		fmt.Fprintf(p.w, "perfgate: counted %d of %d benchmarks\n", e.Done, e.Total)
	}
}

// line is the changing line: done/total, a benchmark in work, the time left.
func (p *progress) line(e measure.Event) string {
	const width = 16
	full := width * e.Done / e.Total
	s := fmt.Sprintf("counting %d benchmarks  %s%s  %d/%d  %s", e.Total,
		strings.Repeat("█", full), strings.Repeat("░", width-full), e.Done, e.Total, shorten(e.Working.Name, 30))
	if e.Done > 0 {
		left := p.now().Sub(p.start) / time.Duration(e.Done) * time.Duration(e.Total-e.Done)
		s += fmt.Sprintf("  about %d s left", int(left.Seconds()+0.5))
	}
	return s
}

// shorten cuts the middle out of a long name.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n/2-1]) + "…" + string(r[len(r)-n/2:])
}

// clear removes the changing line before other output.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

func (p *progress) erase() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}
