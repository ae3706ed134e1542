package exact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// inputFields are the members of go list's answer that an [inputPackage] has.
const inputFields = "ImportPath,Dir,Name,Standard,Module,DefaultGODEBUG," +
	"GoFiles,CgoFiles,CFiles,CXXFiles,MFiles,HFiles,FFiles,SFiles,SwigFiles,SwigCXXFiles,SysoFiles,EmbedFiles"

// An inputPackage is what go list says of the files that a package is made of.
type inputPackage struct {
	ImportPath, Dir, Name, DefaultGODEBUG           string
	Standard                                        bool
	Module                                          *struct{ GoMod, GoVersion string }
	GoFiles, CgoFiles, CFiles, CXXFiles, MFiles     []string
	HFiles, FFiles, SFiles, SwigFiles, SwigCXXFiles []string
	SysoFiles, EmbedFiles                           []string

	sum func() (string, error) // hash, once
}

// inputs are the packages that a test binary is made of, by import path: with
// the standard library, which someone may work on, and what is in the module
// cache, where an edit leaves the version as it is.
type inputs []*inputPackage

// readStandard reads the files of the standard library, a thousand or so, before
// anyone asks: while packages are listed there is time. An error comes again
// when someone does.
func (in inputs) readStandard() {
	for _, p := range in {
		if p.Standard {
			p.sum()
		}
	}
}

// Inputs returns a hash of all that decides the code of the package's test
// binary beside the toolchain and its settings. Where two are equal, the
// binaries are, but for the paths of the source.
//
// A file is read once for all packages that were listed together.
func (p Package) Inputs() (string, error) {
	h := sha256.New()
	for _, q := range p.inputs {
		sum, err := q.sum()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q %s\n", q.ImportPath, sum)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hash returns a hash of a package's files and of how they are compiled.
func (p *inputPackage) hash(modCache string) (string, error) {
	h := sha256.New()
	version, kept := "", ""
	if p.Module != nil {
		version = p.Module.GoVersion
	}
	if rel, err := filepath.Rel(modCache, p.Dir); modCache != "" && err == nil && filepath.IsLocal(rel) {
		kept = rel // has the module's version, which is in the binary
	}
	fmt.Fprintf(h, "%q %q %q\n", version, kept, p.DefaultGODEBUG)
	files := slices.Concat(p.GoFiles, p.CgoFiles, p.CFiles, p.CXXFiles, p.MFiles, p.HFiles, p.FFiles, p.SFiles,
		p.SwigFiles, p.SwigCXXFiles, p.SysoFiles, p.EmbedFiles)
	if profile := "default.pgo"; p.Name == "main" {
		if _, err := os.Stat(filepath.Join(p.Dir, profile)); err == nil {
			files = append(files, profile)
		}
	}
	slices.Sort(files)
	for _, f := range files {
		// The main function of a test binary is generated from the others.
		if filepath.IsAbs(f) {
			continue
		}
		if err := HashFile(h, f, filepath.Join(p.Dir, f)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// HashFile adds a file to a hash: its id and a hash of its content.
func HashFile(h io.Writer, id, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	fmt.Fprintf(h, "%q %x\n", id, sum.Sum(nil))
	return nil
}
