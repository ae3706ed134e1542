package main

import (
	"math"
	"runtime"
	"unicode/utf8"
	"unsafe"

	cachekit "github.com/cachekit-go/cachekit/core"
	"github.com/cachekit-go/cachekit/core/internal/gcm"
)

// rotateAt is the number of nonces from which an encryptor asks for another.
// The check and the call are not one step: racing threads may pass it by a few,
// far from the 2^32 - 1 at which nonces end.
const rotateAt = 1 << 31

// A span is memory that C passed as an address and a length in bytes.
type span struct {
	p *byte
	n uintptr
}

// bytes returns the memory. It panics if it does not fit the address space.
func (s span) bytes() []byte { return unsafe.Slice(s.p, s.n) }

// A buffer is where C wants a result: an address, and where its capacity is and
// the length goes.
type buffer struct {
	p *byte
	n *uintptr
}

// null reports whether the result has no place, or the length.
func (b buffer) null() bool { return b.p == nil || b.n == nil }

// put copies a result to the buffer and writes its length, or says how much it
// lacks.
func (b buffer) put(result []byte) code {
	room := *b.n
	n := uintptr(len(result))
	if n > room {
		*b.n = n
		return bufferTooSmall
	}
	copy(span{b.p, n}.bytes(), result)
	*b.n = n
	return ok
}

// compress is cachekit_compress.
func compress(input span, output buffer) (c code) {
	defer rescue(&c, invalidInput)
	if input.p == nil || output.null() {
		return nullPointer
	}
	if input.n > cachekit.MaxPayload {
		return inputTooLarge
	}
	env, err := cachekit.Store(nil, input.bytes())
	if err != nil {
		return codeOf(err)
	}
	return output.put(env)
}

// decompress is cachekit_decompress.
func decompress(input span, output buffer) (c code) {
	defer rescue(&c, decompressionFailed)
	if input.p == nil || output.null() {
		return nullPointer
	}
	if input.n > cachekit.MaxCompressed {
		return inputTooLarge
	}
	payload, _, err := cachekit.Retrieve(nil, input.bytes())
	if err != nil {
		return codeOf(err)
	}
	return output.put(payload)
}

// compressedBound is cachekit_compressed_bound. It saturates.
func compressedBound(n uintptr) uintptr {
	extra := n/255 + 16 + 120
	if n > math.MaxUint-extra {
		return math.MaxUint
	}
	return n + extra
}

// newEncryptor is cachekit_encryptor_new; 0 stands for NULL.
func newEncryptor(result *code) uintptr {
	h := addEncryptor()
	c := ok
	if h == 0 {
		c = invalidInput
	}
	if !report(result, c) {
		encryptors.free(h)
		return 0
	}
	return h
}

// addEncryptor returns the handle of a new encryptor, or 0.
func addEncryptor() (h uintptr) {
	defer rescue(&h, 0)
	return encryptors.add(gcm.NewSequence())
}

// report writes c to result, unless that is nil. It reports whether it could.
func report(result *code, c code) (done bool) {
	defer rescue(&done, false)
	if result != nil {
		*result = c
	}
	return true
}

// counter is cachekit_encryptor_get_counter.
func counter(h uintptr) (n uint64) {
	defer rescue(&n, 0)
	q := encryptors.find(h)
	if q == nil {
		return 0
	}
	return q.Counter()
}

// encrypt is cachekit_encrypt.
func encrypt(h uintptr, key, aad, plaintext span, output buffer) (c code) {
	defer rescue(&c, invalidInput)
	if key.p == nil || aad.p == nil || plaintext.p == nil || output.null() {
		return nullPointer
	}
	q := encryptors.find(h)
	switch {
	case q == nil:
		return invalidHandle
	case q.Counter() >= rotateAt:
		return rotationNeeded
	case key.n != cachekit.KeySize:
		return invalidKeyLength
	case uint64(plaintext.n) > gcm.MaxPlaintext:
		return invalidInput
	}
	a, err := gcm.New(key.bytes())
	if err != nil {
		return invalidInput
	}
	sealed, ok := gcm.Seal(a, q, nil, plaintext.bytes(), aad.bytes())
	if !ok {
		return counterExhausted
	}
	return output.put(sealed)
}

// decrypt is cachekit_decrypt.
func decrypt(h uintptr, key, aad, ciphertext span, output buffer) (c code) {
	defer rescue(&c, decryptionFailed)
	if key.p == nil || aad.p == nil || ciphertext.p == nil || output.null() {
		return nullPointer
	}
	switch {
	case encryptors.find(h) == nil:
		return invalidHandle
	case key.n != cachekit.KeySize:
		return invalidKeyLength
	case ciphertext.n < cachekit.Overhead:
		return invalidInput
	}
	a, err := gcm.New(key.bytes())
	if err != nil {
		return invalidInput
	}
	sealed := ciphertext.bytes()
	plaintext, err := a.Open(nil, sealed[:gcm.NonceSize], sealed[gcm.NonceSize:], aad.bytes())
	if err != nil {
		return decryptionFailed
	}
	defer wipe(plaintext)
	return output.put(plaintext)
}

// deriveKey is cachekit_derive_key. out has room for cachekit.KeySize bytes.
func deriveKey(master, salt, domain span, out *byte) (c code) {
	defer rescue(&c, invalidInput)
	if master.p == nil || salt.p == nil || domain.p == nil || out == nil {
		return nullPointer
	}
	d := domain.bytes()
	if !utf8.Valid(d) {
		return invalidInput
	}
	key, err := cachekit.DeriveDomainKey(master.bytes(), string(d), salt.bytes())
	if err != nil {
		return codeOf(err)
	}
	defer key.Wipe()
	copy(span{out, cachekit.KeySize}.bytes(), key[:])
	return ok
}

// wipe overwrites b with zeros and keeps the compiler from leaving it out.
func wipe(b []byte) {
	clear(b)
	runtime.KeepAlive(b)
}
