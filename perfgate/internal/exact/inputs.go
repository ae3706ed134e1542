package exact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// inputFields are the members of go list's answer that an [inputPackage] has.
const inputFields = "Dir,Name,Standard,Module,DefaultGODEBUG," +
	"GoFiles,CgoFiles,CFiles,CXXFiles,MFiles,HFiles,FFiles,SFiles,SwigFiles,SwigCXXFiles,SysoFiles,EmbedFiles"

// An inputPackage is what go list says of the files that a package is made of.
type inputPackage struct {
	Dir, Name, DefaultGODEBUG                       string
	Standard                                        bool
	Module                                          *struct{ GoMod, GoVersion string }
	GoFiles, CgoFiles, CFiles, CXXFiles, MFiles     []string
	HFiles, FFiles, SFiles, SwigFiles, SwigCXXFiles []string
	SysoFiles, EmbedFiles                           []string
}

// inputs are what decides the code of a test binary beside the toolchain and
// its settings. Files in the module cache are known by their module's version.
type inputs struct {
	facts []string
	files []inputFile
}

type inputFile struct{ id, path string }

// add adds a package, which go list calls name.
func (in *inputs) add(name string, p *inputPackage, modCache string) {
	version := ""
	if p.Module != nil {
		version = p.Module.GoVersion
	}
	rel, err := filepath.Rel(modCache, p.Dir)
	if modCache != "" && err == nil && filepath.IsLocal(rel) {
		in.facts = append(in.facts, name+" "+rel+" "+version)
		return
	}
	in.facts = append(in.facts, name+" "+version+" "+p.DefaultGODEBUG)
	files := slices.Concat(p.GoFiles, p.CgoFiles, p.CFiles, p.CXXFiles, p.MFiles, p.HFiles, p.FFiles, p.SFiles,
		p.SwigFiles, p.SwigCXXFiles, p.SysoFiles, p.EmbedFiles)
	if profile := "default.pgo"; p.Name == "main" {
		if _, err := os.Stat(filepath.Join(p.Dir, profile)); err == nil {
			files = append(files, profile)
		}
	}
	for _, f := range files {
		// The main function of a test binary is generated from the others.
		if !filepath.IsAbs(f) {
			in.files = append(in.files, inputFile{name + " " + f, filepath.Join(p.Dir, f)})
		}
	}
}

// Inputs returns a hash of all that decides the code of the package's test
// binary beside the toolchain and its settings. Where two are equal, the
// binaries are, but for the paths of the source.
func (p Package) Inputs() (string, error) {
	h := sha256.New()
	slices.Sort(p.inputs.facts)
	for _, f := range p.inputs.facts {
		fmt.Fprintf(h, "%q\n", f)
	}
	slices.SortFunc(p.inputs.files, func(a, b inputFile) int { return strings.Compare(a.id, b.id) })
	for _, f := range p.inputs.files {
		if err := HashFile(h, f.id, f.path); err != nil {
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
