package original

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestEnv(t *testing.T) {
	old, dir := t.TempDir(), t.TempDir()
	t.Setenv("CARGO_HOME", old)
	t.Setenv("RUSTFLAGS", "-C target-cpu=native")
	t.Setenv("HTTPS_PROXY", "proxy")
	for _, name := range []string{"config.toml", "credentials.toml"} {
		if err := os.WriteFile(filepath.Join(old, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env, err := Env(dir)
	home := filepath.Join(dir, "home")
	if err != nil || !slices.Contains(env, "CARGO_HOME="+home) || slices.Contains(env, "CARGO_HOME="+old) ||
		slices.Contains(env, "RUSTFLAGS=-C target-cpu=native") || !slices.Contains(env, "HTTPS_PROXY=proxy") {
		t.Errorf("got %q, %v", env, err)
	}
	files, err := os.ReadDir(home)
	if err != nil || len(files) != 1 || files[0].Name() != "config.toml" {
		t.Errorf("copied %v, %v", files, err)
	}
}
