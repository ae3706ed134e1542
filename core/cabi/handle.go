package main

import (
	"sync"

	"github.com/cachekit-go/cachekit/core/internal/gcm"
)

// A table maps handles to what they stand for. It is safe for concurrent use,
// and what was found stays whole after it is freed, for the call that found it.
type table[T any] struct {
	mu   sync.Mutex
	live map[uintptr]*T
}

// numbers has the handles of all tables, so that a handle of one is never one
// of another, and none is given out twice.
var numbers struct {
	mu   sync.Mutex
	last uintptr
}

// The tables of this process: an encryptor is a sequence of nonces without a
// key, which is passed to each call.
var (
	encryptors table[gcm.Sequence]
	storages   table[storage]
)

// number returns a handle that was never given out. It panics when there is
// none, which takes a 32-bit process 2^32 - 1 handles.
func number() uintptr {
	numbers.mu.Lock()
	defer numbers.mu.Unlock()
	if numbers.last+1 == 0 {
		panic("cachekit: no handle is left")
	}
	numbers.last++
	return numbers.last
}

// add puts v into the table and returns its handle, which is not 0.
func (t *table[T]) add(v *T) uintptr {
	h := number()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live == nil {
		t.live = make(map[uintptr]*T)
	}
	t.live[h] = v
	return h
}

// find returns what h stands for, or nil.
func (t *table[T]) find(h uintptr) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live[h]
}

// free takes h out of the table, if it is there.
func (t *table[T]) free(h uintptr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.live, h)
}
