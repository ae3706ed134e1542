package exact

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// worksWith names the Go releases whose sources the edits were made for. It is
// for messages alone: whether an edit applies is decided by the source.
const worksWith = "go1.24 to go1.27"

// An edit replaces text in one file of the toolchain. The first of its variants
// whose old text occurs exactly count times is applied; if none does, the
// toolchain is not one that the edits were made for.
type edit struct {
	file     string // below GOROOT/src
	why      string
	goarch   string // only for this one; "" for all
	absent   bool   // releases that do not have the file do not need the edit
	sysmon   bool   // left out with [Flags.Sysmon]
	clock    bool   // left out with [Flags.Realtime]
	count    int
	variants []variant
}

type variant struct{ old, new string }

// edits make two runs of one binary execute the same instructions. What each
// one costs when it is missing stands in "why".
//
// Nothing here is a fixed copy of the toolchain's text: the files in use are
// read, edited, and given to the compiler as an overlay.
var edits = []edit{
	{
		file: "runtime/proc.go", count: 1, sysmon: true,
		why: "no monitor thread: it wakes up by the clock (30,000 Ir, crashes)",
		variants: []variant{{
			`const haveSysmon = GOARCH != "wasm"`,
			`const haveSysmon = false`,
		}},
	}, {
		file: "runtime/proc.go", count: 1,
		why: "the main goroutine does not lock its thread: else the P moves to a second one and back, and futex waits depend on the kernel (42 Ir in 1 of 10 runs)",
		variants: []variant{{
			"\tlockOSThread()\n\n\tif mp != &m0 {",
			"\tif mp != &m0 {",
		}},
	}, {
		file: "runtime/proc.go", count: 1,
		why: "nor unlocks it when initialization ends early",
		variants: []variant{{
			"\t\tif needUnlock {\n\t\t\tunlockOSThread()\n\t\t}",
			"\t\t_ = needUnlock",
		}},
	}, {
		file: "runtime/proc.go", count: 1,
		why: "nor when it is done",
		variants: []variant{{
			"\tneedUnlock = false\n\tunlockOSThread()\n",
			"\tneedUnlock = false\n",
		}},
	}, {
		file: "runtime/proc.go", count: 1,
		why: "a program with cgo starts no template thread: whether it comes to run before the program ends is chance (3,095 Ir in 1 of 7 runs)",
		variants: []variant{{
			"\t\tstartTemplateThread()\n\t\tcgocall(_cgo_notify_runtime_init_done, nil)\n",
			"\t\tcgocall(_cgo_notify_runtime_init_done, nil)\n",
		}},
	}, {
		file: "runtime/proc.go", count: 1,
		why: "without it threads are started by the one that needs them",
		variants: []variant{{
			`(gp.m.lockedExt != 0 || gp.m.incgo) && GOOS != "plan9" {`,
			`(gp.m.lockedExt != 0 || gp.m.incgo) && newmHandoff.haveTemplateThread != 0 {`,
		}},
	}, {
		file: "runtime/rand.go", count: 1,
		why: "the start seed is a constant: it decides map, hash and select seeds and the heap's place (20,000 Ir)",
		variants: []variant{{
			"\tglobalRand.state.Init(*seed)\n",
			"\tfor i := range seed {\n\t\tseed[i] = byte(i)*37 + 11\n\t}\n\tglobalRand.state.Init(*seed)\n",
		}},
	}, {
		file: "runtime/rand.go", count: 1,
		why: "a hook that puts the thread's random state back: what start-up drew must not decide the benchmark's map seeds",
		variants: []variant{{
			// Since Go 1.27 the cheap generator has a state for each width.
			"\tmp.cheaprand = uint32(rand())\n\tmp.cheaprand64 = rand()\n}\n",
			"\tmp.cheaprand = uint32(rand())\n\tmp.cheaprand64 = rand()\n}\n" + resetRand("mp.cheaprand = 0x2545f491\n\tmp.cheaprand64 = 0x2545f4914f6cdd1d"),
		}, {
			"\tmp.cheaprand = rand()\n}\n",
			"\tmp.cheaprand = rand()\n}\n" + resetRand("mp.cheaprand = 0x2545f4914f6cdd1d"),
		}},
	}, {
		file: "runtime/iface.go", count: 2,
		why: "type assertion and type switch caches are always filled, not in a random one of 1,000 operations (Sprintf moves by up to 5 %)",
		variants: []variant{{
			"if cheaprand()&1023 != 0 {",
			"if false {",
		}},
	}, {
		file: "runtime/iface.go", count: 2,
		why: "likewise when the cache grows",
		variants: []variant{{
			"if cheaprand()&uint32(oldC.Mask) != 0 {",
			"if false {",
		}},
	}, {
		file: "runtime/debug.go", count: 1,
		why: "a benchmark that calls GOMAXPROCS gets 1 (6 % apart, hangs)",
		variants: []variant{{
			`if GOARCH == "wasm" && n > 1 {`,
			`if n > 1 {`,
		}},
	}, {
		file: "runtime/os_linux.go", count: 1,
		why: "NumCPU is 1: worker counts must not depend on the machine (0.2 % between hosts)",
		variants: []variant{
			{"\tnumCPUStartup = getCPUCount()\n", "\tnumCPUStartup = 1\n"},
			{"\tncpu = getproccount()\n", "\tncpu = 1\n"}, // Go 1.24
		},
	}, {
		file: "runtime/cgroup_linux.go", count: 1, absent: true,
		why: "start-up does not read the machine's list of mounts: a mount made between two runs costs 84 Ir",
		variants: []variant{{
			"func defaultGOMAXPROCSInit() {\n",
			"func defaultGOMAXPROCSInit() {\n\tif true {\n\t\treturn\n\t}\n",
		}},
	}, {
		file: "runtime/sigqueue.go", count: 1,
		why: "a program that catches signals looks for them every 100 ms of virtual time: waiting keeps a thread busy, with which another runs at the same time and the virtual clock never jumps (0.4 % in quic; sleeping hangs)",
		variants: []variant{{
			"\t\t\t\t\tnotetsleepg(&sig.note, -1)\n",
			"\t\t\t\t\tfor sig.note.key == 0 {\n\t\t\t\t\t\ttimeSleep(100_000_000)\n\t\t\t\t\t}\n",
		}},
	}, {
		file: "runtime/signal_unix.go", count: 1,
		why: "nor has it a thread for the mask of signals, and one to start it",
		variants: []variant{{
			"\t\tLockOSThread()\n\t\tdefer UnlockOSThread()\n",
			"",
		}},
	}, {
		file: "runtime/signal_unix.go", count: 2,
		why: "whose mask would be that of all",
		variants: []variant{{
			"sigprocmask(_SIG_SETMASK, &sigBlocked, nil)\n",
			"_ = sigBlocked\n",
		}},
	}, {
		file: "runtime/time_fake.go", count: 1, clock: true,
		why: "the virtual clock, without the tag faketime: packages that are not the toolchain's may have a use for it, and other code then",
		variants: []variant{{
			"//go:build faketime && !windows\n",
			"//go:build linux\n",
		}},
	}, {
		file: "runtime/time_nofake.go", count: 1, clock: true,
		why: "instead of the real one",
		variants: []variant{{
			"//go:build !faketime\n",
			"//go:build !linux\n",
		}},
	}, {
		file: "runtime/timeasm.go", count: 1, clock: true,
		why: "likewise",
		variants: []variant{{
			"//go:build !faketime && ",
			"//go:build !linux && ",
		}},
	}, {
		file: "runtime/time_linux_amd64.s", goarch: "amd64", count: 1, clock: true,
		why: "likewise",
		variants: []variant{{
			"//go:build !faketime\n",
			"//go:build !linux\n",
		}},
	}, {
		file: "runtime/timestub.go", count: 1, clock: true,
		why: "likewise, where there is no assembly",
		variants: []variant{{
			"//go:build !faketime && ",
			"//go:build !linux && ",
		}},
	}, {
		file: "syscall/time_fake.go", count: 1, clock: true,
		why: "what is written to the standard streams has the virtual time in front, also by this package",
		variants: []variant{{
			"//go:build faketime\n",
			"//go:build linux\n",
		}},
	}, {
		file: "syscall/time_nofake.go", count: 1, clock: true,
		why: "likewise",
		variants: []variant{{
			"//go:build !faketime\n",
			"//go:build !linux\n",
		}},
	}, {
		file: "runtime/time_fake.go", count: 1,
		why: "each reading of the virtual clock advances it by 1 µs: loops that wait for a deadline end",
		variants: []variant{{
			"func nanotime() int64 {\n",
			"func nanotime() int64 {\n\tfaketime += 1000\n",
		}},
	}, {
		file: "runtime/time_fake.go", count: 1,
		why: "likewise",
		variants: []variant{{
			"func time_now() (sec int64, nsec int32, mono int64) {\n",
			"func time_now() (sec int64, nsec int32, mono int64) {\n\tfaketime += 1000\n",
		}},
	}, {
		file: "internal/syscall/unix/getrandom.go", count: 1,
		why: "crypto/rand reads a counter-based generator: random bytes steer rejection loops (ECDSA, RSA, TLS differ each run)",
		variants: []variant{{
			"\tret, supported := vgetrandom(p, uint32(flags))\n",
			"\tif perfgateExact {\n\t\tperfgateFill(p)\n\t\treturn len(p), nil\n\t}\n\tret, supported := vgetrandom(p, uint32(flags))\n",
		}},
	}, {
		file: "internal/syscall/unix/getrandom.go", count: 1,
		why: "the generator: splitmix64, see Steele, Lea, Flood: Fast splittable pseudorandom number generators",
		variants: []variant{{
			"// GetRandom calls the getrandom system call.\n",
			fill + "\n// GetRandom calls the getrandom system call.\n",
		}},
	}, {
		file: "internal/cpu/cpu_x86.go", goarch: "amd64", count: 1,
		why: "valgrind's CPUID claims RDTSCP, and its decoder refuses it where the host lacks it (SIGILL)",
		variants: []variant{{
			"X86.HasRDTSCP = isSet(edxExt1, cpuid_RDTSCP)",
			"X86.HasRDTSCP = isSet(edxExt1, cpuid_RDTSCP) && false",
		}},
	}, {
		file: "testing/benchmark.go", count: 1,
		why: "ResetTimer, which testing calls before every benchmark function, puts the random states back",
		variants: []variant{{
			"func (b *B) ResetTimer() {\n",
			"func (b *B) ResetTimer() {\n\tperfgateResetRand()\n\tperfgateResetFill()\n",
		}},
	}, {
		file: "testing/benchmark.go", count: 1,
		why: "the result in a form whose printing costs the same whatever the figures are, with the allocations as totals",
		variants: []variant{{
			"\t\t\tresults := r.String()\n",
			"\t\t\tresults := perfgateResult(b, r)\n",
		}},
	}, {
		file: "testing/benchmark.go", count: 1,
		why: "allocations are in that result already",
		variants: []variant{{
			"\t\t\tif *benchmarkMemory || b.showAllocResult {\n",
			"\t\t\tif false {\n",
		}},
	}, {
		file: "testing/benchmark.go", count: 1,
		why: "a mark after the last benchmark: a program can print PASS, or end with status 0, before it has run them all",
		variants: []variant{{
			"\tmain.runN(1)\n\treturn !main.failed\n",
			"\tmain.runN(1)\n\tfmt.Fprintln(main.w, \"" + endMark + "\")\n\treturn !main.failed\n",
		}},
	}, {
		file: "testing/benchmark.go", count: 2,
		why: "a benchmark that only stands above the one asked for runs its b.Loop once, as it runs with b.N = 1: else the slope has both",
		variants: []variant{{
			"uint64(b.benchTime.n)",
			"perfgateLoops(b)",
		}},
	}, {
		file: "testing/benchmark.go", count: 1,
		why: "linkname needs unsafe",
		variants: []variant{{
			"\t\"unicode\"\n)\n",
			"\t\"unicode\"\n\t_ \"unsafe\"\n)\n",
		}},
	}, {
		file: "testing/benchmark.go", count: 1,
		why: "the functions of the edits above",
		variants: []variant{{
			"// ResetTimer zeroes the elapsed benchmark time",
			testingHooks + "\n// ResetTimer zeroes the elapsed benchmark time",
		}},
	}, {
		file: "testing/internal/testdeps/deps.go", count: 1,
		why: "a pattern is compiled once, not again for each sibling that it leaves out: twice 1,000 leaves took four times as long (51,000 Ir for each pair)",
		variants: []variant{{
			"\tif matchRe == nil || matchPat != pat {\n\t\tmatchPat = pat\n\t\tmatchRe, err = regexp.Compile(matchPat)\n",
			"\tif matchRe = perfgateCompiled[pat]; matchRe == nil {\n\t\tmatchPat = pat\n\t\tmatchRe, err = regexp.Compile(matchPat)\n\t\tperfgateCompiled[pat] = matchRe\n",
		}},
	}, {
		file: "testing/internal/testdeps/deps.go", count: 1,
		why: "what it keeps them in",
		variants: []variant{{
			"var matchRe *regexp.Regexp\n",
			"var matchRe *regexp.Regexp\nvar perfgateCompiled = make(map[string]*regexp.Regexp)\n",
		}},
	}, {
		file: "os/exec.go", count: 1,
		why: "the log says that a program is started: nobody knows what that one reads",
		variants: []variant{{
			"\ttestlog.Open(name)\n",
			"\ttestlog.Open(\"" + startMark + "\")\n",
		}},
	}, {
		file: "os/file.go", count: 1,
		why: "and that a link is read",
		variants: []variant{{
			"func Readlink(name string) (string, error) {\n",
			"func Readlink(name string) (string, error) {\n\ttestlog.Stat(name)\n",
		}},
	}, {
		file: "internal/testlog/exit.go", count: 1,
		why: "the log of files that a program looks at has those of its initialization: without them a changed one is not noticed, and remembered counts are wrong",
		variants: []variant{{
			"// panicOnExit0 is the flag used for PanicOnExit0.",
			earlyLog + "\n// panicOnExit0 is the flag used for PanicOnExit0.",
		}},
	}, {
		file: "internal/testlog/exit.go", count: 1,
		why: "which go into the log when testing begins, or nowhere",
		variants: []variant{{
			"func SetPanicOnExit0(v bool) {\n",
			"func SetPanicOnExit0(v bool) {\n\tperfgateReplay()\n",
		}},
	}, {
		file: "internal/testlog/log.go", count: 1,
		why: "and give way to it",
		variants: []variant{{
			"\tif !logger.CompareAndSwap(nil, &impl) {\n",
			"\tperfgateEnd()\n\tif !logger.CompareAndSwap(nil, &impl) {\n",
		}},
	},
}

// apply returns the edited text of each file that the edits for goarch touch,
// by its name below GOROOT/src, and how many edits that took.
func apply(goarch string, f Flags, read func(file string) (string, error)) (files map[string]string, n int, err error) {
	files = make(map[string]string)
	for _, e := range edits {
		if e.goarch != "" && e.goarch != goarch || e.sysmon && f.Sysmon || e.clock && f.Realtime {
			continue
		}
		text, ok := files[e.file]
		if !ok {
			var err error
			text, err = read(e.file)
			if e.absent && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, 0, err
			}
		}
		edited, err := e.apply(text)
		if err != nil {
			return nil, 0, err
		}
		files[e.file] = edited
		n++
	}
	return files, n, nil
}

func (e edit) apply(text string) (string, error) {
	for _, v := range e.variants {
		if strings.Count(text, v.old) == e.count {
			return strings.ReplaceAll(text, v.old, v.new), nil
		}
	}
	near := e.variants[0].old // or the one that is there too often or too rarely
	for _, v := range e.variants {
		if strings.Contains(text, v.old) {
			near = v.old
			break
		}
	}
	return "", fmt.Errorf("%s: %q occurs %d times, not %d", e.file, strings.TrimSpace(near), strings.Count(text, near), e.count)
}
