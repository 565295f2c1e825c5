/* A simulated libnvidia-ml.so.1, read by the unmodified nvidia-ml-py. Driven by ../scenario.h.
 *
 * Figures are set under the names that stand in sim_number() and sim_text() below. Build with
 * -DOLD_DRIVER for a driver before release 535: it lacks the names that came with it.
 */
#include <stdint.h>

#include "../scenario.h"

#define API __attribute__((visibility("default")))

enum {
    SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7, VERSION_MISMATCH = 25
};

enum { NVLINKS = 18, SLICES = 7, MIB = 1 << 20 };

typedef struct { int board, slice; } *device_t;   /* slice -1: the whole board */
static struct { int board, slice; } devices[SIM_MAX_BOARDS][SLICES + 1];

typedef struct {
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
} pci_t;
typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory_v2_t;
typedef struct { unsigned gpu, memory; } utilization_t;
typedef struct { unsigned version; int sensor, temperature; } temperature_t;
typedef struct { unsigned pid; unsigned long long used; unsigned gpu, compute; } process_t;
typedef struct {
    unsigned id, scope;
    long long timestamp, latency;
    int type, result;
    union { double real; unsigned natural; unsigned long long large; } value;
} field_t;
typedef struct {
    unsigned multiprocessors, copy, decoder, encoder, jpeg, ofa, gpu_slices, compute_slices;
    unsigned long long memory_mib;
} attributes_t;

typedef struct { unsigned char cluster[16]; int status; unsigned clique; unsigned char state; } fabric_t;
typedef struct {
    unsigned version;
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state;
    unsigned health;
} fabric_v2_t;

_Static_assert(sizeof(fabric_t) == 28 && sizeof(fabric_v2_t) == 36, "");
_Static_assert(sizeof(pci_t) == 68 && sizeof(memory_v2_t) == 40 && sizeof(temperature_t) == 12, "");
_Static_assert(sizeof(process_t) == 24 && sizeof(field_t) == 40 && sizeof(attributes_t) == 40, "");

static int users;

#define ENTER(board) \
    do { \
        int code = sim_gate(board, __func__); \
        if (code) \
            return code; \
        if (!users) \
            return UNINITIALIZED; \
    } while (0)
#define DEVICE(d) \
    do { \
        if (!is_device(d)) \
            return INVALID_ARGUMENT; \
        ENTER((d)->board); \
    } while (0)
#define NUMBER(d, name, otherwise) sim_number((d)->board, name, otherwise)

static int is_device(device_t d)
{
    return (void *)d >= (void *)devices && (void *)d < (void *)(devices + SIM_MAX_BOARDS);
}

static device_t at(int board, int slice)
{
    device_t found = (device_t)&devices[board][slice + 1];
    found->board = board;
    found->slice = slice;
    return found;
}

static int copy(char *out, unsigned length, const char *text)
{
    if (strlen(text) >= length)
        return INSUFFICIENT_SIZE;
    strcpy(out, text);
    return SUCCESS;
}

static int text_of(device_t d, const char *name, const char *otherwise, char *out, unsigned length)
{
    char text[96];
    sim_text(d->board, name, otherwise, text);
    return *text ? copy(out, length, text) : NOT_SUPPORTED;
}

/* -1 stands for a figure that the board does not have. */
static int natural(device_t d, const char *name, long long otherwise, unsigned *out)
{
    long long value = NUMBER(d, name, otherwise);
    *out = (unsigned)value;
    return value == -1 ? NOT_SUPPORTED : SUCCESS;
}

/* ---- the library */

API int nvmlInitWithFlags(unsigned flags)
{
    int code = sim_gate(SIM_NO_BOARD, "init");
    (void)flags;
    users += !code;
    return code;
}
API int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
API int nvmlShutdown(void) { return users ? (users--, SUCCESS) : UNINITIALIZED; }
API const char *nvmlErrorString(int code)
{
    static char text[32];
    snprintf(text, sizeof text, "simulated error %d", code);
    return text;
}
API int nvmlSystemGetDriverVersion(char *out, unsigned length)
{
    char text[96];
    ENTER(SIM_NO_BOARD);
    return copy(out, length, sim_text(SIM_NO_BOARD, "driver", "550.54.15", text));
}
API int nvmlSystemGetNVMLVersion(char *out, unsigned length)
{
    ENTER(SIM_NO_BOARD);
    return copy(out, length, "12.550.54.15");
}
API int nvmlSystemGetCudaDriverVersion(int *out)
{
    ENTER(SIM_NO_BOARD);
    *out = (int)sim_number(SIM_NO_BOARD, "cuda", 12040);
    return SUCCESS;
}
API int nvmlSystemGetCudaDriverVersion_v2(int *out) { return nvmlSystemGetCudaDriverVersion(out); }

/* ---- identity */

API int nvmlDeviceGetCount_v2(unsigned *out)
{
    ENTER(SIM_NO_BOARD);
    *out = (unsigned)sim_boards();
    return SUCCESS;
}
API int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t *out)
{
    ENTER((int)index);
    if (index >= (unsigned)sim_boards())
        return INVALID_ARGUMENT;
    *out = at((int)index, -1);
    return SUCCESS;
}
API int nvmlDeviceGetName(device_t d, char *out, unsigned length)
{
    DEVICE(d);
    return text_of(d, "name", "NVIDIA A100-SXM4-80GB", out, length);
}
API int nvmlDeviceGetUUID(device_t d, char *out, unsigned length)
{
    char made[48];
    DEVICE(d);
    if (d->slice >= 0)
        snprintf(made, sizeof made, "MIG-0000%04x-0000-0000-0000-%012x", d->board, d->slice);
    else
        snprintf(made, sizeof made, "GPU-00000000-0000-0000-0000-%012x", d->board);
    return d->slice >= 0 ? copy(out, length, made) : text_of(d, "uuid", made, out, length);
}
API int nvmlDeviceGetSerial(device_t d, char *out, unsigned length)
{
    DEVICE(d);
    return text_of(d, "serial", "", out, length);
}
API int nvmlDeviceGetBoardPartNumber(device_t d, char *out, unsigned length)
{
    DEVICE(d);
    return text_of(d, "part_number", "692-2G506-0210-002", out, length);
}
API int nvmlDeviceGetVbiosVersion(device_t d, char *out, unsigned length)
{
    DEVICE(d);
    return text_of(d, "vbios", "92.00.45.00.05", out, length);
}
API int nvmlDeviceGetMinorNumber(device_t d, unsigned *out)
{
    DEVICE(d);
    return natural(d, "minor", d->board, out);
}
API int nvmlDeviceGetPciInfo_v3(device_t d, pci_t *out)
{
    DEVICE(d);
    memset(out, 0, sizeof *out);
    out->domain = (unsigned)NUMBER(d, "domain", 0);
    out->bus = (unsigned)NUMBER(d, "bus", 0x10 + d->board);
    out->device_id = 0x20b210de;
    snprintf(out->legacy_id, sizeof out->legacy_id, "%04X:%02X:00.0", out->domain & 0xffff, out->bus & 0xff);
    snprintf(out->id, sizeof out->id, "%08X:%02X:00.0", out->domain, out->bus & 0xff);
    return SUCCESS;
}

/* ---- memory and sensors */

API int nvmlDeviceGetMemoryInfo(device_t d, memory_t *out)
{
    DEVICE(d);
    out->total = (unsigned long long)NUMBER(d, "memory_total", 80LL << 30);
    out->used = (unsigned long long)(NUMBER(d, "memory_used", 1LL << 30) + NUMBER(d, "memory_reserved", 869LL * MIB));
    out->free = out->total - out->used;
    return SUCCESS;
}
#ifndef OLD_DRIVER
API int nvmlDeviceGetMemoryInfo_v2(device_t d, memory_v2_t *out)
{
    DEVICE(d);
    if (out->version != (2u << 24 | sizeof *out))
        return VERSION_MISMATCH;
    out->total = (unsigned long long)NUMBER(d, "memory_total", d->slice < 0 ? 80LL << 30 : 20LL << 30);
    out->used = (unsigned long long)NUMBER(d, "memory_used", 1LL << 30);
    out->reserved = (unsigned long long)NUMBER(d, "memory_reserved", 869LL * MIB);
    out->free = out->total - out->used - out->reserved;
    return SUCCESS;
}
#endif
API int nvmlDeviceGetUtilizationRates(device_t d, utilization_t *out)
{
    DEVICE(d);
    if (NUMBER(d, "mig", -1) == 1)
        return NOT_SUPPORTED;
    out->gpu = (unsigned)NUMBER(d, "utilization", 40);
    out->memory = (unsigned)NUMBER(d, "memory_utilization", 20);
    return SUCCESS;
}
API int nvmlDeviceGetTemperature(device_t d, int sensor, unsigned *out)
{
    DEVICE(d);
    return sensor ? INVALID_ARGUMENT : natural(d, "temperature", 50, out);
}
#ifndef OLD_DRIVER
API int nvmlDeviceGetTemperatureV(device_t d, temperature_t *out)
{
    DEVICE(d);
    if (out->version != (1u << 24 | sizeof *out))
        return VERSION_MISMATCH;
    return natural(d, "temperature", 50, (unsigned *)&out->temperature);
}
#endif
API int nvmlDeviceGetTemperatureThreshold(device_t d, int kind, unsigned *out)
{
    DEVICE(d);
    if (kind > 1)
        return NOT_SUPPORTED;
    return natural(d, kind ? "slowdown" : "shutdown", kind ? 89 : 92, out);
}
API int nvmlDeviceGetPowerUsage(device_t d, unsigned *out) { DEVICE(d); return natural(d, "power", 67030, out); }
API int nvmlDeviceGetEnforcedPowerLimit(device_t d, unsigned *out) { DEVICE(d); return natural(d, "power_limit", 400000, out); }
API int nvmlDeviceGetPowerManagementDefaultLimit(device_t d, unsigned *out) { DEVICE(d); return natural(d, "power_default", 400000, out); }
API int nvmlDeviceGetClockInfo(device_t d, int kind, unsigned *out)
{
    DEVICE(d);
    return natural(d, kind == 2 ? "memory_clock" : "clock", kind == 2 ? 1593 : 1410, out);
}
API int nvmlDeviceGetMaxClockInfo(device_t d, int kind, unsigned *out)
{
    DEVICE(d);
    return natural(d, kind == 2 ? "max_memory_clock" : "max_clock", kind == 2 ? 1593 : 1410, out);
}
static int reasons(device_t d, unsigned long long *out)
{
    *out = (unsigned long long)NUMBER(d, "reasons", 0);
    return SUCCESS;
}
#ifndef OLD_DRIVER
API int nvmlDeviceGetCurrentClocksEventReasons(device_t d, unsigned long long *out) { DEVICE(d); return reasons(d, out); }
#endif
API int nvmlDeviceGetCurrentClocksThrottleReasons(device_t d, unsigned long long *out) { DEVICE(d); return reasons(d, out); }
API int nvmlDeviceGetFieldValues(device_t d, int count, field_t *fields)
{
    DEVICE(d);
    for (int n = 0; n < count; n++) {
        field_t *f = &fields[n];
        char name[32];
        snprintf(name, sizeof name, "field_%u", f->id);
        f->value.large = (unsigned long long)NUMBER(d, name, -1);
        f->type = 1;
        f->result = f->value.large == ~0ULL ? NOT_SUPPORTED : SUCCESS;
    }
    return SUCCESS;
}

/* ---- states */

API int nvmlDeviceGetPersistenceMode(device_t d, unsigned *out) { DEVICE(d); return natural(d, "persistence", 1, out); }
API int nvmlDeviceGetComputeMode(device_t d, unsigned *out) { DEVICE(d); return natural(d, "compute_mode", 0, out); }
API int nvmlDeviceGetEccMode(device_t d, unsigned *now, unsigned *pending)
{
    DEVICE(d);
    *pending = 1;
    return natural(d, "ecc", 1, now);
}
API int nvmlDeviceGetTotalEccErrors(device_t d, int kind, int counter, unsigned long long *out)
{
    static const char *names[2][2] = {{"corrected", "corrected_total"}, {"uncorrected", "uncorrected_total"}};
    long long value;
    DEVICE(d);
    if (kind < 0 || kind > 1 || counter < 0 || counter > 1)
        return INVALID_ARGUMENT;
    value = NUMBER(d, names[kind][counter], 0);
    *out = (unsigned long long)value;
    return value == -1 ? NOT_SUPPORTED : SUCCESS;
}
API int nvmlDeviceGetRemappedRows(device_t d, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed)
{
    DEVICE(d);
    *uncorrected = (unsigned)NUMBER(d, "rows_uncorrected", 0);
    *pending = (unsigned)NUMBER(d, "rows_pending", 0);
    *failed = (unsigned)NUMBER(d, "rows_failed", 0);
    return natural(d, "rows_corrected", 0, corrected);
}
API int nvmlDeviceGetRetiredPages(device_t d, int cause, unsigned *count, unsigned long long *addresses)
{
    unsigned pages;
    DEVICE(d);
    (void)addresses;
    if (natural(d, cause ? "pages_double" : "pages_single", -1, &pages))
        return NOT_SUPPORTED;
    if (*count < pages) {
        *count = pages;
        return INSUFFICIENT_SIZE;
    }
    *count = pages;
    for (unsigned n = 0; n < pages; n++)
        addresses[n] = n;
    return SUCCESS;
}
API int nvmlDeviceGetRetiredPagesPendingStatus(device_t d, unsigned *out) { DEVICE(d); return natural(d, "pages_pending", -1, out); }

/* ---- links and places */

API int nvmlDeviceGetCurrPcieLinkGeneration(device_t d, unsigned *out) { DEVICE(d); return natural(d, "pcie_generation", 4, out); }
API int nvmlDeviceGetMaxPcieLinkGeneration(device_t d, unsigned *out) { DEVICE(d); return natural(d, "pcie_max_generation", 4, out); }
API int nvmlDeviceGetCurrPcieLinkWidth(device_t d, unsigned *out) { DEVICE(d); return natural(d, "pcie_width", 16, out); }
API int nvmlDeviceGetMaxPcieLinkWidth(device_t d, unsigned *out) { DEVICE(d); return natural(d, "pcie_max_width", 16, out); }
API int nvmlDeviceGetPcieReplayCounter(device_t d, unsigned *out) { DEVICE(d); return natural(d, "replays", 0, out); }
API int nvmlDeviceGetPcieThroughput(device_t d, int counter, unsigned *out)
{
    DEVICE(d);
    return natural(d, counter ? "pcie_rx" : "pcie_tx", counter ? 2000 : 1000, out);
}
static int link_figure(device_t d, unsigned number, const char *what, long long otherwise, unsigned *out)
{
    char name[48];
    if (number >= NVLINKS)
        return INVALID_ARGUMENT;
    if (number >= (unsigned)NUMBER(d, "links", 0))
        return NOT_SUPPORTED;
    snprintf(name, sizeof name, "link_%u_%s", number, what);
    return natural(d, name, otherwise, out);
}
API int nvmlDeviceGetNvLinkState(device_t d, unsigned number, unsigned *out) { DEVICE(d); return link_figure(d, number, "up", 1, out); }
API int nvmlDeviceGetNvLinkVersion(device_t d, unsigned number, unsigned *out) { DEVICE(d); return link_figure(d, number, "version", 3, out); }
API int nvmlDeviceGetNvLinkErrorCounter(device_t d, unsigned number, int counter, unsigned long long *out)
{
    static const char *names[] = {"replay", "recovery", "crc_flit", "crc_data"};
    unsigned value;
    int code;
    DEVICE(d);
    if (counter < 0 || counter > 3)
        return NOT_SUPPORTED;
    code = link_figure(d, number, names[counter], 0, &value);
    *out = value;
    return code;
}
API int nvmlDeviceGetNvLinkRemotePciInfo_v2(device_t d, unsigned number, pci_t *out)
{
    unsigned peer;
    int code;
    DEVICE(d);
    code = link_figure(d, number, "peer", -1, &peer);
    return code ? code : peer >= (unsigned)sim_boards() ? NOT_FOUND : nvmlDeviceGetPciInfo_v3(at((int)peer, -1), out);
}
API int nvmlDeviceGetTopologyCommonAncestor(device_t d, device_t other, int *out)
{
    char name[32];
    DEVICE(d);
    snprintf(name, sizeof name, "ancestor_%d", other->board);
    *out = (int)NUMBER(d, name, 50);
    return *out < 0 ? NOT_SUPPORTED : SUCCESS;
}
API int nvmlDeviceGetP2PStatus(device_t d, device_t other, int kind, int *out)
{
    DEVICE(d);
    (void)other;
    *out = kind == 2 && NUMBER(d, "links", 0) ? 0 : 5;
    return SUCCESS;
}
static int affinity(device_t d, const char *name, unsigned words, unsigned long *out)
{
    unsigned value;
    memset(out, 0, words * sizeof *out);
    if (natural(d, name, 1, &value))
        return NOT_SUPPORTED;
    if (words)
        out[0] = value;
    return SUCCESS;
}
API int nvmlDeviceGetMemoryAffinity(device_t d, unsigned words, unsigned long *out, unsigned scope)
{
    DEVICE(d);
    (void)scope;
    return affinity(d, "memory_affinity", words, out);
}
API int nvmlDeviceGetCpuAffinity(device_t d, unsigned words, unsigned long *out)
{
    DEVICE(d);
    return affinity(d, "cpu_affinity", words, out);
}

API int nvmlDeviceGetGpuFabricInfo(device_t d, fabric_t *out)
{
    DEVICE(d);
    memset(out, 0, sizeof *out);
    out->state = (unsigned char)NUMBER(d, "fabric", 0);
    out->status = (int)NUMBER(d, "fabric_status", 0);
    return SUCCESS;
}
#ifndef OLD_DRIVER
API int nvmlDeviceGetGpuFabricInfoV(device_t d, fabric_v2_t *out)
{
    DEVICE(d);
    if (out->version != (2u << 24 | sizeof *out))
        return VERSION_MISMATCH;
    out->state = (unsigned char)NUMBER(d, "fabric", 0);
    out->status = (int)NUMBER(d, "fabric_status", 0);
    return SUCCESS;
}
#endif

/* ---- processes and slices */

API int nvmlDeviceGetComputeRunningProcesses_v3(device_t d, unsigned *count, process_t *out)
{
    unsigned there;
    DEVICE(d);
    there = (unsigned)NUMBER(d, "processes", 0);
    if (*count < there) {
        *count = there;
        return INSUFFICIENT_SIZE;
    }
    *count = there;
    for (unsigned n = 0; n < there; n++)
        out[n] = (process_t){4242 + n, (unsigned long long)NUMBER(d, "process_memory", 512 * MIB), ~0u, ~0u};
    return SUCCESS;
}
API int nvmlDeviceGetComputeRunningProcesses_v2(device_t d, unsigned *count, process_t *out)
{
    return nvmlDeviceGetComputeRunningProcesses_v3(d, count, out);
}
API int nvmlDeviceGetMigMode(device_t d, unsigned *now, unsigned *pending)
{
    DEVICE(d);
    *pending = 0;
    return natural(d, "mig", -1, now);
}
API int nvmlDeviceGetMaxMigDeviceCount(device_t d, unsigned *out)
{
    DEVICE(d);
    *out = SLICES;
    return SUCCESS;
}
API int nvmlDeviceGetMigDeviceHandleByIndex(device_t d, unsigned index, device_t *out)
{
    DEVICE(d);
    if (index >= SLICES)
        return INVALID_ARGUMENT;
    if (index >= (unsigned)NUMBER(d, "slices", 0))
        return NOT_FOUND;
    *out = at(d->board, (int)index);
    return SUCCESS;
}
API int nvmlDeviceGetGpuInstanceId(device_t d, unsigned *out)
{
    DEVICE(d);
    *out = (unsigned)d->slice + 1;
    return d->slice < 0 ? NOT_SUPPORTED : SUCCESS;
}
API int nvmlDeviceGetComputeInstanceId(device_t d, unsigned *out)
{
    DEVICE(d);
    *out = 0;
    return d->slice < 0 ? NOT_SUPPORTED : SUCCESS;
}
API int nvmlDeviceGetAttributes_v2(device_t d, attributes_t *out)
{
    DEVICE(d);
    if (d->slice < 0)
        return NOT_SUPPORTED;
    *out = (attributes_t){.multiprocessors = 28, .gpu_slices = 2, .compute_slices = 2, .memory_mib = 20 << 10};
    return SUCCESS;
}
