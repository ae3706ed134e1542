// Package original owns what the comparisons with programs of others have in
// common: an environment in which cargo leaves nothing behind, running programs,
// and printing figures with their range.
package original

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoCargo is a machine without Rust.
var ErrNoCargo = errors.New("cargo is not in PATH: install Rust to build the original")

// Cargo returns where cargo is. It fails with ErrNoCargo.
func Cargo() (string, error) {
	path, err := exec.LookPath("cargo")
	if err != nil {
		return "", ErrNoCargo
	}
	return path, nil
}

// Output runs c and returns its standard output. What it prints on standard
// error is in the error.
func Output(c *exec.Cmd) (string, error) {
	out, err := c.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && len(e.Stderr) > 0 {
		err = fmt.Errorf("%w\n%s", err, e.Stderr)
	}
	return string(out), err
}

// Spread prints the median and the range of figures, which it sorts.
func Spread(v []float64) string {
	slices.Sort(v)
	return fmt.Sprintf("%.2f (%.2f to %.2f)", v[len(v)/2], v[0], v[len(v)-1])
}

// Env returns the environment for cargo: the user's, for proxies and the
// choice of a toolchain, but with a home below dir, so that nothing is left
// behind, and without what would change the compiler's flags. The user's
// configuration, which may name a mirror, is copied to that home; credentials
// are not.
func Env(dir string) ([]string, error) {
	old := os.Getenv("CARGO_HOME")
	if old == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		old = filepath.Join(home, ".cargo")
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	for _, name := range []string{"config.toml", "config"} {
		b, err := os.ReadFile(filepath.Join(old, name))
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(home, name), b, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("copying cargo's configuration: %w", err)
		}
	}
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if name == "CARGO_HOME" || name == "CARGO_TARGET_DIR" || strings.Contains(name, "RUSTFLAGS") || strings.HasPrefix(name, "CARGO_PROFILE_") {
			continue
		}
		env = append(env, v)
	}
	return append(env, "CARGO_HOME="+home), nil
}
