package cachekit

import (
	"strconv"

	"github.com/cachekit-go/cachekit/core/internal/envelope"
)

// A StructureError says why [CheckStructure] refuses a document.
type StructureError struct {
	Reason string // one of the texts of spec section 4
	Offset int    // where the walk ended, in bytes from the start
}

// Error returns the bare reason.
func (e *StructureError) Error() string { return e.Reason }

// CheckStructure reports whether b starts with a whole MessagePack document
// that is safe to hand to a decoder: at most maxDepth arrays and maps, empty
// ones too, are open at once, and the lengths it declares add up to no more
// than b holds. The sum is over the whole document and in 64 bits, so that no
// decoder can be made to allocate more than the input pays for.
//
// The protocol asks for a maxDepth from 32 to 1024, and [MaxDepth] is what
// envelopes are read with; any value is applied as it is given, and 0 or less
// admits scalars only. Bytes behind the document are ignored: see
// [DocumentLen]. Whether a str is UTF-8 is not looked at.
//
// A payload deserves the same suspicion as its envelope: check what [Retrieve]
// returns before decoding it.
//
// CheckStructure allocates nothing for a nesting up to 16, and 8 bytes for each
// open collection beyond that. The error is a [*StructureError].
//
// Spec section 4.
func CheckStructure(b []byte, maxDepth int) error {
	if n, f := envelope.Scan(b, maxDepth); f != 0 {
		return structureError(n, f, maxDepth)
	}
	return nil
}

// DocumentLen is [CheckStructure] and returns the length in bytes of the
// document that b starts with, for the caller to compare with len(b).
func DocumentLen(b []byte, maxDepth int) (int, error) {
	n, f := envelope.Scan(b, maxDepth)
	if f != 0 {
		return 0, structureError(n, f, maxDepth)
	}
	return n, nil
}

// structureError puts a fault into words. The texts are promised.
func structureError(offset int, f envelope.Fault, maxDepth int) error {
	e := &StructureError{Offset: offset}
	switch f {
	case envelope.Empty:
		e.Reason = "ends before the document is complete"
	case envelope.Prefix:
		e.Reason = "ends inside a length prefix"
	case envelope.Depth:
		e.Reason = "nests deeper than " + strconv.Itoa(max(maxDepth, 0)) + " levels"
	case envelope.Bytes:
		e.Reason = "declares more bytes than the input holds"
	case envelope.Elements:
		e.Reason = "declares more elements than the input can back"
	case envelope.Reserved:
		e.Reason = "contains the reserved marker 0xc1"
	}
	return e
}
