package envelope

import "encoding/binary"

// MaxHeader is the length in bytes of the longest header that [AppendHeader]
// writes.
const MaxHeader = 1 + 5

// HeaderLen returns the length in bytes of the header before a block of n
// bytes: the root array and the shortest bin header.
func HeaderLen(n int) int {
	switch {
	case n < 1<<8:
		return 1 + 2
	case n < 1<<16:
		return 1 + 3
	default:
		return MaxHeader
	}
}

// Len returns the exact length in bytes of the envelope that [Append] writes
// for a block and a label of those lengths. It is a uint64 so that it cannot
// wrap on a 32-bit host.
func Len(block int, sum uint64, size uint32, format int) uint64 {
	n := uint64(HeaderLen(block)) + uint64(block) + 1
	for ; sum != 0; sum >>= 8 {
		if byte(sum) >= 0x80 {
			n++ // 0xcc
		}
	}
	n += 8
	switch {
	case size < 1<<7:
		n++
	case size < 1<<8:
		n += 2
	case size < 1<<16:
		n += 3
	default:
		n += 5
	}
	switch f := uint64(format); {
	case f < 1<<5:
		n++
	case f < 1<<8:
		n += 2
	case f < 1<<16:
		n += 3
	default:
		n += 5
	}
	return n + uint64(format)
}

// Append appends an envelope to dst: [AppendHeader], the block, [AppendTail].
func Append(dst, block []byte, sum uint64, size uint32, format string) []byte {
	dst = AppendHeader(dst, len(block))
	dst = append(dst, block...)
	return AppendTail(dst, sum, size, format)
}

// AppendHeader appends what comes before a block of n bytes: the array of four
// and the shortest bin header. n must fit 32 bits.
func AppendHeader(dst []byte, n int) []byte {
	switch {
	case n < 1<<8:
		return append(dst, 0x94, 0xc4, byte(n))
	case n < 1<<16:
		return append(dst, 0x94, 0xc5, byte(n>>8), byte(n))
	default:
		dst = append(dst, 0x94, 0xc6)
		return binary.BigEndian.AppendUint32(dst, uint32(n))
	}
}

// AppendTail appends what comes behind the block: the checksum as an array of
// eight integers, the payload's size and the label, each in its shortest form.
// The label's length must fit 32 bits.
func AppendTail(dst []byte, sum uint64, size uint32, format string) []byte {
	var b [32]byte
	b[0] = 0x98
	n := 1
	for i := range 8 {
		c := byte(sum >> (56 - 8*i))
		// The position is masked only to spare the bounds check.
		if c >= 0x80 {
			b[n&31] = 0xcc
			n++
		}
		b[n&31] = c
		n++
	}
	dst = append(dst, b[:n&31]...)
	switch {
	case size < 1<<7:
		dst = append(dst, byte(size))
	case size < 1<<8:
		dst = append(dst, 0xcc, byte(size))
	case size < 1<<16:
		dst = append(dst, 0xcd, byte(size>>8), byte(size))
	default:
		dst = append(dst, 0xce)
		dst = binary.BigEndian.AppendUint32(dst, size)
	}
	switch n := len(format); {
	case n < 1<<5:
		dst = append(dst, 0xa0|byte(n))
	case n < 1<<8:
		dst = append(dst, 0xd9, byte(n))
	case n < 1<<16:
		dst = append(dst, 0xda, byte(n>>8), byte(n))
	default:
		dst = append(dst, 0xdb)
		dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	}
	return append(dst, format...)
}
