package message

import (
	"bytes"
	"crypto/cipher"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

const vectors = "../../testdata/vectors"

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

func load(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(vectors, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("reading %s: %v", name, err)
	}
}

// segmentKeyOf returns the key of a position.
func segmentKeyOf(t *testing.T, m *Message, position uint64) (key []byte) {
	t.Helper()
	old := m.config.AEAD
	defer func() { m.config.AEAD = old }()
	m.recent.Store(nil)
	m.config.AEAD = func(k []byte) (cipher.AEAD, error) {
		key = bytes.Clone(k)
		return newGCM(k)
	}
	if _, err := m.cipher(position &^ m.mask()); err != nil {
		t.Fatal(err)
	}
	m.recent.Store(nil)
	return key
}

func TestDerivation(t *testing.T) {
	var all struct {
		Vectors []struct {
			SegmentLen uint32 `json:"segment_length"`
			Key        hexBytes
			IV         hexBytes `json:"floe_iv"`
			AAD        hexBytes `json:"message_aad"`
			Params     hexBytes `json:"encoded_parameters"`
			Header     hexBytes
			MessageKey hexBytes `json:"message_key"`
			Segments   []struct {
				Position  uint64
				Masked    uint64   `json:"masked_position"`
				Key       hexBytes `json:"segment_key"`
				Nonce     hexBytes `json:"aead_iv"`
				Final     bool
				Plaintext hexBytes
				AAD       hexBytes `json:"segment_aad"`
				Segment   hexBytes `json:"encrypted_segment"`
			}
		}
	}
	load(t, "derivation.json", &all)
	if len(all.Vectors) != 10 {
		t.Fatalf("%d vectors, want 10", len(all.Vectors))
	}
	segments := 0
	for _, v := range all.Vectors {
		s := NewSecret(v.Key)
		random := bytes.NewReader(v.IV)
		sealing, err := New(s, v.AAD, Config{SegmentLen: v.SegmentLen, Rand: random})
		if err != nil {
			t.Fatal(err)
		}
		header := sealing.Header()
		if !bytes.Equal(header[:], v.Header) || !bytes.HasPrefix(header[:], v.Params) || !bytes.Equal(sealing.key[:], v.MessageKey) {
			t.Errorf("segments of %d bytes: header %x, message key %x", v.SegmentLen, header, sealing.key)
		}
		if n, err := AcceptParams(header, 0); n != v.SegmentLen || err != nil {
			t.Errorf("got parameters %d, %v", n, err)
		}
		opening, err := Open(s, v.AAD, header, Config{SegmentLen: v.SegmentLen})
		if err != nil || opening.key != sealing.key {
			t.Errorf("segments of %d bytes: opened with message key %x, %v", v.SegmentLen, opening.key, err)
		}
		for _, g := range v.Segments {
			segments++
			if got := segmentKeyOf(t, opening, g.Position); !bytes.Equal(got, g.Key) || g.Masked != g.Position&^opening.mask() {
				t.Errorf("position %d: segment key %x", g.Position, got)
			}
			random.Reset(g.Nonce)
			w := sealing.NewWorker(1)
			segment := make([]byte, len(g.Plaintext)+Overhead)
			if err := w.Seal(segment, g.Position, g.Final, g.Plaintext); err != nil || !bytes.Equal(segment, g.Segment) || !bytes.Equal(w.aad[:], g.AAD) {
				t.Errorf("position %d: sealed to %x, %v", g.Position, segment, err)
			}
			plain := make([]byte, len(g.Plaintext))
			if err := opening.NewWorker(0).Open(plain, g.Position, g.Final, g.Segment); err != nil || !bytes.Equal(plain, g.Plaintext) {
				t.Errorf("position %d: opened to %x, %v", g.Position, plain, err)
			}
			for _, p := range []uint64{g.Position ^ 1, g.Position ^ 1<<20, g.Position ^ 1<<39} {
				if err := opening.NewWorker(0).Open(plain, p, g.Final, g.Segment); !errors.Is(err, ErrAuthentication) {
					t.Errorf("position %d opens as %d: %v", g.Position, p, err)
				}
			}
			if err := opening.NewWorker(0).Open(plain, g.Position, !g.Final, g.Segment); !errors.Is(err, ErrAuthentication) {
				t.Errorf("position %d opens with the other finality: %v", g.Position, err)
			}
		}
		if err := opening.NewWorker(0).Open(nil, MaxSegments, true, make([]byte, Overhead)); !errors.Is(err, ErrSegmentLimit) {
			t.Errorf("position 2^40: %v", err)
		}
	}
	if segments != 42 {
		t.Errorf("%d segments, want 42", segments)
	}
}

func TestIntermediates(t *testing.T) {
	var all struct {
		Key      hexBytes `json:"key_hex"`
		AAD      string   `json:"aad_ascii"`
		Messages []struct {
			Name       string
			SegmentLen uint32              `json:"segment_length"`
			Rotation   uint8               `json:"rotation_bits"`
			IV         hexBytes            `json:"floe_iv"`
			Tag        hexBytes            `json:"header_tag"`
			MessageKey hexBytes            `json:"message_key"`
			Keys       map[string]hexBytes `json:"segment_keys_by_masked_position"`
		}
	}
	load(t, "intermediates.json", &all)
	if len(all.Messages) != 17 {
		t.Fatalf("%d messages, want 17", len(all.Messages))
	}
	s := NewSecret(all.Key)
	for _, v := range all.Messages {
		m, err := New(s, []byte(all.AAD), Config{SegmentLen: v.SegmentLen, RotationBits: v.Rotation, Rand: bytes.NewReader(v.IV)})
		if err != nil {
			t.Fatal(err)
		}
		if h := m.Header(); !bytes.Equal(h[HeaderSize-headerTagSize:], v.Tag) || !bytes.Equal(m.key[:], v.MessageKey) {
			t.Errorf("%s: header %x, message key %x", v.Name, h, m.key)
		}
		if len(v.Keys) == 0 {
			t.Errorf("%s: no segment keys", v.Name)
		}
		for text, want := range v.Keys {
			position, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []uint64{position, position | m.mask()} {
				if got := segmentKeyOf(t, m, p); !bytes.Equal(got, want) {
					t.Errorf("%s: key of position %d is %x", v.Name, p, got)
				}
			}
		}
	}
}

// The additional data comes last in what is derived from, after fields of fixed
// length, so none of it can pass for a purpose, an IV or parameters.
func TestAADDoesNotImitate(t *testing.T) {
	s := NewSecret(make([]byte, KeySize))
	iv := make([]byte, IVSize)
	seen := map[string]string{}
	for _, aad := range []string{"", "HEADER_TAG:", "MESSAGE_KEY:", "DEK:", "DEK:\x00\x00\x00\x00\x00\x00\x00\x00", string(iv), "\x01", "\x00"} {
		m, err := New(s, []byte(aad), Config{SegmentLen: 64, Rand: bytes.NewReader(iv)})
		if err != nil {
			t.Fatal(err)
		}
		h := m.Header()
		for what, b := range map[string][]byte{"header tag": h[HeaderSize-headerTagSize:], "message key": m.key[:32], "segment key": segmentKeyOf(t, m, 0)} {
			if old, ok := seen[string(b)]; ok {
				t.Errorf("%s for %q is also %s", what, aad, old)
			}
			seen[string(b)] = what + " for " + strconv.Quote(aad)
		}
	}
}

func TestHeaderTag(t *testing.T) {
	s := NewSecret(make([]byte, KeySize))
	m, err := New(s, []byte("aad"), Config{SegmentLen: 64})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 * HeaderSize {
		h := m.Header()
		h[i/8] ^= 1 << (i % 8)
		if _, err := Open(s, []byte("aad"), h, Config{SegmentLen: 64}); !errors.Is(err, ErrHeaderTag) {
			t.Errorf("bit %d changed: %v", i, err)
		}
	}
	for _, aad := range []string{"", "aa", "aad\x00", "aae"} {
		if _, err := Open(s, []byte(aad), m.Header(), Config{SegmentLen: 64}); !errors.Is(err, ErrHeaderTag) {
			t.Errorf("opened with %q: %v", aad, err)
		}
	}
}

func TestWiped(t *testing.T) {
	s := NewSecret(bytes.Repeat([]byte{7}, KeySize))
	m, err := New(s, nil, Config{SegmentLen: 64})
	if err != nil {
		t.Fatal(err)
	}
	w, late := m.NewWorker(0), m.NewWorker(0)
	segment := make([]byte, Overhead)
	if err := w.Seal(segment, 0, true, nil); err != nil {
		t.Fatal(err)
	}
	if m.derived != [KeySize]byte{} {
		t.Error("the segment key is still there")
	}
	m.Close()
	if m.key != [messageKeySize]byte{} || m.recent.Load() != nil {
		t.Error("the message key is still there")
	}
	for _, w := range []*Worker{w, late} {
		if err := w.Seal(segment, 1, true, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("sealing after Close: %v", err)
		}
		if err := w.Open(nil, 0, true, segment); !errors.Is(err, ErrClosed) {
			t.Errorf("opening after Close: %v", err)
		}
	}
	s.Wipe()
	if s.key != [KeySize]byte{} {
		t.Error("the key is still there")
	}
	if _, err := New(s, nil, Config{SegmentLen: 64}); !errors.Is(err, ErrClosed) {
		t.Errorf("a message of a wiped key: %v", err)
	}
	if b, ok := s.AppendTo(nil); ok || b != nil {
		t.Errorf("the wiped key is %x", b)
	}
}

// A counting source counts what is drawn at a time.
type counting struct{ draws []int }

func (c *counting) Read(b []byte) (int, error) {
	c.draws = append(c.draws, len(b))
	for i := range b {
		b[i] = byte(i)
	}
	return len(b), nil
}

func TestNonceDraws(t *testing.T) {
	for _, v := range []struct {
		expect uint64
		n      int
		want   []int
	}{
		{0, 1, []int{1}},
		{0, 10, []int{1, 8, 256}},
		{0, 522, []int{1, 8, 256, 256, 256}},
		{1, 1, []int{1}},
		{5, 5, []int{5}},
		{300, 300, []int{256, 256}},
	} {
		c := new(counting)
		m := &Message{config: Config{Rand: c}}
		w := m.NewWorker(v.expect)
		for range v.n {
			if err := w.nonce(make([]byte, NonceSize)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range c.draws {
			c.draws[i] /= NonceSize
		}
		if len(c.draws) != len(v.want) {
			t.Errorf("%d nonces of %d: drawn %v, want %v", v.n, v.expect, c.draws, v.want)
			continue
		}
		for i := range v.want {
			if c.draws[i] != v.want[i] {
				t.Errorf("%d nonces of %d: drawn %v, want %v", v.n, v.expect, c.draws, v.want)
				break
			}
		}
	}
}

// A source that fails is an error each time, and a nonce is never used twice.
func TestRandomnessFails(t *testing.T) {
	s := NewSecret(make([]byte, KeySize))
	for n := range IVSize {
		if _, err := New(s, nil, Config{SegmentLen: 64, Rand: bytes.NewReader(make([]byte, n))}); !errors.Is(err, ErrRandomness) {
			t.Errorf("with %d random bytes: %v", n, err)
		}
	}
	m, err := New(s, nil, Config{SegmentLen: 64, Rand: io.MultiReader(bytes.NewReader(make([]byte, IVSize+NonceSize)))})
	if err != nil {
		t.Fatal(err)
	}
	w := m.NewWorker(0)
	segment := make([]byte, Overhead)
	if err := w.Seal(segment, 0, false, nil); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := w.Seal(segment, 1, false, nil); !errors.Is(err, ErrRandomness) {
			t.Errorf("sealed with %x, %v", segment[PrefixSize:PayloadOffset], err)
		}
	}
}
