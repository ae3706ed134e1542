/* cachekit: the C interface of github.com/cachekit-go/cachekit/core.
 *
 * Two sets of functions, which may be mixed: those that the Rust library
 * cachekit-core 0.7 exports, where the caller has the buffers, and those of its
 * README (byte storage), where buffers come from malloc.
 *
 * Pointers. A NULL that a comment does not allow gives CACHEKIT_NULL_POINTER,
 * also with length 0: pass any other pointer for what is empty. Lengths are in
 * bytes. Inputs are read to their end before an output is written, so the two
 * may overlap. An output is written only if the call returns CACHEKIT_OK.
 *
 * output_len holds the capacity before a call; after CACHEKIT_OK the length,
 * after CACHEKIT_BUFFER_TOO_SMALL the length that is needed, and otherwise what
 * it held. To ask for a length, pass capacity 0 and an output that is not NULL.
 *
 * Handles are numbers and not addresses: do not dereference them. None is given
 * out twice, so one that was freed stays invalid, and using or freeing it again
 * is harmless. A handle may be used by many threads at once, and freed while
 * others use it: their calls finish.
 *
 * The Go runtime is inside. It starts threads and installs signal handlers when
 * the library is loaded, ends the process if it cannot get memory, and does not
 * survive in a child of fork, which must exec.
 */
#ifndef CACHEKIT_H
#define CACHEKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a domain and of a tenant salt; old keys in a ring. */
#define CACHEKIT_MAX_DOMAIN_LENGTH 255
#define CACHEKIT_MAX_TENANT_SALT_LENGTH 1024
#define CACHEKIT_MAX_DECRYPT_ONLY_KEYS 3

typedef enum CachekitError {
    CACHEKIT_OK = 0,
    CACHEKIT_INVALID_INPUT = 1,        /* not an envelope, bad domain, empty salt, short ciphertext */
    CACHEKIT_CHECKSUM_MISMATCH = 2,    /* the payload is not the stored one */
    CACHEKIT_DECOMPRESSION_FAILED = 3, /* the block is malformed */
    CACHEKIT_DECRYPTION_FAILED = 4,    /* wrong key or additional data, or tampering */
    CACHEKIT_ROTATION_NEEDED = 5,      /* 2^31 nonces are spent: make a new encryptor */
    CACHEKIT_COUNTER_EXHAUSTED = 6,    /* not returned: 5 comes first */
    CACHEKIT_INVALID_KEY_LENGTH = 7,   /* key not of 32 bytes, master key under 16 */
    CACHEKIT_BUFFER_TOO_SMALL = 8,     /* output_len has the length that is needed */
    CACHEKIT_NULL_POINTER = 9,
    CACHEKIT_INPUT_TOO_LARGE = 10,     /* over 512 MiB */
    CACHEKIT_DECOMPRESSION_BOMB = 11,  /* empty block, or over 1000 times its size */
    CACHEKIT_SIZE_VALIDATION_FAILED = 12,
    CACHEKIT_RNG_FAILURE = 13,         /* not returned: without randomness the process ends */
    CACHEKIT_DOMAIN_TOO_LONG = 14,
    CACHEKIT_SALT_TOO_LONG = 15,
    CACHEKIT_INVALID_HANDLE = 16       /* NULL, freed, or never given out */
} CachekitError;

typedef struct CachekitEncryptor CachekitEncryptor;
typedef struct CachekitByteStorage CachekitByteStorage;

/* Compresses input into an envelope with the label "msgpack". Returns OK,
 * NULL_POINTER, INPUT_TOO_LARGE or BUFFER_TOO_SMALL. cachekit_compressed_bound
 * tells a capacity that suffices. */
CachekitError cachekit_compress(const uint8_t *input, size_t input_len, uint8_t *output, size_t *output_len);

/* Checks an envelope and decompresses its payload. Its label is not given out,
 * and bytes behind the envelope are ignored. Returns OK, NULL_POINTER,
 * INPUT_TOO_LARGE, INVALID_INPUT, DECOMPRESSION_BOMB, DECOMPRESSION_FAILED,
 * CHECKSUM_MISMATCH, SIZE_VALIDATION_FAILED or BUFFER_TOO_SMALL. */
CachekitError cachekit_decompress(const uint8_t *input, size_t input_len, uint8_t *output, size_t *output_len);

/* Returns input_len + input_len/255 + 136, or SIZE_MAX if that is more. */
size_t cachekit_compressed_bound(size_t input_len);

/* Makes an encryptor: a source of nonces, without a key. error_out may be NULL;
 * it is set to OK, or to the reason for which NULL is returned. */
CachekitEncryptor *cachekit_encryptor_new(CachekitError *error_out);

/* Frees an encryptor. What is no live handle is ignored. */
void cachekit_encryptor_free(CachekitEncryptor *handle);

/* Returns the number of nonces spent, or 0 for what is no live handle. */
uint64_t cachekit_encryptor_get_counter(const CachekitEncryptor *handle);

/* Encrypts by AES-256-GCM under a nonce that no other call uses. The output is
 * 28 bytes longer than the plaintext. From 2^31 nonces on the handle gives
 * ROTATION_NEEDED for good; another one with the same key goes on. Returns OK,
 * NULL_POINTER, INVALID_HANDLE, ROTATION_NEEDED, INVALID_KEY_LENGTH,
 * INVALID_INPUT or BUFFER_TOO_SMALL, for which a nonce is spent too. */
CachekitError cachekit_encrypt(CachekitEncryptor *handle, const uint8_t *key, size_t key_len, const uint8_t *aad,
                               size_t aad_len, const uint8_t *plaintext, size_t plaintext_len, uint8_t *output,
                               size_t *output_len);

/* Decrypts what any encryptor with this key made from the same additional data.
 * Returns OK, NULL_POINTER, INVALID_HANDLE, INVALID_KEY_LENGTH, INVALID_INPUT,
 * DECRYPTION_FAILED or BUFFER_TOO_SMALL. */
CachekitError cachekit_decrypt(const CachekitEncryptor *handle, const uint8_t *key, size_t key_len, const uint8_t *aad,
                               size_t aad_len, const uint8_t *ciphertext, size_t ciphertext_len, uint8_t *output,
                               size_t *output_len);

/* Derives the 32 bytes of the key of a domain, which is UTF-8, and a tenant.
 * Returns OK, NULL_POINTER, INVALID_INPUT, INVALID_KEY_LENGTH, DOMAIN_TOO_LONG
 * or SALT_TOO_LONG. */
CachekitError cachekit_derive_key(const uint8_t *master, size_t master_len, const uint8_t *salt, size_t salt_len,
                                  const uint8_t *domain, size_t domain_len, uint8_t *out_key);

/* Makes a byte storage. default_format is the label of what is stored without
 * one, UTF-8 that ends with a zero byte; NULL means "msgpack". Returns NULL if
 * it is not UTF-8. */
CachekitByteStorage *cachekit_byte_storage_new(const char *default_format);

/* Stores data under a label, or under the storage's own if format is NULL, and
 * sets *out and *out_len to an envelope, which cachekit_free_buffer frees. On
 * errors both are left alone. Returns OK, NULL_POINTER, INVALID_HANDLE,
 * INPUT_TOO_LARGE, also if there is no memory, or INVALID_INPUT if format is not
 * UTF-8. */
CachekitError cachekit_byte_storage_store(CachekitByteStorage *handle, const uint8_t *data, size_t len,
                                          const char *format, uint8_t **out, size_t *out_len);

/* Retrieves a payload into a buffer that cachekit_free_buffer frees. An empty
 * payload has a buffer too. The errors are those of cachekit_decompress, but
 * for BUFFER_TOO_SMALL, and INVALID_HANDLE. */
CachekitError cachekit_byte_storage_retrieve(CachekitByteStorage *handle, const uint8_t *envelope, size_t len,
                                             uint8_t **out, size_t *out_len);

/* Frees a byte storage, but not the buffers that it made. What is no live
 * handle is ignored. */
void cachekit_byte_storage_free(CachekitByteStorage *handle);

/* Frees a buffer that store or retrieve made, once. NULL is ignored. */
void cachekit_free_buffer(uint8_t *buffer);

#ifdef __cplusplus
}
#endif

/* The names that the Rust library's header has: constants without a prefix, and
 * types with one more. */
#ifdef CACHEKIT_UNPREFIXED
typedef CachekitError CACHEKIT_CachekitError;
typedef CachekitEncryptor CACHEKIT_CachekitEncryptor;
typedef CachekitByteStorage CACHEKIT_ByteStorage;
#define OK CACHEKIT_OK
#define INVALID_INPUT CACHEKIT_INVALID_INPUT
#define CHECKSUM_MISMATCH CACHEKIT_CHECKSUM_MISMATCH
#define DECOMPRESSION_FAILED CACHEKIT_DECOMPRESSION_FAILED
#define DECRYPTION_FAILED CACHEKIT_DECRYPTION_FAILED
#define ROTATION_NEEDED CACHEKIT_ROTATION_NEEDED
#define COUNTER_EXHAUSTED CACHEKIT_COUNTER_EXHAUSTED
#define INVALID_KEY_LENGTH CACHEKIT_INVALID_KEY_LENGTH
#define BUFFER_TOO_SMALL CACHEKIT_BUFFER_TOO_SMALL
#define NULL_POINTER CACHEKIT_NULL_POINTER
#define INPUT_TOO_LARGE CACHEKIT_INPUT_TOO_LARGE
#define DECOMPRESSION_BOMB CACHEKIT_DECOMPRESSION_BOMB
#define SIZE_VALIDATION_FAILED CACHEKIT_SIZE_VALIDATION_FAILED
#define RNG_FAILURE CACHEKIT_RNG_FAILURE
#define DOMAIN_TOO_LONG CACHEKIT_DOMAIN_TOO_LONG
#define SALT_TOO_LONG CACHEKIT_SALT_TOO_LONG
#define INVALID_HANDLE CACHEKIT_INVALID_HANDLE
#endif

#endif
