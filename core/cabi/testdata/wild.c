/* Pointers into the first page: a fault inside Go is a panic, and each function
 * must turn its own into a code. Not for memcheck, which sees the faults. */
#include "cachekit.h"
#include "check.h"
#include <string.h>

int main(void)
{
    uint8_t *wild = (uint8_t *)(uintptr_t)64, buffer[256], key[32] = {0};
    uint8_t *out = NULL;
    char *text = (char *)wild;
    size_t n = 256, *wild_n = (size_t *)(void *)wild;
    CachekitEncryptor *h = cachekit_encryptor_new(NULL);
    CachekitByteStorage *s = cachekit_byte_storage_new(NULL);

    for (int i = 0; i < 3; i++) {
        CHECK(cachekit_compress(wild, 5, buffer, &n) == CACHEKIT_INVALID_INPUT);
        CHECK(cachekit_compress(key, 5, wild, &n) == CACHEKIT_INVALID_INPUT);
        CHECK(cachekit_compress(key, 5, buffer, wild_n) == CACHEKIT_INVALID_INPUT);
        CHECK(cachekit_decompress(wild, 42, buffer, &n) == CACHEKIT_DECOMPRESSION_FAILED);
        CHECK(cachekit_encryptor_new((CachekitError *)(void *)wild) == NULL);
        CHECK(cachekit_encrypt(h, wild, 32, key, 1, key, 1, buffer, &n) == CACHEKIT_INVALID_INPUT);
        CHECK(cachekit_encrypt(h, key, 32, wild, 1, key, 1, buffer, &n) == CACHEKIT_INVALID_INPUT);
        CHECK(cachekit_encrypt(h, key, 32, key, 1, wild, 1, buffer, &n) == CACHEKIT_INVALID_INPUT);
        CHECK(cachekit_encrypt(h, key, 32, key, 1, key, 1, wild, &n) == CACHEKIT_INVALID_INPUT);
        CHECK(cachekit_decrypt(h, wild, 32, key, 1, buffer, 32, buffer, &n) == CACHEKIT_DECRYPTION_FAILED);
        CHECK(cachekit_decrypt(h, key, 32, key, 1, wild, 32, buffer, &n) == CACHEKIT_DECRYPTION_FAILED);
        CHECK(cachekit_derive_key(wild, 16, key, 1, (const uint8_t *)"d", 1, buffer) == CACHEKIT_INVALID_INPUT);
        CHECK(cachekit_derive_key(key, 16, key, 1, wild, 1, buffer) == CACHEKIT_INVALID_INPUT);
        CHECK(cachekit_derive_key(key, 16, key, 1, (const uint8_t *)"d", 1, wild) == CACHEKIT_INVALID_INPUT);
        CHECK(cachekit_byte_storage_new(text) == NULL);
        CHECK(cachekit_byte_storage_store(s, wild, 5, NULL, &out, &n) == CACHEKIT_INVALID_INPUT);
        CHECK(cachekit_byte_storage_store(s, key, 5, text, &out, &n) == CACHEKIT_INVALID_INPUT);
        CHECK(cachekit_byte_storage_retrieve(s, wild, 42, &out, &n) == CACHEKIT_DECOMPRESSION_FAILED);
    }
    CHECK(n == 256 && out == NULL);

    /* The library works on: no lock is held, no handle is lost. */
    CHECK(cachekit_encrypt(h, key, 32, key, 1, key, 32, buffer, &n) == CACHEKIT_OK && n == 60);
    CHECK(cachekit_byte_storage_store(s, key, 5, NULL, &out, &n) == CACHEKIT_OK);
    cachekit_free_buffer(out);
    cachekit_byte_storage_free(s);
    cachekit_encryptor_free(h);
    puts("wild: ok");
    return 0;
}
