package main

import (
	"debug/elf"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// header returns the text of cachekit.h without comments.
func header(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("include/cachekit.h")
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(text), "")
}

// functions returns the names that a header declares.
func functions(text string) []string {
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\w[\w ]*[ *](cachekit_\w+)\(`).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// The library exports what the header declares, and no more of that prefix.
func TestExports(t *testing.T) {
	f, err := elf.Open(filepath.Join(library(t, installed).lib, "libcachekit.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var exports []string
	for _, s := range symbols {
		if strings.HasPrefix(s.Name, "cachekit_") && s.Section != elf.SHN_UNDEF {
			exports = append(exports, s.Name)
		}
	}
	slices.Sort(exports)
	if declared := functions(header(t)); !slices.Equal(exports, declared) || len(exports) != 14 {
		t.Errorf("exports\n%q\nwant what is declared\n%q", exports, declared)
	}
}

// export.go includes the header, so a signature that differs does not compile.
// Here it is shown that any would not: cgo's header, which declares what export.go
// has, is compiled with one function of ours at a time changed.
func TestSignatures(t *testing.T) {
	lib := library(t, hooked)
	text, err := os.ReadFile("include/cachekit.h")
	if err != nil {
		t.Fatal(err)
	}
	try := func(t *testing.T, text string) error {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "cachekit.h"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := output(t.Context(), ".", environ(), "gcc", "-fsyntax-only", "-I"+dir, "-Itestdata", "-xc", filepath.Join(lib.lib, "libcachekit.h"))
		return err
	}
	if err := try(t, string(text)); err != nil {
		t.Fatal(err)
	}
	changes := 0
	for _, name := range functions(header(t)) {
		at := regexp.MustCompile(`(?ms)^\w[\w ]*[ *]` + name + `\(.*?\);`).FindStringIndex(string(text))
		declaration := string(text[at[0]:at[1]])
		for _, c := range []struct{ old, new string }{
			{"const uint8_t *", "uint8_t *"},
			{"uint8_t *output", "const uint8_t *output"},
			{"const char *", "char *"},
			{"const CachekitEncryptor *", "CachekitEncryptor *"},
			{"size_t ", "uint32_t "},
			{"size_t *", "uint32_t *"},
			{"CachekitError ", "uint64_t "},
			{"void ", "int "},
			{"uint64_t ", "uint32_t "},
			{");", ", int more);"},
		} {
			changed := strings.Replace(declaration, c.old, c.new, 1)
			if changed == declaration {
				continue
			}
			changes++
			if err := try(t, string(text[:at[0]])+changed+string(text[at[1]:])); err == nil {
				t.Errorf("compiles with %s", changed)
			}
		}
	}
	if changes < 40 {
		t.Errorf("only %d changes were tried", changes)
	}
}

func TestCodes(t *testing.T) {
	got := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^ +CACHEKIT_(\w+) = (\d+)`).FindAllStringSubmatch(header(t), -1) {
		got[m[1]], _ = strconv.Atoi(m[2])
	}
	names := map[string]int{
		"OK": 0, "INVALID_INPUT": 1, "CHECKSUM_MISMATCH": 2, "DECOMPRESSION_FAILED": 3, "DECRYPTION_FAILED": 4,
		"ROTATION_NEEDED": 5, "COUNTER_EXHAUSTED": 6, "INVALID_KEY_LENGTH": 7, "BUFFER_TOO_SMALL": 8, "NULL_POINTER": 9,
		"INPUT_TOO_LARGE": 10, "DECOMPRESSION_BOMB": 11, "SIZE_VALIDATION_FAILED": 12, "RNG_FAILURE": 13,
		"DOMAIN_TOO_LONG": 14, "SALT_TOO_LONG": 15, "INVALID_HANDLE": 16,
	}
	if !maps.Equal(got, names) {
		t.Errorf("the header has %v, want %v", got, names)
	}
	for name, number := range map[string]int{
		"CACHEKIT_MAX_DOMAIN_LENGTH":      cachekit.MaxDomainSize,
		"CACHEKIT_MAX_TENANT_SALT_LENGTH": cachekit.MaxTenantSaltSize,
		"CACHEKIT_MAX_DECRYPT_ONLY_KEYS":  cachekit.MaxDecryptOnlyKeys,
	} {
		if line := "#define " + name + " " + strconv.Itoa(number) + "\n"; !strings.Contains(header(t), line) {
			t.Errorf("the header lacks %s", line)
		}
	}
	for n, c := range map[string]code{
		"OK": ok, "INVALID_INPUT": invalidInput, "CHECKSUM_MISMATCH": checksumMismatch, "DECOMPRESSION_FAILED": decompressionFailed,
		"DECRYPTION_FAILED": decryptionFailed, "ROTATION_NEEDED": rotationNeeded, "COUNTER_EXHAUSTED": counterExhausted,
		"INVALID_KEY_LENGTH": invalidKeyLength, "BUFFER_TOO_SMALL": bufferTooSmall, "NULL_POINTER": nullPointer,
		"INPUT_TOO_LARGE": inputTooLarge, "DECOMPRESSION_BOMB": decompressionBomb, "SIZE_VALIDATION_FAILED": sizeValidationFailed,
		"DOMAIN_TOO_LONG": domainTooLong, "SALT_TOO_LONG": saltTooLong, "INVALID_HANDLE": invalidHandle,
	} {
		if int(c) != names[n] {
			t.Errorf("%s is %d here", n, c)
		}
	}
}

// The Rust library's names, in C and, where there is a compiler, in C++.
func TestUnprefixed(t *testing.T) {
	need(t, "gcc")
	source := filepath.Join(t.TempDir(), "names.c")
	text := `#include "cachekit.h"
static CACHEKIT_CachekitError f(CACHEKIT_CachekitEncryptor *e, CACHEKIT_ByteStorage *s) { (void)e; (void)s; return OK; }
int main(void) {
`
	for _, m := range regexp.MustCompile(`(?m)^ +CACHEKIT_(\w+) = \d+`).FindAllStringSubmatch(header(t), -1) {
		text += "\tif (" + m[1] + " != CACHEKIT_" + m[1] + ") return 1;\n"
	}
	if err := os.WriteFile(source, []byte(text+"\treturn (int)f(NULL, NULL);\n}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	flags := []string{"-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Iinclude"}
	if _, err := output(t.Context(), ".", environ(), "gcc", append(flags, "-std=c99", "-DCACHEKIT_UNPREFIXED", source)...); err != nil {
		t.Error(err)
	}
	if _, err := output(t.Context(), ".", environ(), "gcc", append(flags, "-std=c99", source)...); err == nil {
		t.Error("the names are there without CACHEKIT_UNPREFIXED")
	}
	if _, err := exec.LookPath("g++"); err == nil {
		if _, err := output(t.Context(), ".", environ(), "g++", append(flags, "-std=c++11", "-DCACHEKIT_UNPREFIXED", source)...); err != nil {
			t.Error(err)
		}
	}
}

func TestPkgConfig(t *testing.T) {
	lib := library(t, installed)
	if _, err := exec.LookPath("pkg-config"); err != nil {
		t.Log("pkg-config is missing; the other tests read the file themselves")
		return
	}
	out, err := output(t.Context(), ".", environ("PKG_CONFIG_PATH="+filepath.Join(lib.lib, "pkgconfig")), "pkg-config", "--cflags", "--libs", "cachekit")
	got, want := strings.Fields(out), slices.Clone(lib.flags)
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// A package is staged below DESTDIR, and says where it will be.
func TestDestdir(t *testing.T) {
	library(t, installed)
	dir := t.TempDir()
	if _, err := output(t.Context(), "../..", environ(), "make", "install-ffi", "PREFIX=/opt/cachekit", "DESTDIR="+dir, "FFI="+filepath.Join(scratch, "staged")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lib/libcachekit.so", "include/cachekit.h", "lib/pkgconfig/cachekit.pc"} {
		text, err := os.ReadFile(filepath.Join(dir, "opt/cachekit", name))
		if err != nil {
			t.Error(err)
		}
		if filepath.Ext(name) == ".pc" && !strings.HasPrefix(string(text), "prefix=/opt/cachekit\n") {
			t.Errorf("%s: %s", name, text)
		}
		if strings.Contains(string(text), dir) {
			t.Errorf("%s names the folder that it was staged in", name)
		}
	}
}
