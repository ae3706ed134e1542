package message

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

var (
	headerTag  = []byte("HEADER_TAG:")
	messageKey = []byte("MESSAGE_KEY:")
)

// Config is what a message is made with.
type Config struct {
	SegmentLen   uint32 // of a full segment, overhead included
	RotationBits uint8  // 0 means RotationBits; tests have less
	// AEAD returns the cipher for a segment key; nil means AES-256-GCM.
	AEAD func(key []byte) (cipher.AEAD, error)
	// Rand gives the IV and the nonces; nil means crypto/rand.
	Rand io.Reader
}

// A Message is what all segments of one message share: the message key and the
// cipher of the segment key that was used last. It is safe for concurrent use;
// segments are sealed and opened by a [Worker] each.
type Message struct {
	config Config
	header [HeaderSize]byte
	aad    []byte
	recent atomic.Pointer[segmentKey]
	closed atomic.Bool

	mu      sync.Mutex
	key     [messageKeySize]byte
	derived [KeySize]byte // a segment key, while its cipher is made
	purpose [12]byte      // "DEK:" and a masked position
}

// A segmentKey is the cipher of the positions from base on.
type segmentKey struct {
	base uint64
	aead cipher.AEAD
}

// New starts the encryption of a message: it draws the IV. aad is not copied. It
// fails with ErrRandomness, ErrAEAD, or ErrClosed if s was wiped. Spec section 4.
func New(s *Secret, aad []byte, c Config) (*Message, error) {
	m := &Message{config: c, aad: aad}
	AppendParams(m.header[:0], c.SegmentLen)
	if err := m.random(m.header[ParamsSize : ParamsSize+IVSize]); err != nil {
		return nil, err
	}
	if !s.derive(m.header[HeaderSize-headerTagSize:], m.start(), headerTag, aad) {
		return nil, ErrClosed
	}
	return m.ready(s)
}

// Open starts the decryption of the message with the header: it checks the
// header tag. The parameters must have been accepted, and c has them. aad is
// not copied. It fails with ErrHeaderTag, ErrAEAD, or ErrClosed if s was wiped.
// Spec section 4.
func Open(s *Secret, aad []byte, header [HeaderSize]byte, c Config) (*Message, error) {
	m := &Message{config: c, aad: aad, header: header}
	// The other place for a segment key is free for the expected tag.
	tag := m.derived[:headerTagSize]
	if !s.derive(tag, m.start(), headerTag, aad) {
		return nil, ErrClosed
	}
	equal := subtle.ConstantTimeCompare(tag, m.header[HeaderSize-headerTagSize:])
	clear(tag)
	if equal != 1 {
		return nil, ErrHeaderTag
	}
	return m.ready(s)
}

// start returns what every derivation begins with: parameters and IV.
func (m *Message) start() []byte { return m.header[:ParamsSize+IVSize] }

// ready derives the message key and the first segment key: almost every message
// needs that, and a cipher that cannot be used is found before anything is
// written.
func (m *Message) ready(s *Secret) (*Message, error) {
	copy(m.purpose[:], "DEK:")
	if !s.derive(m.key[:], m.start(), messageKey, m.aad) {
		return nil, ErrClosed
	}
	if _, err := m.cipher(0); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Header returns the header.
func (m *Message) Header() [HeaderSize]byte { return m.header }

// Close wipes the message key and lets go of the ciphers. Workers that have not
// started a segment fail with ErrClosed from then on.
func (m *Message) Close() {
	m.closed.Store(true)
	m.mu.Lock()
	defer m.mu.Unlock()
	Wipe(m.key[:])
	m.recent.Store(nil)
}

// random fills b. The standard source does not fail: without randomness it ends
// the process.
func (m *Message) random(b []byte) error {
	if m.config.Rand == nil {
		rand.Read(b)
		return nil
	}
	if _, err := io.ReadFull(m.config.Rand, b); err != nil {
		return because(ErrRandomness, err)
	}
	return nil
}

// mask returns the bits of a position that count within one segment key.
func (m *Message) mask() uint64 {
	bits := m.config.RotationBits
	if bits == 0 {
		bits = RotationBits
	}
	return 1<<bits - 1
}

// cipher returns the cipher of the positions from base on. All workers share
// one, which is derived once.
func (m *Message) cipher(base uint64) (cipher.AEAD, error) {
	if k := m.recent.Load(); k != nil && k.base == base {
		return k.aead, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed.Load() {
		return nil, ErrClosed
	}
	if k := m.recent.Load(); k != nil && k.base == base {
		return k.aead, nil
	}
	binary.BigEndian.PutUint64(m.purpose[4:], base)
	newMAC(m.key[:]).expand(m.derived[:], m.start(), m.purpose[:], m.aad)
	a, err := m.newAEAD(m.derived[:])
	Wipe(m.derived[:])
	if err != nil {
		return nil, err
	}
	m.recent.Store(&segmentKey{base, a})
	return a, nil
}

// newAEAD makes a cipher and checks that it suits the format.
func (m *Message) newAEAD(key []byte) (cipher.AEAD, error) {
	make := m.config.AEAD
	if make == nil {
		make = newGCM
	}
	a, err := make(key)
	if err == nil && a == nil {
		err = errors.New("there is none")
	}
	if err == nil && (a.NonceSize() != NonceSize || a.Overhead() != TagSize) {
		err = fmt.Errorf("nonces of %d and tags of %d bytes, want %d and %d", a.NonceSize(), a.Overhead(), NonceSize, TagSize)
	}
	if err != nil {
		return nil, because(ErrAEAD, err)
	}
	return a, nil
}

// because returns an error of a kind with its cause. io.EOF is named but not
// wrapped: who looks for it with errors.Is would take a stream for complete.
func because(kind, cause error) error {
	if errors.Is(cause, io.EOF) {
		return fmt.Errorf("%w: %v", kind, cause)
	}
	return fmt.Errorf("%w: %w", kind, cause)
}

// newGCM is the default AEAD.
func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// AppendParams appends the encoded parameters: AEAD id, KDF id, segment length
// and IV length. Spec section 2.
func AppendParams(dst []byte, segmentLen uint32) []byte {
	dst = append(dst, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, segmentLen)
	return binary.BigEndian.AppendUint32(dst, IVSize)
}

// AcceptParams returns the segment length that a header announces. If require
// is not 0, it must be that one; otherwise it must lie in the supported range.
// It fails with ErrHeaderParams, before any cryptography. Spec section 4.
func AcceptParams(header [HeaderSize]byte, require uint32) (uint32, error) {
	n := binary.BigEndian.Uint32(header[2:])
	if require != 0 && n != require || require == 0 && (n < MinSegmentLen || n > MaxSegmentLen) {
		return 0, ErrHeaderParams
	}
	if [ParamsSize]byte(header[:]) != [ParamsSize]byte(AppendParams(nil, n)) {
		return 0, ErrHeaderParams
	}
	return n, nil
}
