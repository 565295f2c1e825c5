/* Events: marks in a stream that carry the time at which the stream reached them. */
#define _GNU_SOURCE
#include "cann.h"
#include <stdlib.h>
#include <time.h>

enum { TIME_LINE = 8 }; /* ACL_EVENT_TIME_LINE: the event keeps its time */

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t reached;
    uint32_t flags;
    int holders;        /* its owner, and the tasks that speak of it */
    uint64_t recorded;  /* how often it was put into a stream */
    uint64_t completed; /* the latest of those that a stream has reached */
    uint64_t time_ns;
    Model *capture; /* the capture in which it was recorded last */
} Event;

typedef struct {
    Event *event;
    uint64_t mark;
} Mark;

static void release(Event *event) {
    pthread_mutex_lock(&event->lock);
    bool last = --event->holders == 0;
    pthread_mutex_unlock(&event->lock);
    if (last) free(event);
}

static int created(Event **event, uint32_t flags) {
    *event = calloc(1, sizeof **event);
    if (!*event) return ACL_ERROR_RT_MEMORY_ALLOCATION;
    pthread_mutex_init(&(*event)->lock, NULL);
    pthread_cond_init(&(*event)->reached, NULL);
    (*event)->flags = flags;
    (*event)->holders = 1;
    return ACL_SUCCESS;
}

EXPORT int aclrtCreateEventWithFlag(Event **event, uint32_t flags) {
    ENTER();
    return created(event, flags);
}

EXPORT int aclrtCreateEventExWithFlag(Event **event, uint32_t flags) {
    ENTER();
    return created(event, flags);
}

EXPORT int aclrtDestroyEvent(Event *event) {
    ENTER();
    release(event);
    return ACL_SUCCESS;
}

static void reach(const void *argument) {
    const Mark *mark = argument;
    Event *event = mark->event;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    pthread_mutex_lock(&event->lock);
    if (mark->mark > event->completed) {
        event->completed = mark->mark;
        event->time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
    pthread_cond_broadcast(&event->reached);
    pthread_mutex_unlock(&event->lock);
    release(event);
}

static int wait_for(Event *event, uint64_t mark) {
    struct timespec end = sim_deadline(-1);
    int late = 0;
    pthread_mutex_lock(&event->lock);
    while (event->completed < mark && !late)
        late = pthread_cond_timedwait(&event->reached, &event->lock, &end);
    pthread_mutex_unlock(&event->lock);
    return late ? ACL_ERROR_RT_STREAM_SYNC_TIMEOUT : ACL_SUCCESS;
}

static void hold_up(const void *argument) {
    const Mark *mark = argument;
    wait_for(mark->event, mark->mark);
    release(mark->event);
}

/* In a capture an event only says which streams belong together: the steps keep their order anyway. */
static bool captured(Stream *stream, Event *event, bool recording) {
    Model *joined = stream ? sim_joined(stream) : NULL;
    if (recording) event->capture = joined;
    if (!event->capture || !sim_is_open(event->capture)) return false;
    if (!recording && !joined) sim_join(stream, event->capture);
    return true;
}

/* Queue a task about the event: of a new mark, or of the latest one. */
static int queue(Stream *stream, Event *event, Work work, bool mark_again) {
    pthread_mutex_lock(&event->lock);
    event->holders++;
    if (mark_again) event->recorded++;
    Mark mark = {event, event->recorded};
    pthread_mutex_unlock(&event->lock);
    int code = sim_queue(stream, work, &mark, sizeof mark);
    if (code) release(event);
    return code;
}

EXPORT int aclrtRecordEvent(Event *event, Stream *stream) {
    ENTER();
    return captured(stream, event, true) ? ACL_SUCCESS : queue(stream, event, reach, true);
}

EXPORT int aclrtStreamWaitEvent(Stream *stream, Event *event) {
    ENTER();
    return captured(stream, event, false) ? ACL_SUCCESS : queue(stream, event, hold_up, false);
}

EXPORT int aclrtResetEvent(Event *event, Stream *stream) {
    ENTER();
    return ACL_SUCCESS;
}

EXPORT int aclrtSynchronizeEvent(Event *event) {
    ENTER();
    int unsafe = sim_unsafe_in_capture();
    if (unsafe) return unsafe;
    pthread_mutex_lock(&event->lock);
    uint64_t mark = event->recorded;
    pthread_mutex_unlock(&event->lock);
    return wait_for(event, mark);
}

static int completed(Event *event) {
    pthread_mutex_lock(&event->lock);
    int done = event->completed >= event->recorded;
    pthread_mutex_unlock(&event->lock);
    return done;
}

/* aclrtEventRecordedStatus: 0 not reached, 1 reached. */
EXPORT int aclrtQueryEventStatus(Event *event, int *status) {
    ENTER();
    *status = completed(event);
    return ACL_SUCCESS;
}

/* aclrtEventWaitStatus: 0 reached, 1 not reached. */
EXPORT int aclrtQueryEventWaitStatus(Event *event, int *status) {
    ENTER();
    *status = !completed(event);
    return ACL_SUCCESS;
}

/* Milliseconds; 0 for an event without ACL_EVENT_TIME_LINE, which keeps no time. */
EXPORT int aclrtEventElapsedTime(float *elapsed, Event *start, Event *end) {
    ENTER();
    *elapsed = 0;
    if (!(start->flags & end->flags & TIME_LINE)) return ACL_SUCCESS;
    if (!completed(start) || !completed(end)) return ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID;
    *elapsed = (float)(((double)end->time_ns - (double)start->time_ns) / 1e6);
    return ACL_SUCCESS;
}

EXPORT int aclrtEventGetTimestamp(Event *event, uint64_t *time_us) {
    ENTER();
    *time_us = event->time_ns / 1000;
    return ACL_SUCCESS;
}
