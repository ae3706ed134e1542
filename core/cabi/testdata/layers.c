/* Derives a key, compresses, encrypts, decrypts and decompresses: all that the
 * set of the Rust library does. */
#include "cachekit.h"
#include "check.h"
#include <string.h>

int main(void)
{
    uint8_t master[32], key[32], other[32];
    memset(master, 0x42, sizeof master);
    const char *tenant = "tenant-123", *domain = "encryption", *aad = "where it belongs";
    CHECK(cachekit_derive_key(master, sizeof master, (const uint8_t *)tenant, strlen(tenant), (const uint8_t *)domain,
                              strlen(domain), key) == CACHEKIT_OK);
    CHECK(memcmp(key, "\x00\xe4\xa5\xf5\x2d\x10\x1e\xb9\x9a\x4f\xe9\x24\xa2\x15\xe2\xb1"
                      "\x25\x24\xf7\x3c\x4f\xa1\x7e\xff\x40\xe2\x43\xda\x39\xca\x3e\x42", 32) == 0);

    size_t len = 100000;
    uint8_t *payload = malloc(len);
    CHECK(payload != NULL);
    for (size_t i = 0; i < len; i++)
        payload[i] = (uint8_t)(i * i >> 7);

    size_t envelope_len = cachekit_compressed_bound(len);
    uint8_t *envelope = malloc(envelope_len);
    CHECK(envelope != NULL && cachekit_compress(payload, len, envelope, &envelope_len) == CACHEKIT_OK);

    CachekitError err = CACHEKIT_INVALID_INPUT;
    CachekitEncryptor *encryptor = cachekit_encryptor_new(&err);
    CHECK(encryptor != NULL && err == CACHEKIT_OK && cachekit_encryptor_get_counter(encryptor) == 0);
    size_t sealed_len = envelope_len + 28;
    uint8_t *sealed = malloc(sealed_len);
    CHECK(sealed != NULL && cachekit_encrypt(encryptor, key, 32, (const uint8_t *)aad, strlen(aad), envelope, envelope_len,
                                             sealed, &sealed_len) == CACHEKIT_OK);
    CHECK(sealed_len == envelope_len + 28 && cachekit_encryptor_get_counter(encryptor) == 1);

    /* Another encryptor opens it, in place. */
    CachekitEncryptor *reader = cachekit_encryptor_new(NULL);
    size_t opened_len = sealed_len;
    CHECK(cachekit_decrypt(reader, key, 32, (const uint8_t *)aad, strlen(aad), sealed, sealed_len, sealed,
                           &opened_len) == CACHEKIT_OK);
    CHECK(opened_len == envelope_len && memcmp(sealed, envelope, envelope_len) == 0);

    size_t data_len = 0;
    uint8_t *data = malloc(len);
    CHECK(data != NULL && cachekit_decompress(sealed, opened_len, data, &data_len) == CACHEKIT_BUFFER_TOO_SMALL && data_len == len);
    CHECK(cachekit_decompress(sealed, opened_len, data, &data_len) == CACHEKIT_OK);
    CHECK(data_len == len && memcmp(data, payload, len) == 0);

    CHECK(cachekit_derive_key(key, 32, (const uint8_t *)tenant, strlen(tenant), (const uint8_t *)domain, strlen(domain),
                              other) == CACHEKIT_OK);
    CHECK(memcmp(key, other, 32) != 0);

    cachekit_encryptor_free(reader);
    cachekit_encryptor_free(encryptor);
    free(data);
    free(sealed);
    free(envelope);
    free(payload);
    puts("layers: ok");
    return 0;
}
