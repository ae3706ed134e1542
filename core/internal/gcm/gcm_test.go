package gcm

import (
	"bytes"
	"encoding/binary"
	"sync"
	"testing"
)

func TestSequenceEnds(t *testing.T) {
	q := NewSequence()
	a, err := New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		skip, counter uint64 // the counter after a call
		ok            bool
	}{
		{0, 1, true},
		{1, 2, true}, // no way back
		{1<<32 - 2, 1<<32 - 1, true},
		{0, 1 << 32, false},
		{1 << 33, 1<<33 + 1, false}, // nor round to 0
	} {
		q.Skip(v.skip)
		before := q.Counter()
		out, ok := Seal(a, q, []byte("dst"), []byte("plain"), nil)
		if ok != v.ok || q.Counter() != v.counter {
			t.Errorf("%v: got %v, counter %d", v, ok, q.Counter())
		}
		if !ok {
			if string(out) != "dst" {
				t.Errorf("%v: dst became %q", v, out)
			}
			continue
		}
		nonce := out[3 : 3+NonceSize]
		if binary.BigEndian.Uint64(nonce) != q.Instance() || uint64(binary.BigEndian.Uint32(nonce[8:])) != before {
			t.Errorf("%v: nonce %x", v, nonce)
		}
		if plain, err := a.Open(nil, nonce, out[3+NonceSize:], nil); err != nil || !bytes.Equal(plain, []byte("plain")) {
			t.Errorf("%v: opens to %q, %v", v, plain, err)
		}
	}
}

func TestSequencesDiffer(t *testing.T) {
	var mu sync.Mutex
	seen := map[[NonceSize]byte]bool{}
	shared := NewSequence()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			own := NewSequence()
			for range 200 {
				for _, q := range []*Sequence{shared, own} {
					var nonce [NonceSize]byte
					if !q.put(nonce[:]) {
						t.Error("exhausted")
					}
					mu.Lock()
					if seen[nonce] {
						t.Errorf("%x was given twice", nonce)
					}
					seen[nonce] = true
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
}
