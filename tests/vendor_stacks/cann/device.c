/* Boards: how many, which one is the thread's, what each is, who reaches whom. */
#include "cann.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int visible[MAX_DEVICES]; /* index of this process -> number of the board on the host */
static int visible_count;
static int contexts[MAX_DEVICES]; /* their addresses name the devices' contexts */
static __thread int current = -1; /* no device was set in this thread */

static void read_mask(const char *mask, int boards) {
    int last = -1;
    while (isdigit((unsigned char)*mask)) {
        char *end;
        int board = (int)strtol(mask, &end, 10);
        if (board <= last) { /* out of order or repeated: no device at all */
            visible_count = 0;
            return;
        }
        if (board >= boards) return;
        visible[visible_count++] = last = board;
        if (*end != ',') return;
        mask = end + 1;
    }
}

static void look_around(void) {
    int boards = (int)sim_number("SIM_CANN_DEVICES", 2);
    if (boards > MAX_DEVICES) boards = MAX_DEVICES;
    const char *mask = getenv("ASCEND_RT_VISIBLE_DEVICES");
    if (mask) {
        read_mask(mask, boards);
        return;
    }
    for (int board = 0; board < boards; board++) visible[visible_count++] = board;
}

int sim_device_count(void) {
    pthread_once(&once, look_around);
    return visible_count;
}

int sim_current_device(void) { return current < 0 ? 0 : current; }

static bool exists(int64_t device) { return device >= 0 && device < sim_device_count(); }

EXPORT int aclInit(const char *config) {
    ENTER();
    return ACL_SUCCESS;
}

EXPORT int aclFinalize(void) {
    ENTER();
    return ACL_SUCCESS;
}

EXPORT int aclrtGetDeviceCount(uint32_t *count) {
    ENTER();
    *count = (uint32_t)sim_device_count();
    return ACL_SUCCESS;
}

EXPORT int aclrtSetDevice(int32_t device) {
    ENTER();
    if (!exists(device)) return ACL_ERROR_RT_INVALID_DEVICEID;
    current = device;
    return ACL_SUCCESS;
}

EXPORT int aclrtGetDevice(int32_t *device) {
    ENTER();
    if (current < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    *device = current;
    return ACL_SUCCESS;
}

EXPORT int aclrtResetDevice(int32_t device) {
    ENTER();
    return exists(device) ? sim_finish(device, -1) : ACL_ERROR_RT_INVALID_DEVICEID;
}

EXPORT int aclrtGetCurrentContext(void **context) {
    ENTER();
    if (current < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    *context = &contexts[current];
    return ACL_SUCCESS;
}

EXPORT int aclrtSetCurrentContext(void *context) {
    ENTER();
    int64_t device = (int *)context - contexts;
    if (!exists(device)) return ACL_ERROR_RT_PARAM_INVALID;
    current = (int)device;
    return ACL_SUCCESS;
}

EXPORT int aclrtGetPrimaryCtxState(int32_t device, uint32_t *flags, int32_t *active) {
    ENTER();
    if (!exists(device)) return ACL_ERROR_RT_INVALID_DEVICEID;
    if (flags) *flags = 0;
    *active = device == current;
    return ACL_SUCCESS;
}

EXPORT int aclrtSynchronizeDevice(void) {
    ENTER();
    return sim_finish(sim_current_device(), -1);
}

EXPORT int aclrtSynchronizeDeviceWithTimeout(int32_t limit_ms) {
    ENTER();
    return sim_finish(sim_current_device(), limit_ms);
}

/* ---- what a board is */

EXPORT const char *aclrtGetSocName(void) {
    sim_entered(__func__);
    return sim_text("SIM_CANN_SOC", "Ascend910B3");
}

/* aclrtUuid: 16 bytes. The board's number on the host is in them, so that a mask moves them with the board. */
EXPORT int aclrtDeviceGetUuid(int32_t device, unsigned char uuid[16]) {
    ENTER();
    if (!exists(device)) return ACL_ERROR_RT_INVALID_DEVICEID;
    if (!sim_number("SIM_CANN_UUID", 1)) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    for (int i = 0; i < 16; i++) uuid[i] = (unsigned char)(0xA0 + i);
    uuid[15] = (unsigned char)visible[device];
    return ACL_SUCCESS;
}

/* aclDeviceInfo: 0 AI cores, 1 vector cores, 2 bytes of L2 cache. */
EXPORT int aclGetDeviceCapability(uint32_t device, int what, int64_t *value) {
    ENTER();
    static const int64_t known[] = {20, 40, 192ll << 20};
    if (!exists(device)) return ACL_ERROR_RT_INVALID_DEVICEID;
    if (what < 0 || what > 2) return ACL_ERROR_RT_PARAM_INVALID;
    *value = known[what];
    return ACL_SUCCESS;
}

typedef struct {
    int32_t cube, vector, aicpu, memory;
    void *extension;
} Utilization; /* aclrtUtilizationInfo, percent */

EXPORT int aclrtGetDeviceUtilizationRate(int32_t device, Utilization *found) {
    ENTER();
    if (!exists(device)) return ACL_ERROR_RT_INVALID_DEVICEID;
    found->cube = 33;
    found->vector = 44;
    found->aicpu = 55;
    found->memory = 66;
    return ACL_SUCCESS;
}

/* ---- boards among themselves */

EXPORT int aclrtDeviceCanAccessPeer(int32_t *can, int32_t device, int32_t peer) {
    ENTER();
    if (!exists(device) || !exists(peer)) return ACL_ERROR_RT_INVALID_DEVICEID;
    *can = device != peer;
    return ACL_SUCCESS;
}

EXPORT int aclrtDeviceEnablePeerAccess(int32_t peer, uint32_t flags) {
    ENTER();
    return exists(peer) ? ACL_SUCCESS : ACL_ERROR_RT_INVALID_DEVICEID;
}

/* ---- texts */

EXPORT const char *aclGetRecentErrMsg(void) { return "the simulated CANN refused the call"; }

EXPORT int aclsysGetVersionStr(char *package, char *version) {
    ENTER();
    strcpy(version, "9.2.0"); /* the first that tells UUIDs */
    return ACL_SUCCESS;
}
