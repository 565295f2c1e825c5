/* Device memory with a capacity per board, and page-locked host memory. */
#define _GNU_SOURCE
#include "cann.h"
#include <stdlib.h>
#include <sys/mman.h>

enum { ALIGNMENT = 512 };

typedef struct Block {
    struct Block *next;
    char *start;
    size_t size;
    int device; /* -1: page-locked memory of the host */
} Block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Block *blocks;
static size_t used[MAX_DEVICES];

static size_t capacity(void) {
    static size_t bytes;
    if (!bytes) bytes = (size_t)sim_number("SIM_CANN_MEMORY_MB", 2048) << 20;
    return bytes;
}

static int take(void **address, size_t size, int device) {
    if (!address || !size) return ACL_ERROR_RT_PARAM_INVALID;
    if (size > capacity() && device >= 0) return ACL_ERROR_RT_MEMORY_ALLOCATION;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    int code = ACL_ERROR_RT_MEMORY_ALLOCATION;
    pthread_mutex_lock(&lock);
    Block *block = malloc(sizeof *block);
    void *start = MAP_FAILED;
    if (block && (device < 0 || used[device] + size <= capacity()))
        start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
        free(block);
    } else {
        *block = (Block){blocks, start, size, device};
        blocks = block;
        if (device >= 0) used[device] += size;
        *address = start;
        code = ACL_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static int give_back(void *address, bool of_host) {
    int code = ACL_ERROR_RT_PARAM_INVALID;
    pthread_mutex_lock(&lock);
    for (Block **link = &blocks; *link; link = &(*link)->next) {
        Block *block = *link;
        if (block->start != address || (block->device < 0) != of_host) continue;
        *link = block->next;
        if (block->device >= 0) used[block->device] -= block->size;
        munmap(block->start, block->size);
        free(block);
        code = ACL_SUCCESS;
        break;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

/* ---- device memory; policies and configurations make no difference here */

EXPORT int aclrtMalloc(void **address, size_t size, int policy) {
    ENTER();
    return take(address, size, sim_current_device());
}

EXPORT int aclrtMallocAlign32(void **address, size_t size, int policy) {
    ENTER();
    return take(address, size, sim_current_device());
}

EXPORT int aclrtMallocWithCfg(void **address, size_t size, int policy, void *configuration) {
    ENTER();
    return take(address, size, sim_current_device());
}

EXPORT int aclrtFree(void *address) {
    ENTER();
    return give_back(address, false);
}

EXPORT int aclrtGetMemInfo(int attribute, size_t *available, size_t *total) {
    ENTER();
    pthread_mutex_lock(&lock);
    *total = capacity();
    *available = *total - used[sim_current_device()];
    pthread_mutex_unlock(&lock);
    return ACL_SUCCESS;
}

/* Memory without an address: the base of expandable segments, which are not simulated. */
EXPORT int aclrtMallocPhysical(void **handle, size_t size, const void *property, uint64_t flags) {
    ENTER();
    return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

/* ---- page-locked memory of the host */

EXPORT int aclrtMallocHost(void **address, size_t size) {
    ENTER();
    return take(address, size, -1);
}

EXPORT int aclrtMallocHostWithCfg(void **address, uint64_t size, void *configuration) {
    ENTER();
    return take(address, size, -1);
}

EXPORT int aclrtFreeHost(void *address) {
    ENTER();
    return give_back(address, true);
}

/* ---- whose memory an address is */

typedef struct {
    struct {
        int type; /* 0 host, 1 device, 2 not CANN's */
        uint32_t id;
    } location;
    uint32_t page_size;
    uint32_t reserved[4];
} PointerAttributes; /* aclrtPtrAttributes */

EXPORT int aclrtPointerGetAttributes(const void *address, PointerAttributes *found) {
    ENTER();
    found->location.type = 2;
    found->location.id = 0;
    pthread_mutex_lock(&lock);
    for (Block *block = blocks; block; block = block->next) {
        if ((const char *)address < block->start || (const char *)address >= block->start + block->size) continue;
        found->location.type = block->device >= 0;
        found->location.id = block->device >= 0 ? (uint32_t)block->device : 0;
        break;
    }
    pthread_mutex_unlock(&lock);
    return ACL_SUCCESS;
}
