/* Calls one of the bugs in hooks.go, or none. */
#include "hooks.h"
#include "check.h"
#include <string.h>

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    uint8_t *buffer = malloc(40);
    CHECK(buffer != NULL);
    if (strcmp(argv[1], "overrun") == 0)
        cachekit_hook_overrun(buffer, 40);
    else if (strcmp(argv[1], "leak") == 0)
        cachekit_hook_leak(40);
    else
        cachekit_hook_overrun(buffer, 39);
    free(buffer);
    return 0;
}
