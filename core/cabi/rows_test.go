package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cachekit-go/cachekit/core/internal/gcm"
)

// hexBytes are bytes that JSON has in hex.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

// A row is a call that was made of the Rust library's own C interface.
type row struct {
	Call, Case string
	Code       code
	Cap        int
	Len        *int `json:"out_len"`
	Untouched  bool `json:"output_untouched"`
	Input      hexBytes
	Output     hexBytes
	Null       *bool   `json:"handle_null"`
	Counter    *uint64 // after encryptor_new
	Before     *uint64 `json:"counter_before"`
	After      *uint64 `json:"counter_after"`
	Value      *uint64 // of get_counter
	InputLen   string  `json:"input_len"`
	Bound      string
}

func rows(t *testing.T) []row {
	t.Helper()
	text, err := os.ReadFile("../testdata/cachekit/crate-0.7.2.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Rows []row `json:"c_abi"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Rows) != 119 {
		t.Fatalf("%d rows, want 119", len(all.Rows))
	}
	return all.Rows
}

// What the rows were made with.
var (
	rowKey    = []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f")
	rowAAD    = []byte("aad-data")
	rowPlain  = []byte("plain bytes!")
	rowInput  = []byte("hello, cachekit!")
	rowTenant = []byte("tenant-12345")
)

func TestRows(t *testing.T) {
	exe := compile(t, library(t, hooked), "driver")
	t.Run("native", func(t *testing.T) {
		d := drive(t, nil, exe)
		driveRows(t, d)
		if code := d.end(); code != 0 {
			t.Errorf("exit status %d\n%s", code, d.stderr.String())
		}
	})
	t.Run("memcheck", func(t *testing.T) {
		need(t, "valgrind")
		log := filepath.Join(t.TempDir(), "log")
		d := drive(t, memcheckEnv, append(append([]string{"valgrind"}, memcheckArgs(log)...), exe)...)
		driveRows(t, d)
		if code := d.end(); code != 0 {
			text, _ := os.ReadFile(log)
			t.Errorf("exit status %d\n%s", code, text)
		}
	})
}

func driveRows(t *testing.T, d *driver) {
	s := &session{t: t, d: d}
	for _, v := range rows(t) {
		s.drive(v)
	}
	slices.Sort(s.seen)
	want := []code{ok, invalidInput, checksumMismatch, decompressionFailed, decryptionFailed, rotationNeeded, invalidKeyLength,
		bufferTooSmall, nullPointer, inputTooLarge, decompressionBomb, sizeValidationFailed, domainTooLong, saltTooLong, invalidHandle}
	if got := slices.Compact(s.seen); !slices.Equal(got, want) || len(want) != 15 {
		t.Errorf("codes that occurred: %v, want %v", got, want)
	}
}

// A session drives the rows in order, as they were made: those on encryption
// depend on the ones before.
type session struct {
	t    *testing.T
	d    *driver
	seen []code
	// The first row's ciphertext, and the one of nothing: the Rust library's.
	sealed, sealedEmpty []byte
}

func (s *session) drive(v row) {
	switch v.Call {
	case "compress", "decompress":
		s.check(v, s.d.result(s.t, "%s %s %s", v.Call, s.input(v), place(v)))
	case "compressed_bound":
		if got, want := s.d.call(s.t, "bound %s", v.InputLen), "bound="+v.Bound; got != want {
			s.t.Errorf("bound of %s: got %s, want %s", v.InputLen, got, want)
		}
	case "encryptor_new":
		given := map[string]string{"error_out given": "1", "error_out NULL": "-"}[v.Case]
		got := s.d.call(s.t, "new %s", given)
		// Without error_out the driver prints what it began with.
		want := map[string]string{"1": "code=0 null=0 counter=0", "-": "code=1 null=0 counter=0"}[given]
		if got != want || *v.Null || v.Code != ok {
			s.t.Errorf("encryptor_new, %s: got %s, want %s", v.Case, got, want)
		}
	case "encryptor_get_counter":
		s.counterRow(v)
	case "encrypt":
		s.encrypt(v)
	case "decrypt":
		s.decrypt(v)
	case "derive_key":
		s.derive(v)
	default:
		s.t.Errorf("unknown call %s", v.Call)
	}
}

// place returns the output of a row as the driver reads it.
func place(v row) string {
	n := strconv.Itoa(v.Cap)
	switch {
	case strings.HasSuffix(v.Case, "output NULL") || strings.HasPrefix(v.Case, "output NULL,"):
		return "-" + n
	case v.Case == "output_len NULL":
		return "!" + n
	}
	return n
}

// check compares what came back with what the Rust library gave. The bytes are
// the caller's matter.
func (s *session) check(v row, r result) {
	s.seen = append(s.seen, r.code)
	name := v.Call + ", " + v.Case
	if r.code != v.Code || v.Len != nil && r.len != *v.Len || (r.touched == 0) != v.Untouched {
		s.t.Errorf("%s: got code %d, length %d, %d bytes touched, want %+v", name, r.code, r.len, r.touched, v)
	}
	if r.code == ok && r.touched > r.len {
		s.t.Errorf("%s: %d bytes touched for %d", name, r.touched, r.len)
	}
	if v.Output != nil && v.Call != "encrypt" && !bytes.Equal(r.out, v.Output) {
		s.t.Errorf("%s: got %x, want %x", name, r.out, v.Output)
	}
}

// input returns the input of a compress or decompress row.
func (s *session) input(v row) string {
	const huge = "/536870913"
	whole := hex.EncodeToString(rowInput)
	if v.Call == "decompress" {
		whole = "94c412f00168656c6c6f2c2063616368656b697421986dcc8a34ccb63a3c52ccd310a76d73677061636b"
	}
	switch v.Case {
	case "length 0, input not NULL":
		return "="
	case "input NULL, length 0":
		return "-"
	case "input NULL, length 5":
		return "-/5"
	case "length 512 MiB + 1":
		return whole + huge
	}
	if v.Input != nil {
		return word(v.Input)
	}
	return whole
}

func (s *session) counterRow(v row) {
	handles := map[string]string{"NULL": "x0", "never created": "x7f1234567890"}
	h := handles[v.Case]
	if strings.HasPrefix(v.Case, "freed ") {
		for _, f := range []string{"e0", "e0", "x0", "x7f1234567890"} {
			s.d.call(s.t, "free %s", f)
		}
		h = "e0"
	}
	if got, want := s.d.call(s.t, "counter %s", h), fmt.Sprintf("counter=%d", *v.Value); got != want {
		s.t.Errorf("get_counter, %s: got %s, want %s", v.Case, got, want)
	}
}

// handle returns the handle that a row's case names.
func handle(v row) string {
	switch {
	case strings.HasPrefix(v.Case, "handle NULL"):
		return "x0"
	case v.Case == "handle never created":
		return "x7f1234567890"
	case v.Case == "ok with another handle":
		return "e1"
	}
	return "e0"
}

// pick returns the value of the first key that the case contains, or otherwise.
func pick(v row, otherwise string, cases ...string) string {
	for i := 0; i < len(cases); i += 2 {
		if strings.Contains(v.Case, cases[i]) {
			return cases[i+1]
		}
	}
	return otherwise
}

func (s *session) encrypt(v row) {
	if v.Before != nil {
		if *v.Before >= 1<<31-2 {
			s.d.call(s.t, "skip e0 %d", *v.Before)
		}
		s.counter(v, *v.Before)
	}
	key := pick(v, word(rowKey), "key NULL", "-/32", "key_len 31", word(rowKey[:31]), "key_len 16", word(rowKey[:16]), "key_len 0", "=")
	aad := pick(v, word(rowAAD), "aad NULL", "-", "aad_len 0", "=")
	plain := pick(v, word(rowPlain), "plaintext NULL", "-", "plaintext_len 0", "=")
	r := s.d.result(s.t, "encrypt %s %s %s %s %s", handle(v), key, aad, plain, place(v))
	s.check(v, r)
	if v.After != nil {
		s.counter(v, *v.After)
	}
	if v.Code != ok {
		return
	}
	// The nonces differ by the instance alone, and the rest is given by them.
	a, err := gcm.New(rowKey)
	if err != nil {
		s.t.Fatal(err)
	}
	if n := binary.BigEndian.Uint32(r.out[8:12]); uint64(n) != *v.Before&(1<<32-1) || !bytes.Equal(r.out[8:12], v.Output[8:12]) {
		s.t.Errorf("encrypt, %s: counter %d in the nonce", v.Case, n)
	}
	for _, out := range [][]byte{r.out, v.Output} {
		got := s.d.result(s.t, "decrypt e1 %s %s %s 256", key, aad, word(out))
		sealed := a.Seal(nil, out[:12], got.out, unhex(aad))
		if word(got.out) != plain || !bytes.Equal(out[12:], sealed) {
			s.t.Errorf("encrypt, %s: %x opens to %x", v.Case, out, got.out)
		}
	}
	if v.Case == "ok" {
		s.sealed = v.Output
	}
	if strings.HasPrefix(v.Case, "plaintext_len 0") {
		s.sealedEmpty = v.Output
	}
}

// unhex is the reverse of word.
func unhex(w string) []byte {
	b, _ := hex.DecodeString(strings.Trim(w, "="))
	return b
}

// counter checks the first encryptor's counter.
func (s *session) counter(v row, want uint64) {
	if got, want := s.d.call(s.t, "counter e0"), fmt.Sprintf("counter=%d", want); got != want {
		s.t.Errorf("encrypt, %s: got %s, want %s", v.Case, got, want)
	}
}

func (s *session) decrypt(v row) {
	flipped := bytes.Clone(s.sealed)
	flipped[len(flipped)-1] ^= 1
	ct := pick(v, word(s.sealed), "ciphertext NULL", "-", "ciphertext of 27", word(s.sealed[:27]), "ciphertext of 28", word(s.sealed[:28]),
		"ciphertext of 0", "=", "tag bit", word(flipped), "empty plaintext", word(s.sealedEmpty))
	key := pick(v, word(rowKey), "key NULL", "-/32", "key_len 16", word(rowKey[:16]))
	aad := pick(v, word(rowAAD), "aad NULL", "-", "wrong aad", word(rowTenant))
	s.check(v, s.d.result(s.t, "decrypt %s %s %s %s %s", handle(v), key, aad, ct, place(v)))
}

func (s *session) derive(v row) {
	d := func(n int) string { return strings.Repeat("64", n) }
	master := pick(v, word(rowKey), "master 16", word(rowKey[:16]), "master 15", word(rowKey[:15]), "master 0", "=", "master NULL", "-/32")
	domain := pick(v, word([]byte("cache")), "domain 255", d(255), "domain 256", d(256), "domain 0", "=", "domain empty", "=",
		"domain not UTF-8", "ff6361", "domain cut", "6361c3", "domain NULL", "-")
	salt := pick(v, word(rowTenant), "salt 1024", d(1024), "salt 1025", d(1025), "salt 0", "=", "salt empty", "=", "salt NULL", "-")
	out := pick(v, "32", "out_key NULL", "-32")
	s.check(v, s.d.result(s.t, "derive %s %s %s %s", master, salt, domain, out))
}
