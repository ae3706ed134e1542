package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/cachekit-go/cachekit/scripts/internal/original"
)

// The original, and its program that prints the table. Its manifest and lock
// say how it is built: optimized as its authors publish figures of it.
const (
	crate   = "cachekit-core"
	version = "0.7.2"
	example = "bench_throughput"
)

// manifest depends on the crate, so that cargo fetches it.
const manifest = `[package]
name = "fetch"
version = "0.0.0"
edition = "2021"

[lib]
path = "empty.rs"

[dependencies]
cachekit-core = { version = "=0.7.2", features = ["encryption"] }
`

// buildOriginal builds the crate's example below dir and returns its path.
func buildOriginal(ctx context.Context, cargo, dir string) (string, error) {
	env, err := original.Env(dir)
	if err != nil {
		return "", err
	}
	run := func(args ...string) (string, error) {
		c := exec.CommandContext(ctx, cargo, args...)
		c.Dir, c.Env = dir, env
		return original.Output(c)
	}
	for name, text := range map[string]string{"Cargo.toml": manifest, "empty.rs": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	text, err := run("metadata", "--format-version", "1")
	if err != nil {
		return "", fmt.Errorf("fetching %s: %w", crate, err)
	}
	path, err := manifestPath(text)
	if err != nil {
		return "", err
	}
	target := filepath.Join(dir, "target")
	if _, err := run("build", "--release", "--locked", "--example", example, "--features", "encryption",
		"--manifest-path", path, "--target-dir", target); err != nil {
		return "", fmt.Errorf("building %s: %w", crate, err)
	}
	return filepath.Join(target, "release", "examples", example), nil
}

// manifestPath finds the crate's manifest in what cargo metadata prints.
func manifestPath(text string) (string, error) {
	var meta struct {
		Packages []struct {
			Name, Version string
			Path          string `json:"manifest_path"`
		}
	}
	if err := json.Unmarshal([]byte(text), &meta); err != nil {
		return "", fmt.Errorf("reading cargo metadata: %w", err)
	}
	for _, p := range meta.Packages {
		if p.Name == crate && p.Version == version {
			return p.Path, nil
		}
	}
	return "", fmt.Errorf("cargo fetched no %s %s", crate, version)
}
