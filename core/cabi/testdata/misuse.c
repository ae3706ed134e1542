/* Misuses every call in every way that a library can survive. What it cannot
 * survive is left out: wild pointers, capacities that are not true, and freeing
 * a buffer twice. */
#include "hooks.h"
#include "check.h"
#include <string.h>

enum { CAP = 256, KEY = 32 };

static uint8_t seen[17];
static uint8_t *out;
static size_t len;

/* is counts a code, and checks that a failed call left the output and its
 * length alone. */
static void is(CachekitError got, CachekitError want, int line)
{
    if (got != want) {
        fprintf(stderr, "misuse.c:%d: got %d, want %d\n", line, (int)got, (int)want);
        exit(1);
    }
    seen[got] = 1;
    for (size_t i = 0; got != CACHEKIT_OK && i < CAP; i++)
        CHECK(out[i] == 0xa5);
    CHECK(got == CACHEKIT_OK || got == CACHEKIT_BUFFER_TOO_SMALL || len == CAP);
    memset(out, 0xa5, CAP);
    len = CAP;
}
#define IS(call, want) is(call, want, __LINE__)

/* copy returns bytes in a block of exactly their size, so that memcheck sees
 * who reads past it. */
static uint8_t *copy(const void *bytes, size_t n)
{
    uint8_t *p = malloc(n);
    CHECK(p != NULL || n == 0);
    memcpy(p, bytes, n);
    return p;
}

static void compression(void)
{
    uint8_t *data = copy("hello, cachekit!", 16), *none = copy("", 0);
    uint8_t *env = copy("\x94\xc4\x12\xf0\x01hello, cachekit!\x98\x6d\xcc\x8a\x34\xcc\xb6\x3a\x3c\x52\xcc\xd3\x10\xa7msgpack", 42);
    IS(cachekit_compress(NULL, 0, out, &len), CACHEKIT_NULL_POINTER);
    IS(cachekit_compress(NULL, 16, out, &len), CACHEKIT_NULL_POINTER);
    IS(cachekit_compress(data, 16, NULL, &len), CACHEKIT_NULL_POINTER);
    IS(cachekit_compress(data, 16, out, NULL), CACHEKIT_NULL_POINTER);
    IS(cachekit_compress(data, ((size_t)512 << 20) + 1, out, &len), CACHEKIT_INPUT_TOO_LARGE);
    IS(cachekit_compress(data, SIZE_MAX, out, &len), CACHEKIT_INPUT_TOO_LARGE);
    len = 41;
    IS(cachekit_compress(data, 16, out, &len), CACHEKIT_BUFFER_TOO_SMALL);
    IS(cachekit_compress(none, 0, out, &len), CACHEKIT_OK);

    IS(cachekit_decompress(NULL, 0, out, &len), CACHEKIT_NULL_POINTER);
    IS(cachekit_decompress(env, 42, NULL, &len), CACHEKIT_NULL_POINTER);
    IS(cachekit_decompress(env, 42, out, NULL), CACHEKIT_NULL_POINTER);
    IS(cachekit_decompress(env, ((size_t)512 << 20) + 1, out, &len), CACHEKIT_INPUT_TOO_LARGE);
    IS(cachekit_decompress(env, SIZE_MAX, out, &len), CACHEKIT_INPUT_TOO_LARGE);
    IS(cachekit_decompress(none, 0, out, &len), CACHEKIT_INVALID_INPUT);
    for (size_t n = 0; n < 42; n++) {
        uint8_t *cut = copy(env, n);
        IS(cachekit_decompress(cut, n, out, &len), CACHEKIT_INVALID_INPUT);
        free(cut);
    }
    len = 15;
    IS(cachekit_decompress(env, 42, out, &len), CACHEKIT_BUFFER_TOO_SMALL);
    env[22] ^= 1;
    IS(cachekit_decompress(env, 42, out, &len), CACHEKIT_CHECKSUM_MISMATCH);
    env[22] ^= 1, env[33] = 17;
    IS(cachekit_decompress(env, 42, out, &len), CACHEKIT_SIZE_VALIDATION_FAILED);
    env[33] = 15;
    IS(cachekit_decompress(env, 42, out, &len), CACHEKIT_DECOMPRESSION_FAILED);
    uint8_t *bomb = copy("\x94\xc4\x00\x98\0\0\0\0\0\0\0\0\0\xa0", 14);
    IS(cachekit_decompress(bomb, 14, out, &len), CACHEKIT_DECOMPRESSION_BOMB);
    CHECK(cachekit_compressed_bound(0) == 136 && cachekit_compressed_bound(SIZE_MAX) == SIZE_MAX);
    free(bomb), free(data), free(none), free(env);
}

static void encryption(void)
{
    uint8_t *key = copy("0123456789abcdef0123456789abcdef", KEY), *none = copy("", 0), *ct = malloc(44);
    CHECK(ct != NULL);
    CachekitEncryptor *h = cachekit_encryptor_new(NULL), *freed = cachekit_encryptor_new(NULL);
    CHECK(h != NULL && freed != NULL && h != freed);
    cachekit_encryptor_free(freed);
    CachekitByteStorage *other = cachekit_byte_storage_new(NULL);
    CachekitEncryptor *bad[] = {NULL, freed, (CachekitEncryptor *)other, (CachekitEncryptor *)key,
                                (CachekitEncryptor *)UINTPTR_MAX, (CachekitEncryptor *)(void *)&bad};

    size_t ct_len = 44;
    IS(cachekit_encrypt(h, key, KEY, none, 0, key, 16, ct, &ct_len), CACHEKIT_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cachekit_encryptor_free(bad[i]);
        CHECK(cachekit_encryptor_get_counter(bad[i]) == 0);
        IS(cachekit_encrypt(bad[i], key, 16, none, 0, none, 0, out, &len), CACHEKIT_INVALID_HANDLE);
        IS(cachekit_encrypt(bad[i], NULL, KEY, none, 0, none, 0, out, &len), CACHEKIT_NULL_POINTER);
        IS(cachekit_decrypt(bad[i], key, 16, none, 0, ct, 44, out, &len), CACHEKIT_INVALID_HANDLE);
        IS(cachekit_decrypt(bad[i], key, KEY, none, 0, ct, 44, NULL, &len), CACHEKIT_NULL_POINTER);
    }
    CHECK(cachekit_encryptor_get_counter(h) == 1);

    IS(cachekit_encrypt(h, NULL, 0, none, 0, none, 0, out, &len), CACHEKIT_NULL_POINTER);
    IS(cachekit_encrypt(h, key, KEY, NULL, 0, none, 0, out, &len), CACHEKIT_NULL_POINTER);
    IS(cachekit_encrypt(h, key, KEY, none, 0, NULL, 0, out, &len), CACHEKIT_NULL_POINTER);
    IS(cachekit_encrypt(h, key, KEY, none, 0, none, 0, NULL, &len), CACHEKIT_NULL_POINTER);
    IS(cachekit_encrypt(h, key, KEY, none, 0, none, 0, out, NULL), CACHEKIT_NULL_POINTER);
    IS(cachekit_encrypt(h, key, 31, none, 0, none, 0, out, &len), CACHEKIT_INVALID_KEY_LENGTH);
    IS(cachekit_encrypt(h, key, SIZE_MAX, none, 0, none, 0, out, &len), CACHEKIT_INVALID_KEY_LENGTH);
    IS(cachekit_encrypt(h, key, KEY, none, 0, key, SIZE_MAX, out, &len), CACHEKIT_INVALID_INPUT);
    IS(cachekit_encrypt(h, key, KEY, key, SIZE_MAX, none, 0, out, &len), CACHEKIT_INVALID_INPUT);
    CHECK(cachekit_encryptor_get_counter(h) == 1);
    len = 27;
    IS(cachekit_encrypt(h, key, KEY, none, 0, none, 0, out, &len), CACHEKIT_BUFFER_TOO_SMALL);
    CHECK(cachekit_encryptor_get_counter(h) == 2);

    IS(cachekit_decrypt(h, NULL, 0, none, 0, ct, 44, out, &len), CACHEKIT_NULL_POINTER);
    IS(cachekit_decrypt(h, key, KEY, NULL, 0, ct, 44, out, &len), CACHEKIT_NULL_POINTER);
    IS(cachekit_decrypt(h, key, KEY, none, 0, NULL, 0, out, &len), CACHEKIT_NULL_POINTER);
    IS(cachekit_decrypt(h, key, KEY, none, 0, ct, 44, NULL, &len), CACHEKIT_NULL_POINTER);
    IS(cachekit_decrypt(h, key, KEY, none, 0, ct, 44, out, NULL), CACHEKIT_NULL_POINTER);
    IS(cachekit_decrypt(h, key, 33, none, 0, ct, 44, out, &len), CACHEKIT_INVALID_KEY_LENGTH);
    IS(cachekit_decrypt(h, key, KEY, none, 0, ct, 27, out, &len), CACHEKIT_INVALID_INPUT);
    IS(cachekit_decrypt(h, key, KEY, none, 0, ct, SIZE_MAX, out, &len), CACHEKIT_DECRYPTION_FAILED);
    IS(cachekit_decrypt(h, key, KEY, key, 1, ct, 44, out, &len), CACHEKIT_DECRYPTION_FAILED);
    for (size_t n = 28; n < 44; n++)
        IS(cachekit_decrypt(h, key, KEY, none, 0, ct, n, out, &len), CACHEKIT_DECRYPTION_FAILED);
    len = 15;
    IS(cachekit_decrypt(h, key, KEY, none, 0, ct, 44, out, &len), CACHEKIT_BUFFER_TOO_SMALL);
    IS(cachekit_decrypt(h, key, KEY, none, 0, ct, 44, out, &len), CACHEKIT_OK);

    cachekit_hook_skip(h, UINT64_C(1) << 31);
    IS(cachekit_encrypt(h, key, 0, none, 0, none, 0, out, &len), CACHEKIT_ROTATION_NEEDED);
    IS(cachekit_decrypt(h, key, KEY, none, 0, ct, 44, out, &len), CACHEKIT_OK);
    for (int i = 0; i < 3; i++) {
        cachekit_encryptor_free(h);
        IS(cachekit_encrypt(h, key, KEY, none, 0, none, 0, out, &len), CACHEKIT_INVALID_HANDLE);
    }
    /* No later handle is an old one. */
    for (int i = 0; i < 100; i++) {
        CachekitEncryptor *again = cachekit_encryptor_new(NULL);
        CHECK(again != h && again != freed);
        cachekit_encryptor_free(again);
    }
    CHECK(cachekit_encryptor_get_counter(h) == 0);
    cachekit_byte_storage_free(other);
    free(ct), free(none), free(key);
}

static void derivation(void)
{
    uint8_t *master = copy("0123456789abcdef", 16), *none = copy("", 0), *long_ = malloc(1025);
    CHECK(long_ != NULL);
    memset(long_, 'd', 1025);
    IS(cachekit_derive_key(NULL, 0, master, 1, master, 1, out), CACHEKIT_NULL_POINTER);
    IS(cachekit_derive_key(master, 16, NULL, 0, master, 1, out), CACHEKIT_NULL_POINTER);
    IS(cachekit_derive_key(master, 16, master, 1, NULL, 0, out), CACHEKIT_NULL_POINTER);
    IS(cachekit_derive_key(master, 16, master, 1, master, 1, NULL), CACHEKIT_NULL_POINTER);
    IS(cachekit_derive_key(master, 15, master, 1, master, 1, out), CACHEKIT_INVALID_KEY_LENGTH);
    IS(cachekit_derive_key(master, SIZE_MAX, master, 1, master, 1, out), CACHEKIT_INVALID_INPUT);
    IS(cachekit_derive_key(master, 16, master, SIZE_MAX, master, 1, out), CACHEKIT_INVALID_INPUT);
    IS(cachekit_derive_key(master, 16, master, 1, master, SIZE_MAX, out), CACHEKIT_INVALID_INPUT);
    IS(cachekit_derive_key(master, 16, none, 0, master, 1, out), CACHEKIT_INVALID_INPUT);
    IS(cachekit_derive_key(master, 16, master, 1, none, 0, out), CACHEKIT_INVALID_INPUT);
    IS(cachekit_derive_key(master, 16, master, 1, (const uint8_t *)"\xff", 1, out), CACHEKIT_INVALID_INPUT);
    IS(cachekit_derive_key(master, 16, master, 1, long_, 256, out), CACHEKIT_DOMAIN_TOO_LONG);
    IS(cachekit_derive_key(master, 16, long_, 1025, master, 1, out), CACHEKIT_SALT_TOO_LONG);
    free(long_), free(none), free(master);
}

static void storage(void)
{
    uint8_t *data = copy("hello", 5), *p = data;
    size_t n = 7;
    CHECK(cachekit_byte_storage_new("\xff") == NULL);
    CachekitByteStorage *s = cachekit_byte_storage_new(""), *freed = cachekit_byte_storage_new(NULL);
    CHECK(s != NULL && freed != NULL);
    cachekit_byte_storage_free(freed);
    CachekitEncryptor *other = cachekit_encryptor_new(NULL);
    CachekitByteStorage *bad[] = {NULL, freed, (CachekitByteStorage *)other, (CachekitByteStorage *)data,
                                  (CachekitByteStorage *)UINTPTR_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cachekit_byte_storage_free(bad[i]);
        IS(cachekit_byte_storage_store(bad[i], data, 5, NULL, &p, &n), CACHEKIT_INVALID_HANDLE);
        IS(cachekit_byte_storage_store(bad[i], NULL, 0, NULL, &p, &n), CACHEKIT_NULL_POINTER);
        IS(cachekit_byte_storage_retrieve(bad[i], data, 5, &p, &n), CACHEKIT_INVALID_HANDLE);
        IS(cachekit_byte_storage_retrieve(bad[i], data, 5, NULL, &n), CACHEKIT_NULL_POINTER);
    }
    IS(cachekit_byte_storage_store(s, NULL, 0, NULL, &p, &n), CACHEKIT_NULL_POINTER);
    IS(cachekit_byte_storage_store(s, data, 5, NULL, NULL, &n), CACHEKIT_NULL_POINTER);
    IS(cachekit_byte_storage_store(s, data, 5, NULL, &p, NULL), CACHEKIT_NULL_POINTER);
    IS(cachekit_byte_storage_store(s, data, SIZE_MAX, NULL, &p, &n), CACHEKIT_INPUT_TOO_LARGE);
    IS(cachekit_byte_storage_store(s, data, 5, "\xc3", &p, &n), CACHEKIT_INVALID_INPUT);
    IS(cachekit_byte_storage_retrieve(s, NULL, 0, &p, &n), CACHEKIT_NULL_POINTER);
    IS(cachekit_byte_storage_retrieve(s, data, 5, NULL, &n), CACHEKIT_NULL_POINTER);
    IS(cachekit_byte_storage_retrieve(s, data, 5, &p, NULL), CACHEKIT_NULL_POINTER);
    IS(cachekit_byte_storage_retrieve(s, data, SIZE_MAX, &p, &n), CACHEKIT_INPUT_TOO_LARGE);
    IS(cachekit_byte_storage_retrieve(s, data, 5, &p, &n), CACHEKIT_INVALID_INPUT);
    CHECK(p == data && n == 7);
    cachekit_byte_storage_free(s);
    cachekit_byte_storage_free(s);
    IS(cachekit_byte_storage_store(s, data, 5, NULL, &p, &n), CACHEKIT_INVALID_HANDLE);
    cachekit_free_buffer(NULL);
    cachekit_encryptor_free(other);
    free(data);
}

int main(void)
{
    out = malloc(CAP);
    CHECK(out != NULL);
    memset(out, 0xa5, CAP);
    len = CAP;
    compression();
    encryption();
    derivation();
    storage();
    free(out);
    for (int c = 0; c <= 16; c++)
        CHECK(seen[c] == (c != CACHEKIT_COUNTER_EXHAUSTED && c != CACHEKIT_RNG_FAILURE));
    puts("misuse: ok");
    return 0;
}
