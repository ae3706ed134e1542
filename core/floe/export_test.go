package floe

// UncheckedParams returns parameters that NewParams refuses: the upstream
// vectors have segments of 40 bytes, and keys that change every few segments.
func UncheckedParams(segmentLen uint32, rotationBits uint8) Params {
	return Params{segmentLen: segmentLen, rotation: rotationBits}
}
