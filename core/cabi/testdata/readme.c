/* The set of the README: new, store, retrieve, free. */
#include "cachekit.h"
#include "check.h"
#include <string.h>

int main(void)
{
    const char *payload = "hello, cachekit! hello, cachekit! hello, cachekit! hello, cachekit!";
    size_t len = strlen(payload);

    CachekitByteStorage *storage = cachekit_byte_storage_new(NULL);
    CHECK(storage != NULL);

    uint8_t *envelope = NULL, *data = NULL;
    size_t envelope_len = 0, data_len = 0;
    CHECK(cachekit_byte_storage_store(storage, (const uint8_t *)payload, len, NULL, &envelope, &envelope_len) == CACHEKIT_OK);
    CHECK(memcmp(envelope + envelope_len - 8, "\xa7msgpack", 8) == 0);
    CHECK(cachekit_byte_storage_retrieve(storage, envelope, envelope_len, &data, &data_len) == CACHEKIT_OK);
    CHECK(data_len == len && memcmp(data, payload, len) == 0);
    cachekit_free_buffer(data);
    cachekit_free_buffer(envelope);

    /* A label of the call's, one of the storage's, an empty one; no payload. */
    CachekitByteStorage *json = cachekit_byte_storage_new("json");
    CHECK(json != NULL && json != storage);
    CHECK(cachekit_byte_storage_store(json, (const uint8_t *)payload, 0, NULL, &envelope, &envelope_len) == CACHEKIT_OK);
    CHECK(memcmp(envelope + envelope_len - 5, "\xa4json", 5) == 0);
    CHECK(cachekit_byte_storage_retrieve(storage, envelope, envelope_len, &data, &data_len) == CACHEKIT_OK);
    CHECK(data != NULL && data_len == 0);
    cachekit_free_buffer(data);
    cachekit_free_buffer(envelope);
    CHECK(cachekit_byte_storage_store(json, (const uint8_t *)payload, len, "caf\xc3\xa9", &envelope, &envelope_len) == CACHEKIT_OK);
    CHECK(memcmp(envelope + envelope_len - 6, "\xa5" "caf\xc3\xa9", 6) == 0);
    cachekit_free_buffer(envelope);
    CHECK(cachekit_byte_storage_store(json, (const uint8_t *)payload, len, "", &envelope, &envelope_len) == CACHEKIT_OK);
    CHECK(envelope[envelope_len - 1] == 0xa0);
    cachekit_free_buffer(envelope);
    cachekit_free_buffer(NULL);

    cachekit_byte_storage_free(json);
    cachekit_byte_storage_free(storage);
    puts("readme: ok");
    return 0;
}
