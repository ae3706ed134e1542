/* Reads calls from stdin, one a line, and answers with what they did, one a
 * line. The tests drive the recorded rows and the fuzzer through it.
 *
 * Words: BYTES are hex, "=" for none or "-" for NULL, and may be followed by
 * "/n" for a length that is not theirs; each is a block of exactly its size. OUT
 * is a capacity, with "-" before it if the output is NULL and "!" if output_len
 * is. HANDLE is "e" or "s" with the number of the encryptor or storage, in the
 * order made, or "x" with the handle's own value in hex.
 */
#include "hooks.h"
#include "check.h"
#include <inttypes.h>
#include <string.h>

enum { WORDS = 8, HANDLES = 64 };

static void *handles[2][HANDLES];
static int made[2];

/* What the words of a line hold until its call is over. */
static uint8_t *held[WORDS + 1];
static int holding;

typedef struct { uint8_t *p; size_t n; } bytes;
typedef struct { uint8_t *p, *real; size_t cap, n, *np; } output;

static uint8_t *hold(size_t n)
{
    uint8_t *p = malloc(n);
    CHECK(p != NULL || n == 0);
    CHECK(holding <= WORDS);
    return held[holding++] = p;
}

static int nibble(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static bytes take(char *word)
{
    bytes b = {NULL, 0};
    char *slash = strchr(word, '/');
    if (slash != NULL)
        *slash++ = 0;
    if (*word != '-') {
        b.n = *word == '=' ? 0 : strlen(word) / 2;
        b.p = hold(b.n);
        for (size_t i = 0; i < b.n; i++)
            b.p[i] = (uint8_t)(nibble(word[2 * i]) << 4 | nibble(word[2 * i + 1]));
    }
    if (slash != NULL)
        b.n = strtoull(slash, NULL, 10);
    return b;
}

/* text is take for a string. */
static char *text(char *word)
{
    bytes b = take(word);
    if (b.p == NULL)
        return NULL;
    char *s = (char *)hold(b.n + 1);
    memcpy(s, b.p, b.n);
    s[b.n] = 0;
    return s;
}

static output *room(char *word)
{
    static output o;
    int no_p = *word == '-', no_n = *word == '!';
    o.cap = o.n = strtoull(word + (no_p || no_n), NULL, 10);
    o.real = hold(o.cap);
    memset(o.real, 0xa5, o.cap);
    o.p = no_p ? NULL : o.real;
    o.np = no_n ? NULL : &o.n;
    return &o;
}

static void *handle(const char *word)
{
    if (*word == 'x')
        return (void *)(uintptr_t)strtoull(word + 1, NULL, 16);
    int i = atoi(word + 1);
    CHECK(i >= 0 && i < made[*word == 's']);
    return handles[*word == 's'][i];
}

static void keep(int kind, void *h)
{
    CHECK(made[kind] < HANDLES);
    handles[kind][made[kind]++] = h;
}

static void hex(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%02x", p[i]);
}

static void answer(CachekitError code, output *o)
{
    size_t touched = 0; /* bytes up to the last that was written */
    for (size_t i = 0; i < o->cap; i++)
        if (o->real[i] != 0xa5)
            touched = i + 1;
    printf("code=%d len=%zu touched=%zu out=", (int)code, o->n, touched);
    if (code == CACHEKIT_OK)
        hex(o->real, o->n);
    puts("");
}

/* give answers with a buffer of the library's and frees it. */
static void give(CachekitError code, uint8_t *p, size_t n)
{
    printf("code=%d len=%zu touched=%zu out=", (int)code, n, p != NULL ? n : 0);
    if (code == CACHEKIT_OK)
        hex(p, n);
    puts("");
    cachekit_free_buffer(p);
}

static void run(int n, char **w)
{
    CachekitError code = CACHEKIT_INVALID_INPUT;
    bytes a, b, c;
    output *o;
    uint8_t *p = NULL;
    size_t len = 0;

#define CALL(name, words) (strcmp(w[0], name) == 0 && n == words + 1)
    if (CALL("compress", 2)) {
        a = take(w[1]), o = room(w[2]);
        answer(cachekit_compress(a.p, a.n, o->p, o->np), o);
    } else if (CALL("decompress", 2)) {
        a = take(w[1]), o = room(w[2]);
        answer(cachekit_decompress(a.p, a.n, o->p, o->np), o);
    } else if (CALL("bound", 1)) {
        printf("bound=%zu\n", cachekit_compressed_bound(strtoull(w[1], NULL, 10)));
    } else if (CALL("new", 1)) {
        CachekitEncryptor *h = cachekit_encryptor_new(*w[1] == '-' ? NULL : &code);
        keep(0, h);
        printf("code=%d null=%d counter=%" PRIu64 "\n", (int)code, h == NULL, cachekit_encryptor_get_counter(h));
    } else if (CALL("free", 1)) {
        cachekit_encryptor_free(handle(w[1]));
        puts("freed");
    } else if (CALL("counter", 1)) {
        printf("counter=%" PRIu64 "\n", cachekit_encryptor_get_counter(handle(w[1])));
    } else if (CALL("skip", 2)) {
        cachekit_hook_skip(handle(w[1]), strtoull(w[2], NULL, 10));
        puts("skipped");
    } else if (CALL("encrypt", 5)) {
        a = take(w[2]), b = take(w[3]), c = take(w[4]), o = room(w[5]);
        answer(cachekit_encrypt(handle(w[1]), a.p, a.n, b.p, b.n, c.p, c.n, o->p, o->np), o);
    } else if (CALL("decrypt", 5)) {
        a = take(w[2]), b = take(w[3]), c = take(w[4]), o = room(w[5]);
        answer(cachekit_decrypt(handle(w[1]), a.p, a.n, b.p, b.n, c.p, c.n, o->p, o->np), o);
    } else if (CALL("derive", 4)) {
        a = take(w[1]), b = take(w[2]), c = take(w[3]), o = room(w[4]);
        answer(cachekit_derive_key(a.p, a.n, b.p, b.n, c.p, c.n, o->p), o);
    } else if (CALL("storage", 1)) {
        CachekitByteStorage *h = cachekit_byte_storage_new(text(w[1]));
        keep(1, h);
        printf("null=%d\n", h == NULL);
    } else if (CALL("store", 3)) {
        a = take(w[2]);
        code = cachekit_byte_storage_store(handle(w[1]), a.p, a.n, text(w[3]), &p, &len);
        give(code, p, len);
    } else if (CALL("retrieve", 2)) {
        a = take(w[2]);
        code = cachekit_byte_storage_retrieve(handle(w[1]), a.p, a.n, &p, &len);
        give(code, p, len);
    } else if (CALL("release", 1)) {
        cachekit_byte_storage_free(handle(w[1]));
        puts("freed");
    } else {
        printf("unknown: %s with %d words\n", w[0], n - 1);
    }
}

int main(void)
{
    static char line[1 << 20];
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *words[WORDS];
        int n = 0;
        for (char *w = strtok(line, " \n"); w != NULL && n < WORDS; w = strtok(NULL, " \n"))
            words[n++] = w;
        if (n > 0)
            run(n, words);
        while (holding > 0)
            free(held[--holding]);
        fflush(stdout);
    }
    return 0;
}
