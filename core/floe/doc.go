// Package floe encrypts data of any size, also such as does not fit in memory,
// so that every part can be read and checked by itself. The format is FLOE
// (Fast Lightweight Online Encryption, c2sp.org/FLOE) with AES-256-GCM and
// HKDF-SHA-384; messages are those of its other implementations, byte for byte.
//
// A message is a header and segments of equal length, the last one excepted:
//
//	header   params (10) || IV (32) || header tag (32)
//	params   00 00 || u32be(segment length) || u32be(32)
//	segment  ff ff ff ff || nonce (12) || ciphertext || tag (16)
//	final    u32be(its length) || nonce (12) || ciphertext || tag (16)
//
// The header tag binds the key, the parameters and the additional data (AAD).
// Each segment is bound to its position and to whether it is the last, so that
// segments cannot be swapped, repeated, left out or taken from another message,
// and no message can be cut short without notice. The AAD is not in the
// message; who opens it must know it.
//
// # Which call
//
//	whole messages   Seal, Open             one slice in, one slice out
//	streams          EncryptReader          plaintext in, message out
//	                 EncryptWriter          the same for who writes
//	                 DecryptReader          message in, plaintext out
//	random access    ReaderAt               an io.ReaderAt over the plaintext
//	segments         Encryptor, Decryptor   one by one, in order
//	                 package lowlevel       in any order, by many goroutines
//
// All but the last make it impossible to use a position twice or to forget the
// end. [Options] has several goroutines for one message, requires parameters,
// or takes another AES.
//
// # What a reader may believe
//
// Every byte that a stream or a ReaderAt gives is authentic: it was sealed with
// this key for this message and this place in it. That the message is complete
// is known to Open and ReaderAt from the start, but to a stream only at its
// end, which is [io.EOF] and nothing else. Who must have all or nothing holds
// the output back until then.
//
// The parameters of a header decide how long segments are, and anyone can write
// a header. Set [Options].Require where messages come from strangers.
//
// # Conventions
//
// Functions that append take dst first and return the extended slice; on error
// they return dst as it was. Inputs are not kept, and AAD is copied where it is
// needed longer. Package functions, [Key] and [ReaderAt] are safe for concurrent
// use; all that has a place in a message is not. Errors are told apart with
// [errors.Is]. No error holds a byte of a key or a plaintext.
//
// # Secrets in memory
//
// Message keys and segment keys are wiped when a message ends or is closed, and
// so are buffers with plaintext. The key schedules inside the standard library
// cannot be overwritten from outside.
package floe
