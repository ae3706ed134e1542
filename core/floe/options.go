package floe

import (
	"crypto/cipher"
	"io"
	"runtime"

	"github.com/cachekit-go/cachekit/core/floe/internal/message"
)

// Options are what most callers leave alone. The zero value is what the
// package's functions use; its methods are those functions with other choices.
type Options struct {
	// AEAD returns the cipher for a segment key of 32 bytes; nil means the
	// standard library's AES-256-GCM. It is for another implementation of
	// AES-256-GCM, for example one in hardware: another algorithm makes
	// messages that no one else reads. Nonces must have 12 bytes and tags 16.
	// It must not keep key, which is wiped when it returns, and the cipher must
	// be safe for concurrent use, as the standard library's is.
	AEAD func(key []byte) (cipher.AEAD, error)

	// Rand gives the IV of a message and the nonces of its segments; nil means
	// crypto/rand, and is what you want. It must be fit for keys: if nonces
	// repeat, nothing is secret any more. It must be safe for concurrent use
	// if there are several workers. Spec section 6.
	Rand io.Reader

	// Require, if not the zero value, are the only parameters that decryption
	// accepts; it fails with ErrHeaderParams for others. Without it a header
	// decides how long segments are, and so how much memory a reader takes,
	// though never more than what its source has. Encryption ignores it.
	Require Params

	// Workers is how many goroutines seal or open segments at a time: 0 and 1
	// mean that the caller's own does, and less than 0 as many as
	// runtime.GOMAXPROCS says. None outlives the call that started it by more
	// than a segment. Streams then hold Workers + 1 segments in memory, and
	// read so far ahead of what they give. From segments of 64 KiB on it pays.
	Workers int
}

// workers returns how many goroutines there shall be, 1 for none but the caller's.
func (o Options) workers() int {
	if o.Workers < 0 {
		return runtime.GOMAXPROCS(0)
	}
	return max(1, o.Workers)
}

func (o Options) config(p Params) message.Config {
	return message.Config{SegmentLen: p.segmentLen, RotationBits: p.rotation, AEAD: o.AEAD, Rand: o.Rand}
}

// start begins the encryption of a message, and does not copy aad.
func (o Options) start(key *Key, aad []byte, p Params) (*message.Message, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s, err := key.get()
	if err != nil {
		return nil, err
	}
	m, err := message.New(s, aad, o.config(p))
	if err == message.ErrClosed { // the key was destroyed meanwhile
		err = errNoKey
	}
	return m, err
}

// open begins the decryption of a message, and does not copy aad.
func (o Options) open(key *Key, aad []byte, h Header) (*message.Message, Params, error) {
	s, err := key.get()
	if err != nil {
		return nil, Params{}, err
	}
	p, err := h.accept(o.Require)
	if err != nil {
		return nil, Params{}, err
	}
	m, err := message.Open(s, aad, h, o.config(p))
	if err == message.ErrClosed { // the key was destroyed meanwhile
		err = errNoKey
	}
	return m, p, err
}
