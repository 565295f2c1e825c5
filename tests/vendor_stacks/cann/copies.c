/* Copies and fills: at once, or as a task of a stream. */
#include "cann.h"
#include <string.h>

/* aclrtMemcpy does not wait for the streams: whoever reads too early gets what is there. */
EXPORT int aclrtMemcpy(void *to, size_t room, const void *from, size_t size, int kind) {
    ENTER();
    if (size > room) return ACL_ERROR_RT_PARAM_INVALID;
    memcpy(to, from, size);
    return ACL_SUCCESS;
}

typedef struct {
    void *to;
    const void *from;
    size_t size;
} Copy;

static void copy(const void *argument) {
    const Copy *one = argument;
    memmove(one->to, one->from, one->size);
}

EXPORT int aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t size, int kind, Stream *stream) {
    ENTER();
    if (size > room) return ACL_ERROR_RT_PARAM_INVALID;
    Copy one = {to, from, size};
    return sim_queue(stream, copy, &one, sizeof one);
}

EXPORT int aclrtMemset(void *to, size_t room, int32_t value, size_t size) {
    ENTER();
    if (size > room) return ACL_ERROR_RT_PARAM_INVALID;
    memset(to, value, size);
    return ACL_SUCCESS;
}

typedef struct {
    void *to;
    int32_t value;
    size_t size;
} Fill;

static void fill(const void *argument) {
    const Fill *one = argument;
    memset(one->to, one->value, one->size);
}

EXPORT int aclrtMemsetAsync(void *to, size_t room, int32_t value, size_t size, Stream *stream) {
    ENTER();
    if (size > room) return ACL_ERROR_RT_PARAM_INVALID;
    Fill one = {to, value, size};
    return sim_queue(stream, fill, &one, sizeof one);
}
