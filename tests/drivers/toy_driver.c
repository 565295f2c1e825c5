/* A driver library whose every function returns the code it is asked for. */
#include <stdint.h>
#include <string.h>

static int calls;

int toy_code(int code) { ++calls; return code; }

int toy_calls(void) { return calls; }

/* Answers "not ready" until it was asked `times` times. */
int toy_busy(int times, int *value)
{
    static int asked;
    if (++asked < times)
        return 27;
    *value = asked;
    return 0;
}

/* A later release: it writes more than its caller's structure holds. */
int toy_long(uint32_t *out) { memset(out, 0x11, 64); return 0; }
