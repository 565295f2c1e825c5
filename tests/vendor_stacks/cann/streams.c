/* Streams: each a queue that a thread of its own works off, slowly enough to be caught unfinished. */
#define _GNU_SOURCE
#include "cann.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_WAIT_MS = 60000 };

typedef struct Task {
    struct Task *next;
    Work work;
    char argument[];
} Task;

struct Stream {
    Stream *next;
    int device, id;
    pid_t process; /* a forked child has no thread for it */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Task *first, **last;
    Model *capture; /* where its work goes meanwhile */
    bool busy, ending;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Stream *streams;
static Stream *defaults[MAX_DEVICES];

struct timespec sim_deadline(int32_t limit_ms) {
    if (limit_ms < 0 || limit_ms > LONGEST_WAIT_MS) limit_ms = LONGEST_WAIT_MS;
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += limit_ms / 1000;
    at.tv_nsec += limit_ms % 1000 * 1000000L;
    at.tv_sec += at.tv_nsec / 1000000000L;
    at.tv_nsec %= 1000000000L;
    return at;
}

static void *work_off(void *argument) {
    Stream *stream = argument;
    useconds_t delay = (useconds_t)sim_number("SIM_CANN_DELAY_US", 200);
    pthread_mutex_lock(&stream->lock);
    for (;;) {
        while (!stream->first && !stream->ending) pthread_cond_wait(&stream->changed, &stream->lock);
        Task *task = stream->first;
        if (!task) break;
        stream->first = task->next;
        if (!stream->first) stream->last = &stream->first;
        stream->busy = true;
        pthread_mutex_unlock(&stream->lock);
        usleep(delay);
        task->work(task->argument);
        free(task);
        pthread_mutex_lock(&stream->lock);
        stream->busy = false;
        pthread_cond_broadcast(&stream->changed);
    }
    pthread_mutex_unlock(&stream->lock);
    return NULL;
}

static Stream *create(int device) {
    static int ids;
    Stream *stream = calloc(1, sizeof *stream);
    stream->device = device;
    stream->process = getpid();
    stream->last = &stream->first;
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
    if (pthread_create(&stream->thread, NULL, work_off, stream)) {
        free(stream);
        return NULL;
    }
    stream->id = ids++;
    stream->next = streams;
    streams = stream;
    return stream;
}

/* The stream itself, or the current device's default one. */
static Stream *meant(Stream *stream) {
    if (stream) return stream;
    int device = sim_current_device();
    pthread_mutex_lock(&lock);
    if (!defaults[device]) defaults[device] = create(device);
    pthread_mutex_unlock(&lock);
    return defaults[device];
}

int sim_queue(Stream *stream, Work work, const void *argument, size_t size) {
    stream = meant(stream);
    if (!stream || stream->process != getpid()) return ACL_ERROR_RT_CONTEXT_NULL;
    if (stream->capture) return sim_collect(stream->capture, work, argument, size);
    Task *task = malloc(sizeof *task + size);
    if (!task) return ACL_ERROR_RT_MEMORY_ALLOCATION;
    task->next = NULL;
    task->work = work;
    memcpy(task->argument, argument, size);
    pthread_mutex_lock(&stream->lock);
    *stream->last = task;
    stream->last = &task->next;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    return ACL_SUCCESS;
}

static int finish(Stream *stream, int32_t limit_ms) {
    if (stream->process != getpid()) return ACL_ERROR_RT_CONTEXT_NULL;
    int unsafe = sim_unsafe_in_capture();
    if (unsafe) return unsafe;
    struct timespec end = sim_deadline(limit_ms);
    int late = 0;
    pthread_mutex_lock(&stream->lock);
    while ((stream->first || stream->busy) && !late)
        late = pthread_cond_timedwait(&stream->changed, &stream->lock, &end);
    pthread_mutex_unlock(&stream->lock);
    return late ? ACL_ERROR_RT_STREAM_SYNC_TIMEOUT : ACL_SUCCESS;
}

int sim_finish(int device, int32_t limit_ms) {
    int code = ACL_SUCCESS;
    pthread_mutex_lock(&lock);
    Stream *stream = streams;
    pthread_mutex_unlock(&lock);
    for (; stream && !code; stream = stream->next)
        if (stream->device == device) code = finish(stream, limit_ms);
    return code;
}

void sim_join(Stream *stream, Model *model) { stream->capture = model; }

Model *sim_joined(Stream *stream) { return stream->capture; }

void sim_leave(Model *model) {
    pthread_mutex_lock(&lock);
    for (Stream *stream = streams; stream; stream = stream->next)
        if (stream->capture == model) stream->capture = NULL;
    pthread_mutex_unlock(&lock);
}

/* ---- CANN's calls */

static int created(Stream **stream) {
    if (!sim_device_count()) return ACL_ERROR_RT_CONTEXT_NULL;
    pthread_mutex_lock(&lock);
    *stream = create(sim_current_device());
    pthread_mutex_unlock(&lock);
    return *stream ? ACL_SUCCESS : ACL_ERROR_RT_MEMORY_ALLOCATION;
}

EXPORT int aclrtCreateStream(Stream **stream) {
    ENTER();
    return created(stream);
}

EXPORT int aclrtCreateStreamWithConfig(Stream **stream, uint32_t priority, uint32_t flags) {
    ENTER();
    return created(stream);
}

static int destroyed(Stream *stream) {
    if (!stream) return ACL_ERROR_RT_PARAM_INVALID;
    if (stream->process != getpid()) return ACL_ERROR_RT_CONTEXT_NULL;
    pthread_mutex_lock(&lock);
    for (Stream **link = &streams; *link; link = &(*link)->next) {
        if (*link != stream) continue;
        *link = stream->next;
        break;
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&stream->lock);
    stream->ending = true;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    pthread_join(stream->thread, NULL);
    free(stream);
    return ACL_SUCCESS;
}

EXPORT int aclrtDestroyStream(Stream *stream) {
    ENTER();
    return destroyed(stream);
}

EXPORT int aclrtDestroyStreamForce(Stream *stream) {
    ENTER();
    return destroyed(stream);
}

static int waited_for(Stream *stream, int32_t limit_ms) {
    stream = meant(stream);
    return stream ? finish(stream, limit_ms) : ACL_ERROR_RT_CONTEXT_NULL;
}

EXPORT int aclrtSynchronizeStream(Stream *stream) {
    ENTER();
    return waited_for(stream, -1);
}

EXPORT int aclrtSynchronizeStreamWithTimeout(Stream *stream, int32_t limit_ms) {
    ENTER();
    return waited_for(stream, limit_ms);
}

/* aclrtStreamStatus: 0 all done, 1 work pending. */
EXPORT int aclrtStreamQuery(Stream *stream, int *status) {
    ENTER();
    stream = meant(stream);
    if (!stream) return ACL_ERROR_RT_CONTEXT_NULL;
    int unsafe = sim_unsafe_in_capture();
    if (unsafe) return unsafe;
    pthread_mutex_lock(&stream->lock);
    *status = stream->first || stream->busy;
    pthread_mutex_unlock(&stream->lock);
    return ACL_SUCCESS;
}

EXPORT int aclrtStreamGetId(Stream *stream, int32_t *id) {
    ENTER();
    stream = meant(stream);
    if (!stream) return ACL_ERROR_RT_CONTEXT_NULL;
    *id = stream->id;
    return ACL_SUCCESS;
}

EXPORT int aclrtSetStreamFailureMode(Stream *stream, uint64_t mode) {
    ENTER();
    return ACL_SUCCESS;
}
