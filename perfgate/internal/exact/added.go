package exact

// What the edits add to the standard library: functions whose names begin with
// perfgate, and the marks that they print.

func resetRand(states string) string {
	return `
//go:linkname perfgate_resetRand testing.perfgateResetRand
func perfgate_resetRand() {
	mp := acquirem()
	mp.chacha8.Init64([4]uint64{1, 2, 3, 4})
	` + states + `
	releasem(mp)
}
`
}

const fill = `const perfgateExact = true

var perfgateState atomic.Uint64

//go:linkname perfgate_resetFill testing.perfgateResetFill
func perfgate_resetFill() { perfgateState.Store(0) }

func perfgateFill(p []byte) {
	for len(p) > 0 {
		x := perfgateState.Add(0x9e3779b97f4a7c15)
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
		for i := 0; i < 8 && len(p) > 0; i++ {
			p[0] = byte(x)
			x >>= 8
			p = p[1:]
		}
	}
}
`

// resultMark begins a result as testingHooks prints it:
// "perfgate: n allocs bytes loop", numbers of 16 hexadecimal digits.
const resultMark = "perfgate:"

// startMark is what the edited log of files has for a program that is started.
const startMark = "perfgate: program"

// endMark is what the edited testing prints after the last benchmark.
const endMark = "perfgate: end"

const testingHooks = `func perfgateLoops(b *B) uint64 {
	if b.hasSub.Load() {
		return 1
	}
	return uint64(b.benchTime.n)
}

//go:linkname perfgateResetRand
func perfgateResetRand()

//go:linkname perfgateResetFill
func perfgateResetFill()

func perfgateResult(b *B, r BenchmarkResult) string {
	var loop uint64
	if b.loop.n > 0 {
		loop = 1
	}
	s := []byte("` + resultMark + `")
	for _, v := range [...]uint64{uint64(r.N), r.MemAllocs, r.MemBytes, loop} {
		s = append(s, ' ')
		for i := 60; i >= 0; i -= 4 {
			s = append(s, "0123456789abcdef"[v>>i&15])
		}
	}
	return string(s)
}
`

const earlyLog = `type perfgateNote struct {
	action func(Interface, string)
	name   string
}

type perfgateNotes struct {
	mu   sync.Mutex
	all  []perfgateNote
	done bool // a goroutine may still have this logger
}

func (n *perfgateNotes) add(action func(Interface, string), name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.done {
		n.all = append(n.all, perfgateNote{action, name})
	} else if log := Logger(); log != nil {
		action(log, name)
	}
}

func (n *perfgateNotes) Getenv(string)     {}
func (n *perfgateNotes) Stat(name string)  { n.add(Interface.Stat, name) }
func (n *perfgateNotes) Open(name string)  { n.add(Interface.Open, name) }
func (n *perfgateNotes) Chdir(name string) { n.add(Interface.Chdir, name) }

var perfgateEarly = new(perfgateNotes)

func init() {
	var first Interface = perfgateEarly
	logger.Store(&first)
}

func perfgateEnd() {
	if l := logger.Load(); l != nil && *l == Interface(perfgateEarly) {
		logger.Store(nil)
	}
}

func perfgateReplay() {
	perfgateEnd()
	perfgateEarly.mu.Lock()
	defer perfgateEarly.mu.Unlock()
	if log := Logger(); log != nil {
		for _, note := range perfgateEarly.all {
			note.action(log, note.name)
		}
	}
	perfgateEarly.all, perfgateEarly.done = nil, true
}
`
