package cachekit_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// cryptoKinds are the kinds of encryption and key errors by the text they start
// with.
var cryptoKinds = map[string]error{
	"Invalid key length: ":               cachekit.ErrInvalidKeyLength,
	"Invalid nonce length: ":             cachekit.ErrInvalidNonceLength,
	"Encryption failed: ":                cachekit.ErrEncryptionFailed,
	"Invalid ciphertext format: ":        cachekit.ErrInvalidCiphertext,
	"Authentication verification failed": cachekit.ErrAuthenticationFailed,
	"Nonce counter exhausted":            cachekit.ErrNonceCounterExhausted,
	"Invalid master key length: ":        cachekit.ErrInvalidMasterKeyLength,
	"Invalid domain string: ":            cachekit.ErrInvalidDomain,
	"Domain exceeds":                     cachekit.ErrDomainTooLong,
	"Invalid salt length: ":              cachekit.ErrInvalidSaltLength,
	"Tenant salt exceeds":                cachekit.ErrTenantSaltTooLong,
	"Keyring cap exceeded: ":             cachekit.ErrKeyringCapExceeded,
	"Current key must not appear":        cachekit.ErrCurrentKeyInDecryptOnlyList,
	"Keyring entry index ":               cachekit.ErrKeyringIndexOutOfRange,
	"Key derivation failed: ":            cachekit.ErrKeyDerivation,
	"cachekit: used after Close":         cachekit.ErrClosed,
}

// sameCryptoError reports whether err has that text and is of the one kind that
// the text says, or, for a failed derivation, also of the kind of its cause.
func sameCryptoError(err error, text string) bool {
	if err == nil || err.Error() != text {
		return false
	}
	cause := strings.TrimPrefix(text, "Key derivation failed: ")
	kinds := 0
	for p, kind := range cryptoKinds {
		is := strings.HasPrefix(text, p) || strings.HasPrefix(cause, p)
		if errors.Is(err, kind) != is {
			return false
		}
		if is {
			kinds++
		}
	}
	return kinds > 0
}

func newEncryptor(t testing.TB, key []byte) *cachekit.Encryptor {
	t.Helper()
	e, err := cachekit.NewEncryptor(key)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// open opens ct in several ways that must agree.
func open(t testing.TB, e *cachekit.Encryptor, ct, aad []byte) ([]byte, error) {
	t.Helper()
	keep := bytes.Clone(ct)
	data, err := e.Open(nil, ct, aad)
	if err != nil && data != nil {
		t.Errorf("Open failed but returned %d bytes", len(data))
	}
	room := append(make([]byte, 0, len(prefix)+len(ct)), prefix...)
	for _, dst := range [][]byte{bytes.Clone(prefix), room} {
		d, e := e.Open(dst, ct, aad)
		if (e == nil) != (err == nil) || e != nil && e.Error() != err.Error() {
			t.Errorf("Open into %d of %d bytes: %v; into nil: %v", len(dst), cap(dst), e, err)
		}
		if want := append(bytes.Clone(prefix), data...); !bytes.Equal(d, want) {
			t.Errorf("Open into %d of %d bytes gives %d bytes, want dst and %d more", len(dst), cap(dst), len(d), len(data))
		}
	}
	if !bytes.Equal(ct, keep) {
		t.Error("Open wrote to its input")
	}
	return data, err
}

func TestCrateEncrypt(t *testing.T) {
	for _, v := range section[struct {
		Name                            string
		Key, AAD, Plaintext, Ciphertext hexBytes
	}](t, "encrypt", 23) {
		e := newEncryptor(t, v.Key)
		data, err := open(t, e, v.Ciphertext, v.AAD)
		if err != nil || !bytes.Equal(data, v.Plaintext) {
			t.Errorf("%s: opening the original's: %x, %v", v.Name, data, err)
		}
		// Ours differs in the nonce alone: under the original's nonce the
		// standard library gives the original's bytes.
		ct, err := e.Seal(bytes.Clone(prefix), v.Plaintext, v.AAD)
		if err != nil || !bytes.HasPrefix(ct, prefix) {
			t.Fatalf("%s: %v", v.Name, err)
		}
		ct = ct[len(prefix):]
		if len(ct) != len(v.Plaintext)+cachekit.Overhead {
			t.Errorf("%s: sealed %d bytes into %d", v.Name, len(v.Plaintext), len(ct))
		}
		block, _ := aes.NewCipher(v.Key)
		gcm, _ := cipher.NewGCM(block)
		if want := gcm.Seal(ct[:12:12], ct[:12], v.Plaintext, v.AAD); !bytes.Equal(ct, want) {
			t.Errorf("%s: got %x, want %x", v.Name, ct, want)
		}
		if data, err := open(t, e, ct, v.AAD); err != nil || !bytes.Equal(data, v.Plaintext) {
			t.Errorf("%s: opening ours: %x, %v", v.Name, data, err)
		}
	}
}

func TestCrateDecrypt(t *testing.T) {
	good := 0
	for _, v := range section[struct {
		Name                            string
		Key, AAD, Plaintext, Ciphertext hexBytes
		Text                            string
	}](t, "decrypt", 32) {
		e, err := cachekit.NewEncryptor(v.Key)
		var data []byte
		if err == nil {
			data, err = open(t, e, v.Ciphertext, v.AAD)
		}
		if v.Text == "" {
			good++
			if err != nil || !bytes.Equal(data, v.Plaintext) {
				t.Errorf("%s: got %x, %v", v.Name, data, err)
			}
		} else if !sameCryptoError(err, v.Text) {
			t.Errorf("%s: got %v, want %s", v.Name, err, v.Text)
		}
	}
	count(t, "decrypt without error", good, 1)
}

func TestCrateNonceCounter(t *testing.T) {
	for _, v := range section[struct {
		Before   uint64   `json:"counter_before"`
		Field    hexBytes `json:"nonce_counter_field"`
		After    uint64   `json:"counter_after"`
		BadKey   string   `json:"then_31_byte_key"`
		AfterBad uint64   `json:"counter_after_bad_key"`
		Text     string
	}](t, "nonce_counter", 6) {
		e := newEncryptor(t, make([]byte, 32))
		e.SetCounter(v.Before)
		ct, err := e.Seal(prefix, []byte("x"), nil)
		if v.Text != "" {
			if !sameCryptoError(err, v.Text) || !bytes.Equal(ct, prefix) {
				t.Errorf("counter %d: got %x, %v", v.Before, ct, err)
			}
		} else if err != nil || !bytes.Equal(ct[len(prefix)+8:][:4], v.Field) {
			t.Errorf("counter %d: got %x, %v, want %x", v.Before, ct, err, v.Field)
		}
		if e.Counter() != v.After {
			t.Errorf("counter %d: then %d, want %d", v.Before, e.Counter(), v.After)
		}
		// A key of the wrong length gets no encryptor, so it can spend nothing.
		if _, err := cachekit.NewEncryptor(make([]byte, 31)); !sameCryptoError(err, v.BadKey) || e.Counter() != v.AfterBad {
			t.Errorf("counter %d: bad key: %v, then %d", v.Before, err, e.Counter())
		}
	}
}

func TestNonces(t *testing.T) {
	a, b := newEncryptor(t, make([]byte, 32)), newEncryptor(t, make([]byte, 32))
	// Tests of one package run one at a time, so no other was made between.
	if b.InstanceID() != a.InstanceID()+1 {
		t.Errorf("instance ids %d and %d", a.InstanceID(), b.InstanceID())
	}
	for i := range uint32(100) {
		ct, err := a.Seal(nil, nil, nil)
		if err != nil || binary.BigEndian.Uint64(ct) != a.InstanceID() || binary.BigEndian.Uint32(ct[8:]) != i {
			t.Fatalf("ciphertext %d of encryptor %x: %x, %v", i, a.InstanceID(), ct, err)
		}
	}
	if _, err := cachekit.NewEncryptor(nil); err == nil {
		t.Error("no key will do")
	}
	if c := newEncryptor(t, make([]byte, 32)); c.InstanceID() != b.InstanceID()+1 {
		t.Error("a refused key took an instance id")
	}
}

func TestEncryptorConcurrent(t *testing.T) {
	const workers, each = 50, 200
	e := newEncryptor(t, bytes.Repeat([]byte{7}, 32))
	seen := make([]map[string]bool, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			seen[w] = map[string]bool{}
			msg := fmt.Appendf(nil, "message of %d", w)
			var ct, pt []byte
			for range each {
				var err error
				if ct, err = e.Seal(ct[:0], msg, nil); err != nil {
					t.Error(err)
					return
				}
				seen[w][string(ct[:12])] = true
				if pt, err = e.Open(pt[:0], ct, nil); err != nil || !bytes.Equal(pt, msg) {
					t.Errorf("got %q, %v", pt, err)
				}
			}
		})
	}
	wg.Wait()
	all := map[string]bool{}
	for _, s := range seen {
		for n := range s {
			all[n] = true
		}
	}
	if len(all) != workers*each || e.Counter() != workers*each {
		t.Errorf("%d nonces and counter %d for %d calls", len(all), e.Counter(), workers*each)
	}
}

func TestEncryptorConcurrentExhaustion(t *testing.T) {
	e := newEncryptor(t, make([]byte, 32))
	e.SetCounter(1<<32 - 1 - 10)
	var mu sync.Mutex
	var wg sync.WaitGroup
	good := 0
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if _, err := e.Seal(nil, nil, nil); err == nil {
					mu.Lock()
					good++
					mu.Unlock()
				} else if !errors.Is(err, cachekit.ErrNonceCounterExhausted) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if good != 10 {
		t.Errorf("%d of the last 10 nonces were used", good)
	}
}

func TestEncryptorClose(t *testing.T) {
	e := newEncryptor(t, make([]byte, 32))
	ct, err := e.Seal(nil, []byte("x"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if _, err := e.Open(nil, ct, nil); err != nil && !errors.Is(err, cachekit.ErrClosed) {
					t.Error(err)
				}
			}
		})
	}
	e.Close()
	e.Close()
	wg.Wait()
	if out, err := e.Seal(prefix, nil, nil); !errors.Is(err, cachekit.ErrClosed) || !bytes.Equal(out, prefix) || e.Counter() != 1 {
		t.Errorf("Seal after Close: %x, %v, counter %d", out, err, e.Counter())
	}
	if out, err := e.Open(prefix, ct, nil); !errors.Is(err, cachekit.ErrClosed) || !bytes.Equal(out, prefix) {
		t.Errorf("Open after Close: %x, %v", out, err)
	}
}

// An oddAEAD has other sizes than it should.
type oddAEAD struct {
	cipher.AEAD
	nonce, overhead int
}

func (a oddAEAD) NonceSize() int { return a.nonce }
func (a oddAEAD) Overhead() int  { return a.overhead }

func TestSuite(t *testing.T) {
	gcm := func(key []byte) cipher.AEAD {
		block, err := aes.NewCipher(key)
		if err != nil {
			t.Fatal(err)
		}
		a, err := cipher.NewGCM(block)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	key := bytes.Repeat([]byte{9}, 32)
	calls := 0
	good := cachekit.Suite{AEAD: func(k []byte) (cipher.AEAD, error) {
		calls++
		if !bytes.Equal(k, key) {
			t.Errorf("AEAD was given another key")
		}
		return gcm(k), nil
	}}
	e, err := good.NewEncryptor(key)
	if err != nil || calls != 1 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	ct, err := e.Seal(nil, []byte("hello"), []byte("aad"))
	if err != nil {
		t.Fatal(err)
	}
	if pt, err := open(t, newEncryptor(t, key), ct, []byte("aad")); err != nil || string(pt) != "hello" || calls != 1 {
		t.Errorf("got %q, %v, %d calls", pt, err, calls)
	}
	if _, err := good.NewEncryptor(key[:31]); !sameCryptoError(err, "Invalid key length: expected 32 bytes, got 31") || calls != 1 {
		t.Errorf("key of 31 bytes: %v, %d calls", err, calls)
	}
	broken := errors.New("no such slot")
	for name, v := range map[string]struct {
		aead func([]byte) (cipher.AEAD, error)
		text string
	}{
		"error": {func([]byte) (cipher.AEAD, error) { return nil, broken }, "Encryption failed: no such slot"},
		"nil":   {func([]byte) (cipher.AEAD, error) { return nil, nil }, "Encryption failed: no AEAD"},
		"nonce": {func(k []byte) (cipher.AEAD, error) { return oddAEAD{gcm(k), 24, 16}, nil }, "Invalid nonce length: expected 12 bytes, got 24"},
		"tag":   {func(k []byte) (cipher.AEAD, error) { return oddAEAD{gcm(k), 12, 12}, nil }, "Encryption failed: AEAD with tags of 12 bytes, expected 16"},
	} {
		s := cachekit.Suite{AEAD: v.aead}
		if _, err := s.NewEncryptor(key); !sameCryptoError(err, v.text) || (name == "error") != errors.Is(err, broken) {
			t.Errorf("%s: %v, want %s", name, err, v.text)
		}
		ring, err := s.NewKeyring(key)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := ring.Decrypt(prefix, ct, "t", nil); !sameCryptoError(err, v.text) || !bytes.Equal(out, prefix) {
			t.Errorf("%s: ring: %x, %v, want %s", name, out, err, v.text)
		}
		if _, err := ring.ForTenant("t"); !sameCryptoError(err, v.text) {
			t.Errorf("%s: tenant ring: %v, want %s", name, err, v.text)
		}
	}
}

// secret is a key that is easy to find in what is printed.
var secret = []byte("0123456789abcdefghijklmnopqrstuv")

func TestRedacted(t *testing.T) {
	key := cachekit.Key(secret)
	ring, err := cachekit.NewKeyring(secret)
	if err != nil {
		t.Fatal(err)
	}
	other, err := cachekit.NewKeyring(secret)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := other.ForTenant("tenant")
	if err != nil {
		t.Fatal(err)
	}
	tk, err := cachekit.DeriveTenantKeys(secret, "tenant")
	if err != nil {
		t.Fatal(err)
	}
	derived := tk.Encryption()
	var printed bytes.Buffer
	for _, v := range []any{key, &key, ring, bound, tk, newEncryptor(t, secret), struct{ K cachekit.Key }{key}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b", "%c", "%U"} {
			fmt.Fprintf(&printed, verb+"\n", v)
		}
		j, _ := json.Marshal(v)
		printed.Write(j)
	}
	for _, k := range [][]byte{secret, derived[:]} {
		for _, form := range []string{
			string(k[:8]),
			hex.EncodeToString(k[:8]),
			strings.ToUpper(hex.EncodeToString(k[:8])),
			strings.Trim(fmt.Sprint(k[:8]), "[]"),
			strings.Trim(strings.ReplaceAll(fmt.Sprint(k[:8]), " ", ","), "[]"),
		} {
			if strings.Contains(printed.String(), form) {
				t.Errorf("a key is printed as %s", form)
			}
		}
	}
	if !strings.Contains(printed.String(), "<redacted>") || !strings.Contains(fmt.Sprint(tk), `"tenant"`) ||
		!strings.Contains(fmt.Sprint(tk), fmt.Sprintf("%x", tk.EncryptionFingerprint())) {
		t.Errorf("printed:\n%s", printed.String())
	}
	for _, v := range []any{key, &key, tk} {
		if j, err := json.Marshal(v); err == nil {
			t.Errorf("%T marshals to %s", v, j)
		}
	}
}
