package main

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// selfFiles is the module that doctor and selftest measure, with ".txt" behind
// the names of its files so that it is no package of this module.
//
//go:embed selfcheck
var selfFiles embed.FS

// writeSelfModule writes the module into a new folder. The module is nobody's:
// from here on no workspace and no flags of the user's apply.
func writeSelfModule(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	os.Setenv("GOWORK", "off")
	os.Setenv("GOFLAGS", "")
	files := map[string]string{"go.mod": "module self\n\ngo 1.24\n"}
	for _, name := range []string{"self.go", "self_test.go"} {
		text, err := selfFiles.ReadFile("selfcheck/" + name + ".txt")
		if err != nil {
			return err
		}
		files[name] = string(text)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// extraRounds is how many rounds the loop has that slowSelfModule adds.
const extraRounds = 100

// slowSelfModule adds a loop to the function Work of the module in dir.
func slowSelfModule(dir string) error {
	const call = "\tx = Spin(x, Rounds)\n"
	name := filepath.Join(dir, "self.go")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if strings.Count(string(text), call) != 1 {
		return fmt.Errorf("%s has no place for the loop", name)
	}
	loop := fmt.Sprintf("\tfor range %d {\n\t\tx = x*1664525 + 1013904223\n\t}\n", extraRounds)
	return os.WriteFile(name, []byte(strings.Replace(string(text), call, call+loop, 1)), 0o600)
}
