package report

import (
	"bufio"
	"fmt"
	"io"
)

// WriteBench writes the benchmarks that have a count, and a stable one, in Go's benchmark format. The unit
// lines tell benchstat that single values compare exactly.
//
// See golang.org/design/14313-benchmark-format and
// golang.org/x/perf/benchfmt for unit metadata.
func (d *Document) WriteBench(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "goos: %s\ngoarch: %s\n", d.Target.GOOS, d.Target.GOARCH)
	fmt.Fprintf(b, "go: %s\nvalgrind: %s\n", d.Toolchain.Go, d.Toolchain.Valgrind)
	for _, unit := range []string{"Ir/op", "B/op", "allocs/op"} {
		fmt.Fprintf(b, "Unit %s better=lower assume=exact\n", unit)
	}
	pkg := ""
	for _, r := range d.Benchmarks {
		if !r.exact() {
			continue
		}
		if r.Pkg != pkg {
			pkg = r.Pkg
			fmt.Fprintf(b, "pkg: %s\n", pkg)
		}
		iterations := 1
		for range *r.K {
			iterations *= 10
		}
		fmt.Fprintf(b, "Benchmark%s\t%d\t%v Ir/op\t%v B/op\t%v allocs/op\n", r.Name, iterations, *r.IrPerOp, *r.BytesPerOp, *r.AllocsPerOp)
	}
	return b.Flush()
}
