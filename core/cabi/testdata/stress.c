/* Many threads on one encryptor and one storage, while others make and free
 * handles and free the ones in use. */
#define _POSIX_C_SOURCE 200809L
#include "cachekit.h"
#include "check.h"
#include <pthread.h>
#include <string.h>

enum { THREADS = 16, MAX = 4000 };

static int rounds;
static CachekitEncryptor *one, *doomed;
static CachekitByteStorage *storage;
static uint8_t key[32], nonces[THREADS * MAX][12];

static void *work(void *arg)
{
    size_t t = (size_t)arg;
    uint8_t plaintext[100], ct[128], back[100];
    for (int i = 0; i < rounds; i++) {
        memset(plaintext, (int)(t + (size_t)i), sizeof plaintext);
        size_t n = sizeof ct, m = sizeof back;
        CHECK(cachekit_encrypt(one, key, 32, key, 5, plaintext, 100, ct, &n) == CACHEKIT_OK && n == 128);
        memcpy(nonces[t * (size_t)rounds + (size_t)i], ct, 12);
        CHECK(cachekit_decrypt(one, key, 32, key, 5, ct, n, back, &m) == CACHEKIT_OK);
        CHECK(m == 100 && memcmp(back, plaintext, m) == 0);

        uint8_t *env = NULL, *data = NULL;
        CHECK(cachekit_byte_storage_store(storage, plaintext, 100, NULL, &env, &n) == CACHEKIT_OK);
        CHECK(cachekit_byte_storage_retrieve(storage, env, n, &data, &m) == CACHEKIT_OK);
        CHECK(m == 100 && memcmp(data, plaintext, m) == 0);
        cachekit_free_buffer(env);
        cachekit_free_buffer(data);

        /* Either the call comes before the free, or it says so. */
        n = sizeof ct;
        CachekitError err = cachekit_encrypt(doomed, key, 32, key, 5, plaintext, 100, ct, &n);
        CHECK(err == CACHEKIT_OK || err == CACHEKIT_INVALID_HANDLE);
        if (i == rounds / 2)
            cachekit_encryptor_free(doomed);
        CachekitEncryptor *own = cachekit_encryptor_new(&err);
        CHECK(own != NULL && err == CACHEKIT_OK && own != one && own != doomed);
        cachekit_encryptor_free(own);
        CHECK(cachekit_encryptor_get_counter(own) == 0);
    }
    return NULL;
}

static int order(const void *a, const void *b) { return memcmp(a, b, 12); }

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    rounds = atoi(argv[1]);
    CHECK(rounds > 0 && rounds <= MAX);
    one = cachekit_encryptor_new(NULL);
    doomed = cachekit_encryptor_new(NULL);
    storage = cachekit_byte_storage_new(NULL);
    pthread_t threads[THREADS];
    for (size_t t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, work, (void *)t) == 0);
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_join(threads[t], NULL) == 0);

    size_t calls = (size_t)rounds * THREADS;
    CHECK(cachekit_encryptor_get_counter(one) == calls);
    CHECK(cachekit_encryptor_get_counter(doomed) == 0);
    qsort(nonces, calls, 12, order);
    for (size_t i = 1; i < calls; i++)
        CHECK(memcmp(nonces[i - 1], nonces[i], 12) != 0);
    cachekit_encryptor_free(one);
    cachekit_byte_storage_free(storage);
    puts("stress: ok");
    return 0;
}
