/* What the library has beyond cachekit.h when it is built with the tag
 * cachekit_hooks. */
#ifndef HOOKS_H
#define HOOKS_H

#include "cachekit.h"

/* Leaves out the nonces up to counter. handle must be live. */
void cachekit_hook_skip(CachekitEncryptor *handle, uint64_t counter);

/* Writes n + 1 bytes to out: a bug. */
void cachekit_hook_overrun(uint8_t *out, size_t n);

/* Allocates n bytes and loses them: a bug. */
void cachekit_hook_leak(size_t n);

#endif
