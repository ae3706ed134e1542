package cachekit

// The protocol's limits. A reader or writer may lower them with a [Codec], not
// raise them. See spec section 1.
const (
	MaxPayload    = 512 << 20 // bytes of an uncompressed payload
	MaxCompressed = 512 << 20 // bytes of a block, and of a whole envelope
	MaxRatio      = 1000      // claimed payload bytes per block byte
	MaxDepth      = 100       // nesting at which an envelope is walked
)

// DefaultFormat is the format label of a payload that is given none.
const DefaultFormat = "msgpack"

// A Codec stores and retrieves with other than the default limits, label or
// strictness. The zero value has the defaults, which are what the package
// functions of the same names use. It is a value: copy it, and use it from any
// number of goroutines.
type Codec struct {
	// MaxPayload, MaxCompressed and MaxRatio lower the constants of the same
	// names. Zero means the constant, and so does a larger value. A negative
	// one is a programmer's error: every method panics.
	MaxPayload    int // bytes
	MaxCompressed int // bytes
	MaxRatio      int

	// Format is the label that Store writes; empty means DefaultFormat. To
	// write an empty label use StoreFormat.
	Format string

	// Strict refuses bytes behind the envelope. By default they are ignored,
	// as the original does.
	Strict bool
}

// limits are a Codec's limits with the defaults filled in.
type limits struct {
	payload, compressed, ratio uint64
}

// limits decides what the fields of c mean.
func (c *Codec) limits() limits {
	return limits{
		payload:    lower(c.MaxPayload, MaxPayload),
		compressed: lower(c.MaxCompressed, MaxCompressed),
		ratio:      lower(c.MaxRatio, MaxRatio),
	}
}

// lower returns the limit v, or max if v is zero or more than max.
func lower(v, max int) uint64 {
	if v < 0 {
		panic("cachekit: negative limit")
	}
	if v == 0 || v > max {
		return uint64(max)
	}
	return uint64(v)
}

// admit does steps 3 to 5 for a block of so many bytes that claims to hold a
// payload of size bytes.
func (l *limits) admit(block, size uint64) error {
	if block > l.compressed || size > l.payload {
		return ErrInputTooLarge
	}
	if block == 0 || size > l.ratio*block {
		return ErrDecompressionBomb
	}
	return nil
}
