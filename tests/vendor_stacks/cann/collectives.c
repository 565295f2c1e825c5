/* HCCL: collectives among processes of this host. Each is a task of a stream, over memory that all ranks map. */
#define _GNU_SOURCE
#include "tensors.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_RANKS = 8, SLOT_BYTES = 1 << 20, NAME_BYTES = 128 };
enum { HCCL_SUCCESS = 0, HCCL_E_PARA = 1, HCCL_E_INTERNAL = 4, HCCL_E_NOT_SUPPORT = 5 }; /* hccl_types.h */
enum { HCCL_SUM, HCCL_PROD, HCCL_MAX, HCCL_MIN };                                         /* HcclReduceOp */

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    int waiting;
    unsigned round;
    char slots[MAX_RANKS][SLOT_BYTES];
} Meeting;

typedef struct {
    Meeting *meeting;
    int rank, ranks;
    char name[NAME_BYTES];
} Communicator; /* HcclComm */

typedef struct {
    char name[NAME_BYTES];
    char rest[4108 - NAME_BYTES];
} RootInfo; /* HcclRootInfo */

/* ---- meeting */

static Meeting *map(const char *name, int flags) {
    int file = shm_open(name, O_RDWR | flags, 0600);
    if (file < 0) return NULL;
    void *found = MAP_FAILED;
    if (ftruncate(file, sizeof(Meeting)) == 0)
        found = mmap(NULL, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return found == MAP_FAILED ? NULL : found;
}

/* Wait until every rank has come as often as this one; false where one does not come. */
static bool meet(const Communicator *communicator) {
    Meeting *meeting = communicator->meeting;
    struct timespec end = sim_deadline(-1);
    int late = 0;
    pthread_mutex_lock(&meeting->lock);
    unsigned round = meeting->round;
    if (++meeting->waiting == communicator->ranks) {
        meeting->waiting = 0;
        meeting->round++;
        pthread_cond_broadcast(&meeting->all_here);
    }
    while (meeting->round == round && !late)
        late = pthread_cond_timedwait(&meeting->all_here, &meeting->lock, &end);
    pthread_mutex_unlock(&meeting->lock);
    return !late;
}

/* ---- communicators */

EXPORT int HcclGetRootInfo(RootInfo *info) {
    static int number;
    ENTER();
    memset(info, 0, sizeof *info);
    snprintf(info->name, NAME_BYTES, "/simulated-hccl-%d-%d", (int)getpid(), number++);
    Meeting *meeting = map(info->name, O_CREAT | O_EXCL);
    if (!meeting) return HCCL_E_INTERNAL;
    pthread_mutexattr_t lock;
    pthread_mutexattr_init(&lock);
    pthread_mutexattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&meeting->lock, &lock);
    pthread_condattr_t condition;
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&meeting->all_here, &condition);
    munmap(meeting, sizeof *meeting);
    return HCCL_SUCCESS;
}

EXPORT int HcclCommInitRootInfo(uint32_t ranks, const RootInfo *info, uint32_t rank, Communicator **made) {
    ENTER();
    if (ranks > MAX_RANKS) return HCCL_E_NOT_SUPPORT;
    if (rank >= ranks) return HCCL_E_PARA;
    Meeting *meeting = map(info->name, 0);
    if (!meeting) return HCCL_E_INTERNAL;
    Communicator *communicator = calloc(1, sizeof *communicator);
    communicator->meeting = meeting;
    communicator->rank = (int)rank;
    communicator->ranks = (int)ranks;
    snprintf(communicator->name, NAME_BYTES, "%s", info->name);
    bool complete = meet(communicator);
    if (rank == 0) shm_unlink(info->name); /* whoever is to map it has */
    *made = communicator;
    return complete ? HCCL_SUCCESS : HCCL_E_INTERNAL;
}

EXPORT int HcclCommInitRootInfoConfig(uint32_t ranks, const RootInfo *info, uint32_t rank, const void *config,
                                      Communicator **made) {
    return HcclCommInitRootInfo(ranks, info, rank, made);
}

/* Configurations of a communicator: none is known. */
EXPORT uint32_t HcclGetCommConfigCapability(void) { return 0; }

EXPORT int HcclCommDestroy(Communicator *communicator) {
    ENTER();
    munmap(communicator->meeting, sizeof *communicator->meeting);
    free(communicator);
    return HCCL_SUCCESS;
}

EXPORT int HcclGetCommName(Communicator *communicator, char *name) {
    ENTER();
    strcpy(name, communicator->name);
    return HCCL_SUCCESS;
}

EXPORT int HcclGetCommAsyncError(Communicator *communicator, int *found) {
    ENTER();
    *found = HCCL_SUCCESS;
    return HCCL_SUCCESS;
}

EXPORT const char *HcclGetErrorString(int code) { return code ? "simulated HCCL error" : "no error"; }

/* ---- collectives */

typedef struct Collective {
    void (*combine)(const struct Collective *);
    const Communicator *communicator;
    const char *from;
    char *to;
    uint64_t count;
    int type, reduction, root;
} Collective;

static size_t bytes_of(const Collective *one) { return one->count * sim_width(one->type); }

static double reduced(int reduction, double left, double right) {
    switch (reduction) {
        case HCCL_SUM: return left + right;
        case HCCL_PROD: return left * right;
        case HCCL_MAX: return left > right ? left : right;
        default: return left < right ? left : right;
    }
}

static void reduce(const Collective *one) {
    size_t width = sim_width(one->type);
    for (uint64_t i = 0; i < one->count; i++) {
        double value = sim_read(one->type, one->communicator->meeting->slots[0] + i * width);
        for (int rank = 1; rank < one->communicator->ranks; rank++)
            value = reduced(one->reduction, value,
                            sim_read(one->type, one->communicator->meeting->slots[rank] + i * width));
        sim_write(one->type, one->to + i * width, value);
    }
}

static void gather(const Collective *one) {
    for (int rank = 0; rank < one->communicator->ranks; rank++)
        memcpy(one->to + (size_t)rank * bytes_of(one), one->communicator->meeting->slots[rank], bytes_of(one));
}

static void take_root(const Collective *one) {
    memcpy(one->to, one->communicator->meeting->slots[one->root], bytes_of(one));
}

static void run(const void *argument) {
    const Collective *one = argument;
    memcpy(one->communicator->meeting->slots[one->communicator->rank], one->from, bytes_of(one));
    if (!meet(one->communicator)) return;
    one->combine(one);
    meet(one->communicator); /* nobody writes into a slot that another still reads */
}

/* HcclDataType -> aclDataType; -1 where the operators do not take it. */
static int acl_type(int type) {
    static const int known[] = {ACL_INT8,  ACL_INT16, ACL_INT32, ACL_FLOAT16, ACL_FLOAT,  ACL_INT64,
                                -1,        ACL_UINT8, -1,        -1,          ACL_DOUBLE, ACL_BF16};
    return type >= 0 && type < (int)(sizeof known / sizeof *known) ? known[type] : -1;
}

static int queue(Collective one, int type, Stream *stream) {
    one.type = acl_type(type);
    if (one.type < 0 || bytes_of(&one) > SLOT_BYTES) return HCCL_E_NOT_SUPPORT;
    return sim_queue(stream, run, &one, sizeof one) ? HCCL_E_INTERNAL : HCCL_SUCCESS;
}

EXPORT int HcclAllReduce(void *from, void *to, uint64_t count, int type, int reduction, Communicator *communicator,
                         Stream *stream) {
    ENTER();
    Collective one = {reduce, communicator, from, to, count, .reduction = reduction};
    return queue(one, type, stream);
}

EXPORT int HcclAllGather(void *from, void *to, uint64_t count, int type, Communicator *communicator, Stream *stream) {
    ENTER();
    return queue((Collective){gather, communicator, from, to, count, .root = 0}, type, stream);
}

EXPORT int HcclBroadcast(void *buffer, uint64_t count, int type, uint32_t root, Communicator *communicator,
                         Stream *stream) {
    ENTER();
    Collective one = {take_root, communicator, buffer, buffer, count, .root = (int)root};
    return queue(one, type, stream);
}
