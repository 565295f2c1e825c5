/* Settings that change nothing here: they are taken, and no more. */
#include "cann.h"
#include <stdio.h>
#include <string.h>

EXPORT int aclrtSetDeviceSatMode(int mode) {
    ENTER();
    return ACL_SUCCESS;
}

EXPORT int aclrtSetOpExecuteTimeOut(uint32_t seconds) {
    ENTER();
    return ACL_SUCCESS;
}

EXPORT int aclrtSetOpWaitTimeout(uint32_t seconds) {
    ENTER();
    return ACL_SUCCESS;
}

EXPORT int aclSetCompileopt(int option, const char *value) {
    ENTER();
    return ACL_SUCCESS;
}

enum { ACL_OP_JIT_COMPILE = 10 };

/* Operators are not compiled on the way: this makes torch_npu take those of libopapi.so. */
static const char *option_value(int option) { return option == ACL_OP_JIT_COMPILE ? "disable" : ""; }

EXPORT size_t aclGetCompileoptSize(int option) { return strlen(option_value(option)) + 1; }

EXPORT int aclGetCompileopt(int option, char *value, size_t room) {
    ENTER();
    snprintf(value, room, "%s", option_value(option));
    return ACL_SUCCESS;
}

/* Parameters of the process: off, since no operator that they speak of runs. */
EXPORT int aclrtGetSysParamOpt(int option, int64_t *value) {
    ENTER();
    *value = 0;
    return ACL_SUCCESS;
}

EXPORT int aclrtSetSysParamOpt(int option, int64_t value) {
    ENTER();
    return ACL_SUCCESS;
}

EXPORT int aclrtCtxSetSysParamOpt(int option, int64_t value) {
    ENTER();
    return ACL_SUCCESS;
}
