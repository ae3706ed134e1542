package floe_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cachekit-go/cachekit/core/floe"
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

// readVectors returns a file of testdata/vectors.
func readVectors(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// section reads one section of fast-floe-0.3.5.json.
func section[T any](t testing.TB, name string) (v T) {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(readVectors(t, "fast-floe-0.3.5.json"), &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all[name], &v); err != nil {
		t.Fatalf("reading section %s: %v", name, err)
	}
	return v
}

// count fails unless a set of vectors has the rows it should have.
func count(t testing.TB, name string, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("%s has %d rows, want %d", name, got, want)
	}
}

// newKey returns the key with the given bytes.
func newKey(t testing.TB, b []byte) *floe.Key {
	t.Helper()
	k, err := floe.NewKey(b)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// newParams returns parameters, also such as only vectors have.
func newParams(segmentLen uint32) floe.Params { return floe.UncheckedParams(segmentLen, 0) }

// An upstreamMessage is one of the 17 of the specification's repository.
type upstreamMessage struct {
	name   string
	params floe.Params
	pt, ct []byte
	key    *floe.Key
	aad    []byte
}

func upstream(t testing.TB) (all []upstreamMessage) {
	t.Helper()
	names, err := filepath.Glob("testdata/vectors/*_ct.txt")
	if err != nil {
		t.Fatal(err)
	}
	count(t, "upstream", len(names), 17)
	for _, path := range names {
		name := strings.TrimSuffix(filepath.Base(path), "_ct.txt")
		m := upstreamMessage{name: name, key: newKey(t, make([]byte, 32)), aad: []byte("This is AAD")}
		switch {
		case strings.HasSuffix(name, "_4K"):
			m.params = floe.Params4KiB
		case strings.HasSuffix(name, "_64"):
			m.params = floe.Params64B
		case strings.HasSuffix(name, "_rotation"):
			m.params = floe.UncheckedParams(40, 2)
		default:
			m.params = floe.UncheckedParams(40, 0)
		}
		for _, v := range []struct {
			suffix string
			to     *[]byte
		}{{"_ct.txt", &m.ct}, {"_pt.txt", &m.pt}} {
			if *v.to, err = hex.DecodeString(strings.TrimSpace(string(readVectors(t, name+v.suffix)))); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, m)
	}
	return all
}

// A plain is a plaintext of fast-floe-0.3.5.json, given in full or by a rule.
type plain struct {
	Len    int      `json:"plaintext_len"`
	Bytes  hexBytes `json:"plaintext"`
	Seed   int      `json:"plaintext_rule_seed"`
	SHA256 hexBytes `json:"plaintext_sha256"`
}

// ruled returns n bytes by the rule of the file.
func ruled(seed, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(167*i + 59*(i>>8) + 29*(i>>16) + seed)
	}
	return b
}

func (p plain) bytes(t testing.TB) []byte {
	t.Helper()
	if p.SHA256 == nil {
		if len(p.Bytes) != p.Len {
			t.Fatalf("plaintext has %d bytes, want %d", len(p.Bytes), p.Len)
		}
		return p.Bytes
	}
	b := ruled(p.Seed, p.Len)
	if sum := sha256.Sum256(b); !bytes.Equal(sum[:], p.SHA256) {
		t.Fatal("the rule gives another plaintext")
	}
	return b
}

// A crateMessage is a message that fast-floe 0.3.5 made.
type crateMessage struct {
	Name       string
	Key        hexBytes
	AAD        hexBytes
	AADSeed    *int   `json:"aad_rule_seed"`
	AADLen     int    `json:"aad_len"`
	SegmentLen uint32 `json:"segment_length"`
	plain
	Segments      uint64
	FinalLen      uint32   `json:"final_segment_len"`
	CiphertextLen int      `json:"ciphertext_len"`
	Hex           hexBytes `json:"ciphertext"`
	Base64        []byte   `json:"ciphertext_base64"`
	Header        hexBytes
	Nonces        hexBytes
	Tags          hexBytes
	SHA256        hexBytes `json:"ciphertext_sha256"`
}

func (m crateMessage) aad() []byte {
	if m.AADSeed != nil {
		return ruled(*m.AADSeed, m.AADLen)
	}
	return m.AAD
}

func (m crateMessage) ciphertext() []byte {
	if m.Base64 != nil {
		return m.Base64
	}
	return m.Hex
}

// crateMessages returns the messages whose ciphertext is given.
func crateMessages(t testing.TB) []crateMessage {
	t.Helper()
	all := section[[]crateMessage](t, "messages")
	count(t, "messages", len(all), 63)
	for _, m := range all {
		if len(m.ciphertext()) != m.CiphertextLen {
			t.Fatalf("%s has %d bytes, want %d", m.Name, len(m.ciphertext()), m.CiphertextLen)
		}
	}
	return all
}

func TestOpenUpstream(t *testing.T) {
	for _, m := range upstream(t) {
		got, err := floe.OpenWithParams(nil, m.key, m.aad, m.params, m.ct)
		if err != nil || !bytes.Equal(got, m.pt) {
			t.Errorf("%s: got %d bytes, %v, want %d", m.name, len(got), err, len(m.pt))
		}
		if n := m.params.SegmentLen(); n >= floe.MinSegmentLen {
			if got, err := floe.Open(nil, m.key, m.aad, m.ct); err != nil || !bytes.Equal(got, m.pt) {
				t.Errorf("%s: got %d bytes, %v, want %d", m.name, len(got), err, len(m.pt))
			}
		} else if _, err := floe.Open(nil, m.key, m.aad, m.ct); !errors.Is(err, floe.ErrHeaderParams) {
			t.Errorf("%s: segments of %d bytes: %v", m.name, n, err)
		}
	}
}

func TestOpenCrate(t *testing.T) {
	for _, m := range crateMessages(t) {
		want := m.bytes(t)
		got, err := floe.Open([]byte("dst"), newKey(t, m.Key), m.aad(), m.ciphertext())
		if err != nil || !bytes.Equal(got, append([]byte("dst"), want...)) {
			t.Errorf("%s: got %d bytes, %v, want %d", m.Name, len(got), err, len(want))
		}
		l, err := newParams(m.SegmentLen).CiphertextLayout(uint64(m.CiphertextLen))
		if err != nil || l.SegmentCount() != m.Segments || l.Final().CiphertextLen() != m.FinalLen || l.PlaintextLen() != uint64(m.Len) {
			t.Errorf("%s: layout %+v, %v", m.Name, l, err)
		}
	}
}

// replay returns a source of randomness that gives the IV of a header and then
// nonces, followed by as many zeros as may be drawn.
func replay(header, nonces []byte) io.Reader {
	return io.MultiReader(bytes.NewReader(header[10:42]), bytes.NewReader(nonces), bytes.NewReader(make([]byte, 1<<12)))
}

// Sealing with the IV and nonces of a message gives the message bit for bit.
func TestRebuild(t *testing.T) {
	all := section[[]crateMessage](t, "rebuild")
	count(t, "rebuild", len(all), 10)
	for _, m := range all {
		o := floe.Options{Rand: replay(m.Header, m.Nonces)}
		p := newParams(m.SegmentLen)
		got, err := o.Seal(nil, newKey(t, m.Key), m.aad(), p, m.bytes(t))
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		if sum := sha256.Sum256(got); !bytes.Equal(sum[:], m.SHA256) || len(got) != m.CiphertextLen || !bytes.Equal(got[:floe.HeaderSize], m.Header) {
			t.Errorf("%s: got another message of %d bytes", m.Name, len(got))
		}
		l, err := p.CiphertextLayout(uint64(len(got)))
		if err != nil {
			t.Fatal(err)
		}
		var tags []byte
		for s := range l.Segments() {
			end := s.CiphertextOffset() + uint64(s.CiphertextLen())
			tags = append(tags, got[end-16:end]...)
		}
		if !bytes.Equal(tags, m.Tags) {
			t.Errorf("%s: other tags", m.Name)
		}
	}
	// And so do those whose ciphertext is given, if their framing is canonical.
	canonical := 0
	for _, m := range crateMessages(t) {
		l, err := newParams(m.SegmentLen).PlaintextLayout(uint64(m.Len))
		if err != nil {
			t.Fatal(err)
		}
		want := m.ciphertext()
		if l.CiphertextLen() != uint64(len(want)) {
			continue
		}
		canonical++
		var nonces []byte
		for s := range l.Segments() {
			at := s.CiphertextOffset() + 4
			nonces = append(nonces, want[at:at+12]...)
		}
		o := floe.Options{Rand: replay(want, nonces)}
		if got, err := o.Seal(nil, newKey(t, m.Key), m.aad(), newParams(m.SegmentLen), m.bytes(t)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: sealed to another message: %v", m.Name, err)
		}
	}
	count(t, "canonical", canonical, 57)
}
