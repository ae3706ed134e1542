package main

/*
#cgo CFLAGS: -I${SRCDIR}/include
#include <stdlib.h>
#include "cachekit.h"

// cgo forgets a const that is not in a typedef. With these the signatures that
// it writes are the header's own, and the C compiler refuses any difference.
typedef const uint8_t cachekit_bytes;
typedef const char cachekit_text;
typedef const CachekitEncryptor cachekit_encryptor;

// C.malloc ends the process where malloc returns NULL.
static void *cachekit_malloc(size_t n) { return malloc(n); }
*/
import "C"

import "unsafe"

// in returns what C passed as an address and a length.
func in(p *C.cachekit_bytes, n C.size_t) span {
	return span{(*byte)(unsafe.Pointer(p)), uintptr(n)}
}

// into returns where C wants a result.
func into(p *C.uint8_t, n *C.size_t) buffer {
	return buffer{(*byte)(unsafe.Pointer(p)), (*uintptr)(unsafe.Pointer(n))}
}

// A handle is a number in the shape of a pointer to an incomplete C type, which
// the garbage collector does not follow. Conversions through unsafe.Pointer
// would make it one that it does, and numbers that look like addresses are
// fatal then; reading the variable in its other shape does not.

func encryptorOf(h *C.CachekitEncryptor) uintptr { return *(*uintptr)(unsafe.Pointer(&h)) }
func storageOf(h *C.CachekitByteStorage) uintptr { return *(*uintptr)(unsafe.Pointer(&h)) }

// allocate returns n bytes of C's heap, or nil.
func allocate(n uintptr) *byte { return (*byte)(C.cachekit_malloc(C.size_t(n))) }

//export cachekit_compress
func cachekit_compress(input *C.cachekit_bytes, n C.size_t, output *C.uint8_t, outputLen *C.size_t) C.CachekitError {
	return C.CachekitError(compress(in(input, n), into(output, outputLen)))
}

//export cachekit_decompress
func cachekit_decompress(input *C.cachekit_bytes, n C.size_t, output *C.uint8_t, outputLen *C.size_t) C.CachekitError {
	return C.CachekitError(decompress(in(input, n), into(output, outputLen)))
}

//export cachekit_compressed_bound
func cachekit_compressed_bound(n C.size_t) C.size_t {
	return C.size_t(compressedBound(uintptr(n)))
}

//export cachekit_encryptor_new
func cachekit_encryptor_new(result *C.CachekitError) *C.CachekitEncryptor {
	h := newEncryptor((*code)(unsafe.Pointer(result)))
	return *(**C.CachekitEncryptor)(unsafe.Pointer(&h))
}

//export cachekit_encryptor_free
func cachekit_encryptor_free(h *C.CachekitEncryptor) {
	encryptors.free(encryptorOf(h))
}

//export cachekit_encryptor_get_counter
func cachekit_encryptor_get_counter(h *C.cachekit_encryptor) C.uint64_t {
	return C.uint64_t(counter(encryptorOf((*C.CachekitEncryptor)(h))))
}

//export cachekit_encrypt
func cachekit_encrypt(h *C.CachekitEncryptor, key *C.cachekit_bytes, keyLen C.size_t, aad *C.cachekit_bytes, aadLen C.size_t, plaintext *C.cachekit_bytes, plaintextLen C.size_t, output *C.uint8_t, outputLen *C.size_t) C.CachekitError {
	return C.CachekitError(encrypt(encryptorOf(h), in(key, keyLen), in(aad, aadLen), in(plaintext, plaintextLen), into(output, outputLen)))
}

//export cachekit_decrypt
func cachekit_decrypt(h *C.cachekit_encryptor, key *C.cachekit_bytes, keyLen C.size_t, aad *C.cachekit_bytes, aadLen C.size_t, ciphertext *C.cachekit_bytes, ciphertextLen C.size_t, output *C.uint8_t, outputLen *C.size_t) C.CachekitError {
	return C.CachekitError(decrypt(encryptorOf((*C.CachekitEncryptor)(h)), in(key, keyLen), in(aad, aadLen), in(ciphertext, ciphertextLen), into(output, outputLen)))
}

//export cachekit_derive_key
func cachekit_derive_key(master *C.cachekit_bytes, masterLen C.size_t, salt *C.cachekit_bytes, saltLen C.size_t, domain *C.cachekit_bytes, domainLen C.size_t, outKey *C.uint8_t) C.CachekitError {
	return C.CachekitError(deriveKey(in(master, masterLen), in(salt, saltLen), in(domain, domainLen), (*byte)(unsafe.Pointer(outKey))))
}

//export cachekit_byte_storage_new
func cachekit_byte_storage_new(format *C.cachekit_text) *C.CachekitByteStorage {
	h := newStorage((*byte)(unsafe.Pointer(format)))
	return *(**C.CachekitByteStorage)(unsafe.Pointer(&h))
}

//export cachekit_byte_storage_store
func cachekit_byte_storage_store(h *C.CachekitByteStorage, data *C.cachekit_bytes, n C.size_t, format *C.cachekit_text, out **C.uint8_t, outLen *C.size_t) C.CachekitError {
	return C.CachekitError(store(storageOf(h), in(data, n), (*byte)(unsafe.Pointer(format)), (**byte)(unsafe.Pointer(out)), (*uintptr)(unsafe.Pointer(outLen)), allocate))
}

//export cachekit_byte_storage_retrieve
func cachekit_byte_storage_retrieve(h *C.CachekitByteStorage, envelope *C.cachekit_bytes, n C.size_t, out **C.uint8_t, outLen *C.size_t) C.CachekitError {
	return C.CachekitError(retrieve(storageOf(h), in(envelope, n), (**byte)(unsafe.Pointer(out)), (*uintptr)(unsafe.Pointer(outLen)), allocate))
}

//export cachekit_byte_storage_free
func cachekit_byte_storage_free(h *C.CachekitByteStorage) { storages.free(storageOf(h)) }

//export cachekit_free_buffer
func cachekit_free_buffer(p *C.uint8_t) { C.free(unsafe.Pointer(p)) }
