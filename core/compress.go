package cachekit

import (
	"sync"

	"github.com/cachekit-go/cachekit/core/internal/lz4block"
)

// literalsOnly is the payload length in bytes under which a block is one run of
// literals and the compressor is not asked: it gains nothing there, and the
// block is then the same for every implementation.
const literalsOnly = 64

// literalsLen returns the length of a block of n < literalsOnly literals.
func literalsLen(n int) int {
	if n < 15 {
		return 1 + n
	}
	return 2 + n
}

// putLiterals writes payload as a block of literals into dst, which holds
// exactly literalsLen bytes. They may overlap in any way. Spec section 1.
func putLiterals(dst, payload []byte) {
	n := len(payload)
	copy(dst[literalsLen(n)-n:], payload)
	if n < 15 {
		dst[0] = byte(n << 4)
		return
	}
	dst[0], dst[1] = 0xf0, byte(n-15)
}

// blockBound returns the most bytes that compressBlock writes for n bytes.
func blockBound(n int) int { return lz4block.Bound(n) }

// compressBlock compresses src into dst, which holds at least blockBound bytes
// and does not overlap it, and returns the length of the block. It is the one
// place that knows the compressor.
func compressBlock(dst, src []byte) int { return lz4block.Encode(dst, src) }

// keepScratch is the largest buffer in bytes that goes back to the pool.
const keepScratch = 256 << 10

// scratches has buffers for blocks and payloads on their way to a caller's
// slice. They keep what was in them until the garbage collector takes them.
var scratches = sync.Pool{New: func() any { return new([]byte) }}

// scratch returns a buffer of n bytes of any content, to be released.
func scratch(n int) *[]byte {
	p := scratches.Get().(*[]byte)
	if cap(*p) < n {
		*p = make([]byte, n)
	}
	*p = (*p)[:n]
	return p
}

// release gives a buffer back.
func release(p *[]byte) {
	if cap(*p) <= keepScratch {
		scratches.Put(p)
	}
}
