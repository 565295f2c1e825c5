/* A simulated libcndev.so, driven by ../scenario.h.
 *
 * Figures are set under the names that stand in NUMBER() and TEXT() below, in the units of CNDev;
 * a port's end in its number ("mac_2"). `set * api 5` is a library that knows no newer version of
 * its structures. `set * grown 1` is a later driver that writes 64 bytes more into every structure.
 * Build with -DOLD_DRIVER for one from before 2.0.11: it has no handles, no second names, and
 * shorter structures.
 */
#include <stddef.h>

#include "boards.h"
#include "links.h"

/* ---- the library */

API int cndevInit(int reserved)
{
    int code = reserved ? BAD_ARGUMENT : sim_gate(SIM_NO_BOARD, "cndevInit");
    started |= !code;
    return code;
}
API int cndevRelease(void) { releases++; started = 0; return OK; }
API int cndevGetLibVersion(struct lib_version *out)
{
    GATE(SIM_NO_BOARD)
    FRESH(out)
    *out = (struct lib_version){0, (u32)setting("library", 6), 5, 40};
    return OK;
}
API int cndevGetDeviceCount(struct card_info *out)
{
    GATE(SIM_NO_BOARD)
    FRESH(out)
    out->number = (u32)setting("counted", sim_boards());
    return OK;
}
#ifndef OLD_DRIVER
API int cndevGetDeviceHandleByIndex(int index, int *out)
{
    GATE(index)
    if (index < 0 || index >= sim_boards())
        return BAD_ARGUMENT;
    *out = handle_of(index);
    return OK;
}
API int cndevGetDriverVersion(u32 *major, u32 *minor, u32 *build)
{
    GATE(SIM_NO_BOARD)
    *major = (u32)setting("driver", 6);
    *minor = 2;
    *build = 29;
    return OK;
}
API int cndevDeviceGetMinorNumber(u32 *out, int device) { BOARD *out = (u32)NUMBER("minor", b); return OK; }
#endif

/* ---- identity */

CALL(cndevGetUUID, uuid, uuid_of(b, "uuid", "aa", out->uuid);)
CALL(cndevGetCardSN, card_sn, out->sn = (ul)NUMBER("serial", 0x312345678900 + b);)
CALL(cndevGetCardName, card_name, out->id = (int)NUMBER("series", 23);)
API const char *cndevGetCardNameString(int series) { return series == 23 ? "MLU370" : series == 26 ? "MLU590" : series == -1 ? NULL : "Unknown"; }
CALL(cndevGetNUMANodeIdByDevId, card_name, out->id = (int)NUMBER("node", b & 1);)
CALL(cndevGetVersionInfo, version_info,
    out->mcuMajorVersion = (u32)NUMBER("mcu", 1);
    out->mcuMinorVersion = 1;
    out->mcuBuildVersion = 6;
    out->driverMajorVersion = (u32)NUMBER("board_driver", 5);
    out->driverMinorVersion = 10;
    out->driverBuildVersion = 26;
)
#define PCI \
    out->vendor = 0xcabc; \
    out->domain = (u32)NUMBER("domain", 0); \
    out->bus = (u32)NUMBER("bus", 0x39 + b); \
    out->device = (u32)NUMBER("device", 0); \
    out->function = (u32)NUMBER("function", 0);
#ifdef OLD_DRIVER
CALL(cndevGetPCIeInfo, pcie_info, PCI)
#else
API const char *cndevGetCardNameStringByDevId(int device)
{
    static char text[96];
    int b = at(device);
    return b == NOWHERE ? NULL : sim_text(b, "name", "MLU370-X8", text);
}
PLAIN(cndevGetPCIeInfoV2, pcie_info_v2, PCI)
CALL(cndevGetCardPartNumber, part_number, TEXT("part", "", out->partNumber);)
#endif
CALL(cndevGetCoreCount, card_info, out->number = (u32)NUMBER("cores", 16);)

/* ---- memory and sensors */

#define MEMORY \
    out->physicalMemoryTotal = (long)NUMBER("total", 23374); \
    out->physicalMemoryUsed = (long)NUMBER("used", 106);
#define POWER \
    out->usage = (int)NUMBER("power", 106); \
    out->cap = (int)NUMBER("cap", 250);
#ifdef OLD_DRIVER
CALL(cndevGetMemoryUsage, memory, MEMORY)
CALL(cndevGetPowerInfo, power, POWER)
CALL(cndevGetCardHealthState, health, out->health = (int)NUMBER("health", 1);)
CALL(cndevGetECCInfo, ecc_info, out->correctedError = (ul)NUMBER("corrected", 0); out->uncorrectedError = (ul)NUMBER("uncorrected", 0);)
#else
PLAIN(cndevGetMemoryUsageV2, memory_v2, MEMORY)
PLAIN(cndevGetDevicePowerInfo, power_v2, POWER out->tdp = (int)NUMBER("tdp", 250);)
CALL(cndevGetPowerManagementLimitation, power_limit, out->powerLimit = (u16)NUMBER("limit", 240);)
CALL(cndevGetPowerManagementDefaultLimitation, power_limit, out->powerLimit = (u16)NUMBER("default_limit", 250);)
CALL(cndevGetOverTemperatureInfo, over_temperature, out->powerOffTemp = (short)NUMBER("off", 110); out->underClockTemp = (short)NUMBER("under_clock", 95);)
CALL(cndevGetPerformanceThrottleReason, throttle,
    out->tdp = (int)NUMBER("throttle_tdp", 0);
    out->powerSetting = (int)NUMBER("throttle_power", 0);
    out->clockSetting = (int)NUMBER("throttle_clock", 0);
    out->frequencyLocked = (int)NUMBER("throttle_locked", 0);
    out->powerBrake = (int)NUMBER("throttle_brake", 0);
    out->thermalSlowdown = (int)NUMBER("throttle_thermal", 0);
)
CALL(cndevGetMemEccCounter, mem_ecc,
    out->volatileSramEccSbeCounter = (u32)NUMBER("sram_sbe", 0);
    out->volatileSramEccDbeCounter = (u32)NUMBER("sram_dbe", 0);
    out->volatileSramEccParityCounter = (u32)NUMBER("parity", 0);
    out->volatileDramEccSbeCounter = (u32)NUMBER("dram_sbe", 0);
    out->volatileDramEccDbeCounter = (u32)NUMBER("dram_dbe", 0);
    out->aggregateDramEccSbeCounter = (ul)NUMBER("all_sbe", 0);
    out->aggregateDramEccDbeCounter = (ul)NUMBER("all_dbe", 0);
)
CALL(cndevGetRemappedRowsV2, remapped_v2, out->correctCounts = (u32)NUMBER("rows", 0); out->uncorrectCounts = (u32)NUMBER("bad_rows", 0);)
CALL(cndevGetRepairStatus, repair_status,
    out->isRetirePending = NUMBER("retire_pending", 0);
    out->isPending = NUMBER("pending", 0);
    out->isFailure = NUMBER("failure", 0);
)
CALL(cndevGetComputeMode, card_name, out->id = (int)NUMBER("mode", 0);)
API int cndevGetEccMode(struct card_name *now, struct card_name *next, int device)
{
    BOARD
    FRESH(now)
    FRESH(next)
    now->id = (int)NUMBER("ecc", 1);
    return OK;
}
API int cndevDeviceGetFieldValues(int device, int count, struct field_value *out)
{
    BOARD
    for (int n = 0; n < count; n++) {
        char name[32], type[32];
        snprintf(name, sizeof name, "field_%d", out[n].fieldId);
        snprintf(type, sizeof type, "field_type_%d", out[n].fieldId);
        out[n].valueType = (int)NUMBER(type, 4);
        out[n].ret = out[n].scopeId ? BAD_ARGUMENT : OK;
        memset(&out[n].value, 0, sizeof out[n].value);
        out[n].value.sllVal = NUMBER(name, -1);
        if (out[n].valueType == 0)
            out[n].value.dVal = (double)NUMBER(name, -1);
        if (NUMBER(name, -1) == -1)
            out[n].ret = (int)NUMBER("field_code", NOT_SUPPORTED);
    }
    return OK;
}
PLAIN(cndevGetCardHealthStateV2, health_v2,
    out->health = (int)NUMBER("health", 1);
    out->deviceState = (int)NUMBER("device_state", 1);
    out->driverState = (int)NUMBER("driver_state", 4);
    out->overallHealth = (int)NUMBER("overall", 0);
    out->incident_count = (u32)NUMBER("incidents", 0);
    for (int n = 0; n < 64 && n < NUMBER("incidents", 0); n++) {
        out->incidents[n].system = (int)NUMBER("incident_system", 1);
        out->incidents[n].health = (int)NUMBER("incident_health", 10);
        out->incidents[n].error.code = (int)NUMBER("incident_code", 5) + n;
        TEXT("incident_text", "link is slow", out->incidents[n].error.msg);
    }
)
PLAIN(cndevGetPCIethroughputV2, throughput_v2, out->pcieRead = (long)NUMBER("read", 2000); out->pcieWrite = (long)NUMBER("write", 1000);)
CALL(cndevGetPcieReplayCounter, card_info, out->number = (u32)NUMBER("replays", 0);)
CALL(cndevGetMaxPCIInfo, current_pci, out->currentSpeed = (int)NUMBER("max_speed", 5); out->currentWidth = (int)NUMBER("max_width", 16);)
#endif
CALL(cndevGetCurrentPCIInfo, current_pci, out->currentSpeed = (int)NUMBER("speed", 4); out->currentWidth = (int)NUMBER("width", 16);)
/* The number picks the layout: version 5 ends before the memory's temperature. */
API int cndevGetTemperatureInfo(struct temperature *out, int device)
{
    BOARD
    CHECK(out)
#ifndef OLD_DRIVER
    if (out->version < 6)
        memset(out, 0, offsetof(struct temperature, airOutlet));
    else {
        CLEAR(out);
        out->memory = (int)NUMBER("memory_temperature", 63);
    }
#else
    CLEAR(out);
#endif
    out->board = (int)NUMBER("board_temperature", 54);
    out->chip = (int)NUMBER("temperature", 68);
    return OK;
}
CALL(cndevGetDeviceUtilizationInfo, utilization, out->averageCoreUtilization = (int)NUMBER("utilization", 66);)
CALL(cndevGetFrequencyInfo, frequency,
    out->boardFreq = (int)NUMBER("clock", 1300);
    out->ddrFreq = 3200;
    SINCE(out->boardFreqArange[0] = 300; out->boardFreqArange[1] = (int)NUMBER("max_clock", 1400);)
)
CALL(cndevGetRemappedRows, remapped, out->correctRows = (u32)NUMBER("old_rows", 0); out->uncorrectRows = (u32)NUMBER("old_bad_rows", 0);)
API int cndevGetRetiredPages(struct retired_pages *out, int device)
{
    BOARD
    CHECK(out)
    int cause = out->cause;
    if (cause != 0 && cause != 1)
        return BAD_ARGUMENT;
    CLEAR(out);
    out->pageCount = (u32)NUMBER(cause ? "pages_double" : "pages_single", 0);
    return OK;
}
CALL(cndevGetRetiredPagesStatus, retired_status, out->isPending = (u32)NUMBER("page_pending", 0); out->isFailure = (u32)NUMBER("page_failure", 0);)

/* ---- the host */

/* Writes what the host's CPUs need of the bit map, and nothing behind it. */
API int cndevGetDeviceAffinity(struct affinity *out, int device)
{
    BOARD
    CHECK(out)
    out->cpuCount = 64;
    out->cpuAffinityBitMap[0] = (u32)NUMBER("cpus_0", 0x0000000f);
    out->cpuAffinityBitMap[1] = (u32)NUMBER("cpus_1", 0x00000001);
    return OK;
}
API int cndevTopologyGetRelationship(struct card_name *out, int device, int other)
{
    BOARD
    if (at(other) == NOWHERE)
        return NO_BOARD;
    FRESH(out)
    out->id = (int)NUMBER("relation", b == at(other) ? 0 : 4);
    return OK;
}

/* ---- lists: as many as there is room for, else the code and how many there are */

static int asked;
#define ROOM(there) \
    if (*count < (unsigned)(there)) { \
        *count = (unsigned)(there); \
        return TOO_SMALL; \
    }
API int cndevGetProcessInfo(unsigned *count, struct process *out, int device)
{
    BOARD
    CHECK(out)
    /* With "growing", processes come between one call and the next. */
    long long there = NUMBER("processes", 0) + (NUMBER("growing", 0) ? ++asked : 0);
    ROOM(there)
    for (long long n = 0; n < there; n++)
        out[n] = (struct process){0, (u32)(NUMBER("pid", 4242) + n), (ul)NUMBER("process_memory", 15829), 0};
    *count = (unsigned)NUMBER("processes_told", there);
    return OK;
}
#ifndef OLD_DRIVER
CALL(cndevGetMimMode, card_name, out->id = (int)NUMBER("mim", 0);)
CALL(cndevGetSMLUMode, card_name, out->id = (int)NUMBER("smlu", 0);)
API int cndevGetAllMluInstanceInfo(unsigned *count, struct mim_info *out, int device)
{
    BOARD
    CHECK(out)
    unsigned there = (unsigned)NUMBER("mims", 0) & 255;
    ROOM(there)
    for (unsigned n = 0; n < there; n++) {
        char end[8];
        snprintf(end, sizeof end, "%02u", n % 100);
        memset(&out[n], 0, sizeof out[n]);
        out[n].parentDevice = device;
        out[n].instanceId = (int)n + 1;
        out[n].mluCoreCount = (int)NUMBER("mim_cores", 4);
        out[n].memorySize = (int)NUMBER("mim_memory", 8192);
        uuid_of(b, "mim_uuid", end, out[n].uuid);
        TEXT("mim_profile", "1m.8gb", out[n].profileName);
    }
    *count = there;
    return OK;
}
API int cndevGetAllSMluInstanceInfo(unsigned *count, struct smlu_info *out, int device)
{
    BOARD
    CHECK(out)
    unsigned there = (unsigned)NUMBER("smlus", 0) & 255;
    ROOM(there)
    for (unsigned n = 0; n < there; n++) {
        memset(&out[n], 0, sizeof out[n]);
        out[n].instanceId = (int)n + 1;
        out[n].mluQuota[0] = (u32)NUMBER("smlu_quota", 30);
        out[n].memorySize[0] = (ul)NUMBER("smlu_memory", 4LL << 30);
        out[n].memorySize[1] = (ul)NUMBER("smlu_used", 1LL << 30);
        TEXT("smlu_uuid", "", out[n].uuid);
        TEXT("smlu_profile", "30c.4gb", out[n].profileName);
    }
    *count = there;
    return OK;
}
#endif
