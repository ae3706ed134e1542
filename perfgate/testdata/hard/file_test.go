package hard

import (
	"bufio"
	"os"
	"path/filepath"
	"testing"
)

// Files: the kernel does the work, in a folder that is another each time.

func BenchmarkFileWrite(b *testing.B) {
	name := filepath.Join(b.TempDir(), "out")
	text := make([]byte, 4_000)
	for b.Loop() {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFileRead(b *testing.B) {
	name := filepath.Join(b.TempDir(), "in")
	if err := os.WriteFile(name, make([]byte, 4_000), 0o600); err != nil {
		b.Fatal(err)
	}
	for i := 0; i < b.N; i++ {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		r := bufio.NewReader(f)
		for {
			if _, err := r.ReadByte(); err != nil {
				break
			}
		}
		f.Close()
	}
}

func BenchmarkFileTemp(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		f, err := os.CreateTemp(dir, "temp-*")
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
		if err := os.Remove(f.Name()); err != nil {
			b.Fatal(err)
		}
	}
}
