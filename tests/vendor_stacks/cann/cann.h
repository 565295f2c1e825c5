/* A simulated CANN: what its parts share, and the variables that steer it.
 *
 * torch_npu loads these libraries in place of Huawei's. Names, argument lists and codes are CANN's; what a call
 * does is done on the host: a board is a number, its memory is host memory with a limit, a stream is a thread
 * that works off a queue.
 *
 * Read when the first call arrives:
 *   SIM_CANN_DEVICES    boards of the host; 2. With 0 the count succeeds and is 0.
 *   SIM_CANN_MEMORY_MB  memory of a board; 2048
 *   SIM_CANN_DELAY_US   how long a task of a stream takes at least; 200
 *   SIM_CANN_SOC        name of the chip; Ascend910B3
 *   SIM_CANN_UUID       0: aclrtDeviceGetUuid answers "not supported", as before CANN 9.2
 *   SIM_CANN_FAIL       NAME=CODE[@FIRST[-LAST]],...: the function NAME returns CODE instead of working, from its
 *                       FIRST call to its LAST one; always, where no call is named. A synchronise that fails after
 *                       a lost board: aclrtSynchronizeDeviceWithTimeout=507899
 *   SIM_CANN_TRACE      1: every call's name goes to standard error
 *   ASCEND_RT_VISIBLE_DEVICES  as CANN reads it: digits and commas, ascending
 * A running process changes the failures with sim_cann_fail("NAME=CODE"), "" for none.
 */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))

/* Codes of acl_base.h and rt_error_codes.h that the simulation itself answers. */
enum {
    ACL_SUCCESS = 0,
    ACL_ERROR_OP_NOT_FOUND = 100024,
    ACL_ERROR_RT_PARAM_INVALID = 107000,
    ACL_ERROR_RT_INVALID_DEVICEID = 107001,
    ACL_ERROR_RT_CONTEXT_NULL = 107002,
    ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID = 107006,
    ACL_ERROR_RT_STREAM_CAPTURED = 107027,
    ACL_ERROR_RT_STREAM_NOT_CAPTURED = 107029,
    ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT = 107030,
    ACL_ERROR_RT_FEATURE_NOT_SUPPORT = 207000,
    ACL_ERROR_RT_MEMORY_ALLOCATION = 207001,
    ACL_ERROR_RT_STREAM_SYNC_TIMEOUT = 507046,
    ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED = 507903,
};

/* ---- scenario.c */

/* The code to return from the function of that name: 0 where it works. Traces the call. */
EXPORT int sim_entered(const char *name);
long sim_number(const char *variable, long otherwise);
const char *sim_text(const char *variable, const char *otherwise);

/* First statement of every function that may fail. */
#define ENTER()                                  \
    do {                                         \
        int injected = sim_entered(__func__);    \
        if (injected != ACL_SUCCESS) return injected; \
    } while (0)

/* ---- device.c */

enum { MAX_DEVICES = 64 };

int sim_device_count(void);
int sim_current_device(void);

/* ---- streams.c */

typedef struct Stream Stream; /* aclrtStream */
typedef struct Model Model;   /* aclmdlRI, a captured graph */
typedef void (*Work)(const void *argument);

/* Queue work in a stream (NULL: the current device's default one); the argument is copied. */
EXPORT int sim_queue(Stream *stream, Work work, const void *argument, size_t size);
/* Wait until all that is queued in the device's streams is done. */
int sim_finish(int device, int32_t limit_ms);
/* A stream that has joined a capture hands its work over to it. */
void sim_join(Stream *stream, Model *model);
Model *sim_joined(Stream *stream);
void sim_leave(Model *model);
/* The moment so many milliseconds from now, as pthread_cond_timedwait takes it; below 0 the longest wait. */
struct timespec sim_deadline(int32_t limit_ms);

/* ---- capture.c */

/* Whether the capture goes on. */
bool sim_is_open(const Model *model);
int sim_collect(Model *model, Work work, const void *argument, size_t size);
/* For calls that wait: the code of one that would spoil a capture, which is spoilt then. */
int sim_unsafe_in_capture(void);
