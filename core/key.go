package cachekit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
)

// KeySize is the length of an encryption key in bytes.
const KeySize = 32

// FingerprintSize is the length of a key's fingerprint in bytes.
const FingerprintSize = 16

// redacted is what is printed in the place of a key.
const redacted = "<redacted>"

// A Key is a derived key. It prints as redacted under every verb and refuses to
// be marshalled; slice it, key[:], to use its bytes.
//
// A Key is an array, so assigning it makes a copy that Wipe does not reach.
//
// Spec section 8.
type Key [KeySize]byte

// Wipe overwrites k with zeros. Go cannot promise that this was the only copy:
// the runtime moves stacks, and the compiler may have spilled it.
func (k *Key) Wipe() { wipe(k[:]) }

// wipe overwrites b with zeros and keeps the compiler from leaving it out.
func wipe(b []byte) {
	clear(b)
	runtime.KeepAlive(b)
}

// String returns no byte of the key.
func (Key) String() string { return redacted }

// GoString returns no byte of the key.
func (Key) GoString() string { return "cachekit.Key(" + redacted + ")" }

// Format prints no byte of the key, whatever the verb.
func (k Key) Format(f fmt.State, verb rune) { print(f, verb, k.String(), k.GoString()) }

// LogValue logs no byte of the key.
func (Key) LogValue() slog.Value { return slog.StringValue(redacted) }

// errMarshal is what marshalling a key gives.
var errMarshal = errors.New("cachekit: keys are not marshalled")

// MarshalText fails: keys are not marshalled. It covers encoding/json too.
func (Key) MarshalText() ([]byte, error) { return nil, errMarshal }

// MarshalBinary fails: keys are not marshalled. It covers encoding/gob.
func (Key) MarshalBinary() ([]byte, error) { return nil, errMarshal }

// print writes text for a Format method, or goText under %#v.
func print(f fmt.State, verb rune, text, goText string) {
	if verb == 'v' && f.Flag('#') {
		text = goText
	}
	io.WriteString(f, text)
}

// Fingerprint returns the fingerprint of a key: the first 16 bytes of SHA-256
// over "key_fingerprint_v1" and the key. key may have any length, also none.
// Fingerprints may be stored and logged; they tell keys apart and give nothing
// else away, if the key is one that cannot be guessed.
//
// Spec section 6.
func Fingerprint(key []byte) [FingerprintSize]byte {
	const prefix = "key_fingerprint_v1"
	// On the stack up to a usual key's length.
	var b [len(prefix) + 2*KeySize]byte
	in := append(append(b[:0], prefix...), key...)
	sum := sha256.Sum256(in)
	wipe(in)
	return [FingerprintSize]byte(sum[:])
}
