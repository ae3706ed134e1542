// Command file encrypts and decrypts a file, one segment after the other. It
// has one segment in memory.
//
//	file -key key.txt -aad photos -segment 1048576 seal SOURCE DESTINATION
//	file -key key.txt -aad photos -segment 1048576 open SOURCE DESTINATION
package main

import (
	"io"
	"os"

	"github.com/cachekit-go/cachekit/core/floe"
	"github.com/cachekit-go/cachekit/core/floe/examples/internal/command"
)

func main() { command.Main(seal, open) }

func seal(job command.Job, source, destination *os.File, p *command.Progress) error {
	w, err := floe.NewEncryptWriter(destination, job.Key, job.AAD, job.Params)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	if _, err := io.Copy(w, p.Reader(source)); err != nil {
		return err
	}
	return w.Close()
}

func open(job command.Job, source, destination *os.File, p *command.Progress) error {
	r, err := floe.Options{Require: job.Params}.NewDecryptReader(p.Reader(source), job.Key, job.AAD)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := io.Copy(destination, r); err != nil {
		return err
	}
	return r.Finish() // nothing may follow the message
}
