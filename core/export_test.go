package cachekit

// SetCounter writes the encryptor's counter in place, to test its end.
func (e *Encryptor) SetCounter(v uint64) { e.nonce.counter.Store(v) }

// Overlap is overlap.
var Overlap = overlap
