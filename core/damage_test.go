package cachekit_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// damageSizes are the payloads, in bytes, that every cut and every flip is tried
// on: one of each way that a block is made.
var damageSizes = []int{0, 63, 64, 1024}

// legacy returns env with its block as older writers gave it, an array of
// integers.
func legacy(t testing.TB, env []byte) []byte {
	t.Helper()
	e, err := cachekit.ParseEnvelope(env)
	if err != nil {
		t.Fatal(err)
	}
	_, tail, ok := bytes.Cut(env, e.Block)
	if !ok {
		t.Fatal("the block is not in the envelope")
	}
	out := binary.BigEndian.AppendUint16([]byte{0x94, 0xdc}, uint16(len(e.Block)))
	for _, c := range e.Block {
		if c >= 0x80 {
			out = append(out, 0xcc)
		}
		out = append(out, c)
	}
	return append(out, tail...)
}

// Every cut is refused. Every flip is refused or gives the same payload: it may
// hit the label, which has no checksum, the half of the last token that does not
// count, or a bit that turns one encoding of a value into another.
func TestEnvelopeDamage(t *testing.T) {
	for _, n := range damageSizes {
		payload := corpus(t, "records", n)
		bin, err := cachekit.Store(nil, payload)
		if err != nil {
			t.Fatal(err)
		}
		for form, env := range map[string][]byte{"bin": bin, "legacy": legacy(t, bin)} {
			if data, _, err := retrieve(t, env); err != nil || !bytes.Equal(data, payload) {
				t.Fatalf("%s of %d bytes: %v", form, n, err)
			}
			for k := range env {
				if _, _, err := retrieve(t, env[:k]); !errors.Is(err, cachekit.ErrDeserializationFailed) {
					t.Errorf("%s of %d bytes, cut to %d: %v", form, n, k, err)
				}
			}
			same := 0
			for bit := range 8 * len(env) {
				bad := flip(env, bit)
				data, format, err := cachekit.Retrieve(nil, bad)
				if cachekit.Validate(bad) != (err == nil) {
					t.Errorf("%s of %d bytes, bit %d: Validate and Retrieve differ", form, n, bit)
				}
				if err == nil && !bytes.Equal(data, payload) {
					t.Errorf("%s of %d bytes, bit %d: another payload, label %q", form, n, bit, format)
				}
				if err != nil && data != nil {
					t.Errorf("%s of %d bytes, bit %d: an error and %d bytes", form, n, bit, len(data))
				}
				if err == nil {
					same++
				}
			}
			// Seven bits of each letter of the label, four of the last token.
			if same > 7*7+8 {
				t.Errorf("%s of %d bytes: %d flips pass", form, n, same)
			}
		}
	}
}

func TestCiphertextDamage(t *testing.T) {
	e := newEncryptor(t, bytes.Repeat([]byte{3}, 32))
	aad := []byte("additional")
	for _, n := range damageSizes {
		plain := corpus(t, "records", n)
		ct, err := e.Seal(nil, plain, aad)
		if err != nil {
			t.Fatal(err)
		}
		for k := range ct {
			want := "Authentication verification failed"
			if k < cachekit.Overhead {
				want = "Invalid ciphertext format: Ciphertext too short"
			}
			if _, err := open(t, e, ct[:k], aad); !sameCryptoError(err, want) {
				t.Errorf("%d bytes, cut to %d: %v", n, k, err)
			}
		}
		for bit := range 8 * len(ct) {
			if _, err := e.Open(nil, flip(ct, bit), aad); !errors.Is(err, cachekit.ErrAuthenticationFailed) {
				t.Errorf("%d bytes, bit %d: %v", n, bit, err)
			}
		}
		for bit := range 8 * len(aad) {
			if _, err := e.Open(nil, ct, flip(aad, bit)); !errors.Is(err, cachekit.ErrAuthenticationFailed) {
				t.Errorf("%d bytes, bit %d of the additional data: %v", n, bit, err)
			}
		}
	}
}
