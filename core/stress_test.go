package cachekit_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// The stress tests of spec section 11. They are for the race detector as well.

func TestStressNonces(t *testing.T) {
	const workers, each = 1000, 100
	e := newEncryptor(t, secret)
	var nonces [workers * each][12]byte
	var wg sync.WaitGroup
	start := make(chan struct{})
	for w := range workers {
		wg.Go(func() {
			var ct []byte
			<-start
			for i := range each {
				var err error
				if ct, err = e.Seal(ct[:0], []byte("message"), nil); err != nil {
					t.Error(err)
					return
				}
				nonces[w*each+i] = [12]byte(ct)
			}
		})
	}
	close(start)
	wg.Wait()
	if e.Counter() != workers*each {
		t.Errorf("counter %d after %d calls", e.Counter(), workers*each)
	}
	// Distinct, none left out, and all with the encryptor's own prefix.
	slices.SortFunc(nonces[:], func(a, b [12]byte) int { return bytes.Compare(a[:], b[:]) })
	for i, n := range nonces {
		if binary.BigEndian.Uint64(n[:]) != e.InstanceID() || binary.BigEndian.Uint32(n[8:]) != uint32(i) {
			t.Fatalf("nonce %d of %d is %x, of encryptor %x", i, len(nonces), n, e.InstanceID())
		}
	}
}

// Exhaustion is for good, and exact, however many ask at once.
func TestStressExhaustion(t *testing.T) {
	const left, workers, each = 500, 50, 20
	e := newEncryptor(t, secret)
	e.SetCounter(1<<32 - 1 - left)
	var good atomic.Int64
	var last atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				ct, err := e.Seal(nil, nil, nil)
				switch {
				case err == nil:
					good.Add(1)
					if binary.BigEndian.Uint32(ct[8:]) == 1<<32-2 {
						last.Add(1)
					}
				case !errors.Is(err, cachekit.ErrNonceCounterExhausted):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if good.Load() != left || last.Load() != 1 || e.Counter() != 1<<32-1-left+workers*each {
		t.Errorf("%d of the last %d nonces used, the very last %d times, counter %d", good.Load(), left, last.Load(), e.Counter())
	}
}

// Encryptors of many tenants and domains, made side by side: all nonces differ,
// though the protocol asks for that only under one key.
func TestStressInstances(t *testing.T) {
	const tenants, each = 20, 50
	domains := []string{cachekit.DomainEncryption, cachekit.DomainAuthentication, cachekit.DomainCacheKeys}
	var mu sync.Mutex
	seen, ids := map[[12]byte]bool{}, map[uint64]bool{}
	var wg sync.WaitGroup
	for i := range tenants {
		for _, domain := range domains {
			wg.Go(func() {
				key, err := cachekit.DeriveDomainKey(secret, domain, fmt.Appendf(nil, "tenant-%d", i))
				if err != nil {
					t.Error(err)
					return
				}
				e, err := cachekit.NewEncryptor(key[:])
				if err != nil {
					t.Error(err)
					return
				}
				mine := map[[12]byte]bool{}
				for range each {
					ct, err := e.Seal(nil, []byte("message"), nil)
					if err != nil || binary.BigEndian.Uint64(ct) != e.InstanceID() {
						t.Errorf("%x of encryptor %x, %v", ct, e.InstanceID(), err)
						return
					}
					mine[[12]byte(ct)] = true
				}
				mu.Lock()
				defer mu.Unlock()
				maps.Copy(seen, mine)
				ids[e.InstanceID()] = true
			})
		}
	}
	wg.Wait()
	if n := tenants * len(domains); len(seen) != n*each || len(ids) != n {
		t.Errorf("%d nonces and %d instances, want %d and %d", len(seen), len(ids), n*each, n)
	}
}

// Round trips of many sizes, tenants and domains side by side: everyone seals
// with one encryptor for each key, and opens with an encryptor of its own, which
// opens nothing of the others'.
func TestStressRoundTrips(t *testing.T) {
	for _, v := range []struct{ workers, each int }{{50, 20}, {100, 50}} {
		domains := []string{cachekit.DomainEncryption, "sessions", "cache"}
		keys := make([]cachekit.Key, 10)
		shared := make([]*cachekit.Encryptor, len(keys))
		for i := range keys {
			var err error
			if keys[i], err = cachekit.DeriveDomainKey(secret, domains[i%len(domains)], fmt.Appendf(nil, "tenant-%d", i)); err != nil {
				t.Fatal(err)
			}
			shared[i] = newEncryptor(t, keys[i][:])
		}
		all := records(20_000, recordSeed)
		var wg sync.WaitGroup
		for w := range v.workers {
			wg.Go(func() {
				k := w % len(keys)
				own, err := cachekit.NewEncryptor(keys[k][:])
				if err != nil {
					t.Error(err)
					return
				}
				aad := fmt.Appendf(nil, "worker-%d", w)
				var env, ct, pt, data []byte
				for i := range v.each {
					payload := all[w:][:(i*i*7+w)%8000]
					if env, err = cachekit.Store(env[:0], payload); err != nil {
						t.Error(err)
						return
					}
					if ct, err = shared[k].Seal(ct[:0], env, aad); err != nil {
						t.Error(err)
						return
					}
					if pt, err = own.Open(pt[:0], ct, aad); err != nil {
						t.Error(err)
						return
					}
					if data, _, err = cachekit.Retrieve(data[:0], pt); err != nil || !bytes.Equal(data, payload) {
						t.Errorf("%d bytes of %d, %v", len(data), len(payload), err)
						return
					}
					if _, err := shared[(k+1)%len(keys)].Open(nil, ct, aad); !errors.Is(err, cachekit.ErrAuthenticationFailed) {
						t.Errorf("another tenant's key: %v", err)
						return
					}
				}
			})
		}
		wg.Wait()
		total := uint64(0)
		for _, e := range shared {
			total += e.Counter()
		}
		if total != uint64(v.workers*v.each) {
			t.Errorf("%d nonces for %d calls", total, v.workers*v.each)
		}
	}
}

// Large payloads, plain, sealed and both, and what each step may allocate: the
// result, and nothing of that order beside it. What is allocated bounds what is
// held at the peak.
func TestLargePayloads(t *testing.T) {
	sizes := []int{1 << 20, 10 << 20, 100 << 20}
	// One goroutine at work has no races, and the detector makes it slow.
	if testing.Short() || raceEnabled {
		sizes = sizes[:2]
	}
	e := newEncryptor(t, secret)
	for _, n := range sizes {
		// Compressible and incompressible megabytes in turn.
		payload := make([]byte, 0, n)
		kinds := [][]byte{records(1<<20, recordSeed), incompressible(1<<20, streamSeed)}
		for i := 0; len(payload) < n; i++ {
			payload = append(payload, kinds[i%2]...)
		}
		var env, sealed, opened, data, direct []byte
		var err error
		limit := func(what string, f func(), max int) {
			t.Helper()
			got := allocated(f)
			// Growing rounds up to pages; the rest is for what is small. Under
			// the race detector slices.Grow makes twice what it needs.
			if err != nil || got > uint64(max)+1<<17 && !raceEnabled {
				t.Errorf("%s %d bytes: allocated %d, want at most %d, %v", what, n, got, max, err)
			}
		}
		bound := n + n/255 + 64
		limit("storing", func() { env, err = cachekit.Store(nil, payload) }, bound+n)
		if len(env) > n {
			t.Errorf("%d bytes are stored in %d", n, len(env))
		}
		limit("sealing", func() { sealed, err = e.Seal(nil, env, []byte("aad")) }, len(env)+cachekit.Overhead)
		limit("opening", func() { opened, err = e.Open(nil, sealed, []byte("aad")) }, len(env))
		limit("retrieving", func() { data, _, err = cachekit.Retrieve(nil, opened) }, n)
		if !bytes.Equal(data, payload) {
			t.Fatalf("%d bytes through all layers: got %d", n, len(data))
		}
		limit("retrieving with room", func() { data, _, err = cachekit.Retrieve(data[:0], env) }, 0)
		limit("validating", func() { cachekit.Validate(env) }, n)
		limit("sealing plain", func() { direct, err = e.Seal(sealed[:0:0], payload, nil) }, n+cachekit.Overhead)
		limit("opening with room", func() { data, err = e.Open(data[:0], direct, nil) }, 0)
		if !bytes.Equal(data, payload) {
			t.Fatalf("%d bytes sealed: got %d", n, len(data))
		}
		direct[len(direct)/2] ^= 1
		if _, err := e.Open(data[:0], direct, nil); !errors.Is(err, cachekit.ErrAuthenticationFailed) {
			t.Errorf("%d bytes, a bit flipped: %v", n, err)
		}
		runtime.KeepAlive(env)
	}
}
