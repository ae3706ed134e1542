package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// A driver is a process of testdata/driver.c.
type driver struct {
	tb     testing.TB
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	cmd    *exec.Cmd
}

// drive starts a driver with the arguments before it, if there are any.
func drive(tb testing.TB, env []string, command ...string) *driver {
	tb.Helper()
	d := &driver{tb: tb, cmd: exec.Command(command[0], command[1:]...)}
	d.cmd.Env = env
	d.cmd.Stderr = &d.stderr
	in, err := d.cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	d.in, d.out = in, bufio.NewReader(out)
	if err := d.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	return d
}

// end closes the driver's input and returns its exit status.
func (d *driver) end() int {
	d.in.Close()
	return status(d.tb, d.cmd.Wait())
}

// call returns the driver's answer to a line.
func (d *driver) call(tb testing.TB, format string, args ...any) string {
	tb.Helper()
	line := fmt.Sprintf(format, args...)
	if _, err := io.WriteString(d.in, line+"\n"); err != nil {
		tb.Fatalf("%s: %v\n%s", line, err, d.stderr.String())
	}
	answer, err := d.out.ReadString('\n')
	if err != nil {
		d.in.Close()
		tb.Fatalf("%s: %v, %v\n%s", line, err, d.cmd.Wait(), d.stderr.String())
	}
	return strings.TrimSuffix(answer, "\n")
}

// A result is the answer to a call that has an output.
type result struct {
	code    code
	len     int
	touched int // bytes of the output up to the last that was written
	out     []byte
}

// result is call for such a call.
func (d *driver) result(tb testing.TB, format string, args ...any) result {
	tb.Helper()
	answer := d.call(tb, format, args...)
	var r result
	if _, err := fmt.Sscanf(answer, "code=%d len=%d touched=%d", &r.code, &r.len, &r.touched); err != nil {
		tb.Fatalf("%q: %v", answer, err)
	}
	_, text, _ := strings.Cut(answer, "out=")
	out, err := hex.DecodeString(text)
	if err != nil {
		tb.Fatalf("%q: %v", answer, err)
	}
	r.out = out
	return r
}

// word returns bytes as the driver reads them.
func word(b []byte) string {
	if len(b) == 0 {
		return "="
	}
	return hex.EncodeToString(b)
}
