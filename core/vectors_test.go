package cachekit_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// A hexBytes is a JSON string of hexadecimal digits.
type hexBytes []byte

func (h *hexBytes) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	d, err := hex.DecodeString(s)
	*h = d
	return err
}

// load reads a file of vectors into v.
func load(t testing.TB, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "cachekit", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("reading %s: %v", name, err)
	}
}

// section reads one section of crate-0.7.2.json and checks its number of rows.
func section[T any](t testing.TB, name string, rows int) []T {
	t.Helper()
	var all map[string]json.RawMessage
	load(t, "crate-0.7.2.json", &all)
	var s []T
	if err := json.Unmarshal(all[name], &s); err != nil {
		t.Fatalf("reading section %s: %v", name, err)
	}
	count(t, name, len(s), rows)
	return s
}

// count fails unless a set of vectors has the rows it should have.
func count(t testing.TB, name string, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("%s has %d rows, want %d", name, got, want)
	}
}

// envelopeKinds are the kinds of envelope errors by the text they start with.
var envelopeKinds = []struct {
	text string
	err  error
}{
	{"input exceeds maximum size", cachekit.ErrInputTooLarge},
	{"decompression ratio exceeds safety limit", cachekit.ErrDecompressionBomb},
	{"integrity check failed", cachekit.ErrChecksumMismatch},
	{"compression failed", cachekit.ErrCompressionFailed},
	{"decompression failed", cachekit.ErrDecompressionFailed},
	{"size validation failed", cachekit.ErrSizeValidationFailed},
	{"serialization failed: ", cachekit.ErrSerializationFailed},
	{"deserialization failed: ", cachekit.ErrDeserializationFailed},
}

// sameEnvelopeError reports whether err is what the original says with text:
// of the same kind and no other, and with the same words, except where the
// original's are its decoder library's.
func sameEnvelopeError(err error, text string) bool {
	if err == nil {
		return false
	}
	const deserialization = "deserialization failed: "
	for _, k := range envelopeKinds {
		if errors.Is(err, k.err) != strings.HasPrefix(text, k.text) {
			return false
		}
	}
	preScan := strings.HasPrefix(text, deserialization+"decode pre-scan: ")
	var s *cachekit.StructureError
	if errors.As(err, &s) != preScan {
		return false
	}
	if strings.HasPrefix(text, deserialization) && !preScan {
		return strings.HasPrefix(err.Error(), deserialization)
	}
	return err.Error() == text
}

// prefix is what the tests append to: it must survive.
var prefix = []byte("dst")

// retrieve retrieves env in several ways that must agree: appended to nil, to a
// slice without and one with room, and by Validate.
func retrieve(t testing.TB, env []byte) ([]byte, string, error) {
	t.Helper()
	return retrieveWith(t, cachekit.Codec{}, env)
}

func retrieveWith(t testing.TB, c cachekit.Codec, env []byte) ([]byte, string, error) {
	t.Helper()
	keep := bytes.Clone(env)
	data, format, err := c.Retrieve(nil, env)
	if err != nil && (data != nil || format != "") {
		t.Errorf("Retrieve failed but returned %d bytes and %q", len(data), format)
	}
	room := append(make([]byte, 0, len(prefix)+len(data)+100), prefix...)
	for _, dst := range [][]byte{bytes.Clone(prefix), room} {
		d, f, e := c.Retrieve(dst, env)
		if (e == nil) != (err == nil) || e != nil && e.Error() != err.Error() || f != format {
			t.Errorf("Retrieve into %d of %d bytes: %q, %v; into nil: %q, %v", len(dst), cap(dst), f, e, format, err)
		}
		if want := append(bytes.Clone(prefix), data...); !bytes.Equal(d, want) {
			t.Errorf("Retrieve into %d of %d bytes gives %d bytes, want dst and %d more", len(dst), cap(dst), len(d), len(data))
		}
	}
	if v := c.Validate(env); v != (err == nil) {
		t.Errorf("Validate is %v, Retrieve's error %v", v, err)
	}
	if !bytes.Equal(env, keep) {
		t.Errorf("Retrieve wrote to its input")
	}
	return data, format, err
}
