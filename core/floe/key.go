package floe

import (
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"

	"github.com/cachekit-go/cachekit/core/floe/internal/message"
)

// KeySize is the length of a key in bytes: 32.
const KeySize = message.KeySize

// redacted is what is printed in the place of a key.
const redacted = "<redacted>"

// A Key is a FLOE key. One key may encrypt any number of messages: each derives
// keys of its own from a random IV. A Key prints as redacted under every verb.
// It is safe for concurrent use and must not be copied.
//
// Spec sections 1 and 3.
type Key struct {
	secret atomic.Pointer[message.Secret] // nil once destroyed
}

// NewKey returns the key with a copy of b, which must have [KeySize] bytes. It
// fails with [ErrKeyLength].
func NewKey(b []byte) (*Key, error) {
	if len(b) != KeySize {
		return nil, exactly(ErrKeyLength, uint64(len(b)), KeySize)
	}
	k := new(Key)
	k.secret.Store(message.NewSecret(b))
	return k, nil
}

// GenerateKey returns a new random key. To keep it, see [Key.AppendTo].
func GenerateKey() *Key {
	b := make([]byte, KeySize)
	rand.Read(b) // does not fail: without randomness it ends the process
	k, _ := NewKey(b)
	message.Wipe(b)
	return k
}

// AppendTo appends the bytes of the key to dst, for storing them in a safe
// place, and returns the extended slice. It fails with [ErrKeyLength] if k was
// destroyed; then dst is returned as it was.
func (k *Key) AppendTo(dst []byte) ([]byte, error) {
	s, err := k.get()
	if err != nil {
		return dst, err
	}
	b, ok := s.AppendTo(dst)
	if !ok {
		return dst, errNoKey
	}
	return b, nil
}

// errNoKey is what a key gives that was destroyed or never made.
var errNoKey = exactly(ErrKeyLength, 0, KeySize)

// get returns the secret. It fails with ErrKeyLength if there is none.
func (k *Key) get() (*message.Secret, error) {
	if k == nil {
		return nil, errNoKey
	}
	if s := k.secret.Load(); s != nil {
		return s, nil
	}
	return nil, errNoKey
}

// Destroy wipes the key; its use fails with [ErrKeyLength] from then on.
// Messages that have started finish. The standard library's hash states, which
// are as good as the key, cannot be overwritten from here: they go when the
// garbage collector takes them.
func (k *Key) Destroy() {
	if s := k.secret.Swap(nil); s != nil {
		s.Wipe()
	}
}

// String returns no byte of the key.
func (*Key) String() string { return redacted }

// GoString returns no byte of the key.
func (*Key) GoString() string { return "floe.Key(" + redacted + ")" }

// Format prints no byte of the key, whatever the verb.
func (k *Key) Format(f fmt.State, verb rune) {
	text := k.String()
	if verb == 'v' && f.Flag('#') {
		text = k.GoString()
	}
	io.WriteString(f, text)
}

// LogValue logs no byte of the key.
func (*Key) LogValue() slog.Value { return slog.StringValue(redacted) }
