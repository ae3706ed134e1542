package main

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// at returns memory as C would pass it. What is empty has an address too.
func at(b []byte) span {
	if len(b) == 0 {
		return span{new(byte), 0}
	}
	return span{unsafe.SliceData(b), uintptr(len(b))}
}

// roomIn returns a buffer over b.
func roomIn(b []byte) buffer {
	n := uintptr(len(b))
	return buffer{at(b).p, &n}
}

// Every kind of error of package cachekit has the code of spec section 9.
func TestCodeOf(t *testing.T) {
	for _, v := range []struct {
		err  error
		want code
	}{
		{nil, ok},
		{errors.New("any other"), invalidInput},
		{cachekit.ErrInputTooLarge, inputTooLarge},
		{cachekit.ErrDecompressionBomb, decompressionBomb},
		{cachekit.ErrChecksumMismatch, checksumMismatch},
		{cachekit.ErrCompressionFailed, invalidInput},
		{cachekit.ErrDecompressionFailed, decompressionFailed},
		{cachekit.ErrSizeValidationFailed, sizeValidationFailed},
		{cachekit.ErrSerializationFailed, invalidInput},
		{cachekit.ErrDeserializationFailed, invalidInput},
		{cachekit.ErrInvalidKeyLength, invalidKeyLength},
		{cachekit.ErrInvalidNonceLength, invalidInput},
		{cachekit.ErrEncryptionFailed, invalidInput},
		{cachekit.ErrInvalidCiphertext, invalidInput},
		{cachekit.ErrAuthenticationFailed, decryptionFailed},
		{cachekit.ErrNonceCounterExhausted, counterExhausted},
		{cachekit.ErrInvalidMasterKeyLength, invalidKeyLength},
		{cachekit.ErrInvalidDomain, invalidInput},
		{cachekit.ErrDomainTooLong, domainTooLong},
		{cachekit.ErrInvalidSaltLength, invalidInput},
		{cachekit.ErrTenantSaltTooLong, saltTooLong},
		{cachekit.ErrKeyringCapExceeded, invalidInput},
		{cachekit.ErrCurrentKeyInDecryptOnlyList, invalidInput},
		{cachekit.ErrKeyringIndexOutOfRange, invalidInput},
		{cachekit.ErrKeyDerivation, invalidInput},
		{fmt.Errorf("%w: %w", cachekit.ErrKeyDerivation, cachekit.ErrTenantSaltTooLong), saltTooLong},
		{fmt.Errorf("reading: %w", cachekit.ErrChecksumMismatch), checksumMismatch},
	} {
		if got := codeOf(v.err); got != v.want {
			t.Errorf("%v: got %d, want %d", v.err, got, v.want)
		}
	}
}

func TestCompressedBoundHolds(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 255, 4096, 1 << 20} {
		b := make([]byte, n)
		x := uint32(1)
		for i := range b {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
			b[i] = byte(x)
		}
		if env, err := cachekit.Store(nil, b); err != nil || uintptr(len(env)) > compressedBound(uintptr(n)) {
			t.Errorf("%d bytes: an envelope of %d, %v, bound %d", n, len(env), err, compressedBound(uintptr(n)))
		}
	}
	if got := compressedBound(math.MaxUint); got != math.MaxUint {
		t.Errorf("got %d", got)
	}
}

// The output may be where the inputs are.
func TestOverlap(t *testing.T) {
	h := newEncryptor(nil)
	defer encryptors.free(h)
	b := make([]byte, 128)
	for i := range b {
		b[i] = byte(i)
	}
	want := string(b[32:64])
	out := roomIn(b)
	if c := encrypt(h, at(b[:32]), at(b[96:]), at(b[32:64]), out); c != ok || *out.n != 60 {
		t.Fatalf("encrypting: code %d, %d bytes", c, *out.n)
	}
	key, aad := make([]byte, 32), make([]byte, 32)
	for i := range 32 {
		key[i], aad[i] = byte(i), byte(96+i)
	}
	back := roomIn(b)
	if c := decrypt(h, at(key), at(aad), at(b[:60]), back); c != ok || string(b[:*back.n]) != want {
		t.Errorf("decrypting: code %d, %q", c, b[:*back.n])
	}
}

// No memory for the result is an error and not the end of the process.
func TestNoMemory(t *testing.T) {
	h := newStorage(nil)
	defer storages.free(h)
	none := func(uintptr) *byte { return nil }
	var out *byte
	n := uintptr(7)
	if c := store(h, at([]byte("x")), nil, &out, &n, none); c != inputTooLarge || out != nil || n != 7 {
		t.Errorf("got code %d, length %d", c, n)
	}
}

// Many goroutines on one encryptor: every nonce is another, also while handles
// come and go, and the one in use is freed. Run it with -race.
func TestConcurrent(t *testing.T) {
	const workers, rounds = 16, 200
	h := newEncryptor(nil)
	key := make([]byte, 32)
	var mu sync.Mutex
	sealed, nonces := 0, map[string]bool{}
	var freeing atomic.Bool
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				b := make([]byte, 40)
				c := encrypt(h, at(key), at(nil), at([]byte("twelve bytes")), roomIn(b))
				if c == invalidHandle && freeing.Load() {
					return
				}
				if c != ok {
					t.Errorf("encrypting: code %d", c)
					return
				}
				mu.Lock()
				sealed++
				nonces[string(b[:12])] = true
				mu.Unlock()
				other := newEncryptor(nil)
				encryptors.free(other)
				if counter(other) != 0 || other == h {
					t.Error("a freed handle counts")
				}
				if w == 0 && i == rounds-1 {
					freeing.Store(true)
					encryptors.free(h)
				}
			}
		})
	}
	wg.Wait()
	if counter(h) != 0 || len(nonces) != sealed || sealed < rounds {
		t.Errorf("%d nonces of %d calls, counter %d", len(nonces), sealed, counter(h))
	}
	seen := map[uintptr]bool{}
	for range 1000 {
		h := newEncryptor(nil)
		if seen[h] {
			t.Fatal("a handle was given out twice")
		}
		seen[h] = true
		encryptors.free(h)
	}
	if n := len(encryptors.live); n != 0 {
		t.Errorf("%d handles live", n)
	}
}
