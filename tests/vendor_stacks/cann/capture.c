/* Captured graphs: tasks that a stream collects instead of running them, and runs again as often as asked.
 *
 * One list for all streams that joined the capture, in the order of the calls: a replay is one task of a stream.
 */
#include "cann.h"
#include <stdlib.h>
#include <string.h>

enum { GLOBAL, THREAD_LOCAL, RELAXED };         /* aclmdlRICaptureMode */
enum { NOT_CAPTURING, CAPTURING, INVALIDATED }; /* aclmdlRICaptureStatus */

typedef struct Step {
    struct Step *next;
    Work work;
    char argument[];
} Step;

struct Model {
    Step *first, **last;
    Stream *origin;
    pthread_t thread;
    int mode;
    bool invalid;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Model *capturing; /* one at a time */
static __thread int exchanged = GLOBAL;

bool sim_is_open(const Model *model) {
    pthread_mutex_lock(&lock);
    bool open = capturing == model;
    pthread_mutex_unlock(&lock);
    return open;
}

int sim_collect(Model *model, Work work, const void *argument, size_t size) {
    Step *step = malloc(sizeof *step + size);
    if (!step) return ACL_ERROR_RT_MEMORY_ALLOCATION;
    step->next = NULL;
    step->work = work;
    memcpy(step->argument, argument, size);
    pthread_mutex_lock(&lock);
    *model->last = step;
    model->last = &step->next;
    pthread_mutex_unlock(&lock);
    return ACL_SUCCESS;
}

int sim_unsafe_in_capture(void) {
    int code = ACL_SUCCESS;
    pthread_mutex_lock(&lock);
    bool watched = capturing && capturing->mode != RELAXED && exchanged != RELAXED &&
                   (capturing->mode == GLOBAL || pthread_equal(capturing->thread, pthread_self()));
    if (watched) {
        capturing->invalid = true;
        code = ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static void drop(Model *model) {
    for (Step *step = model->first, *next; step; step = next) {
        next = step->next;
        free(step);
    }
    free(model);
}

EXPORT int aclmdlRICaptureBegin(Stream *stream, int mode) {
    ENTER();
    Model *model = calloc(1, sizeof *model);
    model->last = &model->first;
    model->origin = stream;
    model->thread = pthread_self();
    model->mode = mode;
    pthread_mutex_lock(&lock);
    bool busy = capturing != NULL;
    if (!busy) capturing = model;
    pthread_mutex_unlock(&lock);
    if (busy) {
        free(model);
        return ACL_ERROR_RT_STREAM_CAPTURED;
    }
    sim_join(stream, model);
    return ACL_SUCCESS;
}

EXPORT int aclmdlRICaptureGetInfo(Stream *stream, int *status, Model **model) {
    ENTER();
    Model *found = stream ? sim_joined(stream) : NULL;
    pthread_mutex_lock(&lock);
    *status = !found ? NOT_CAPTURING : found->invalid ? INVALIDATED : CAPTURING;
    pthread_mutex_unlock(&lock);
    if (model) *model = found;
    return ACL_SUCCESS;
}

EXPORT int aclmdlRICaptureEnd(Stream *stream, Model **model) {
    ENTER();
    Model *found = sim_joined(stream);
    if (!found) return ACL_ERROR_RT_STREAM_NOT_CAPTURED;
    sim_leave(found);
    pthread_mutex_lock(&lock);
    capturing = NULL;
    bool invalid = found->invalid;
    pthread_mutex_unlock(&lock);
    *model = invalid ? NULL : found;
    if (!invalid) return ACL_SUCCESS;
    drop(found);
    return ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED;
}

EXPORT int aclmdlRICaptureThreadExchangeMode(int *mode) {
    ENTER();
    int before = exchanged;
    exchanged = *mode;
    *mode = before;
    return ACL_SUCCESS;
}

static void replay(const void *argument) {
    const Model *model = *(Model *const *)argument;
    for (Step *step = model->first; step; step = step->next) step->work(step->argument);
}

EXPORT int aclmdlRIExecuteAsync(Model *model, Stream *stream) {
    ENTER();
    return sim_queue(stream, replay, &model, sizeof model);
}

/* The caller has waited for its replays. */
EXPORT int aclmdlRIDestroy(Model *model) {
    ENTER();
    drop(model);
    return ACL_SUCCESS;
}
