// Package lz4block owns the LZ4 block format: a checked decoder of the rules
// that cachekit reads by, and an encoder. Blocks only; there are no frames,
// dictionaries or size prefixes.
package lz4block

const minMatch = 4 // bytes of the shortest match
