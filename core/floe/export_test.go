package floe

// UncheckedParams returns parameters that NewParams refuses: the upstream
// vectors have segments of 40 bytes, and keys that change every few segments.
func UncheckedParams(segmentLen uint32, rotationBits uint8) Params {
	return Params{segmentLen: segmentLen, rotation: rotationBits}
}

// SetPosition moves an encryptor on, to test its end.
func (e *Encryptor) SetPosition(n uint64) { e.next = n }

// SetPosition moves a decryptor on.
func (d *Decryptor) SetPosition(n uint64) { d.next = n }

// SetPosition moves a writer on.
func (e *EncryptWriter) SetPosition(n uint64) { e.ring.next = n }
