/* What dcmi_get_device_info answers: 100 * main command + sub command -> a structure. */
#ifndef ACCELHAL_DCMI_QUERIES_H
#define ACCELHAL_DCMI_QUERIES_H

#include "boards.h"

#define AS(type) \
    struct type *o = out; \
    if (*size < sizeof *o) \
        return PARAMETER; \
    *size = sizeof *o;
#define COUNTERS(out) \
    for (int n = 0; n < 16; n++) { \
        char crc[16], retry[16]; \
        snprintf(crc, sizeof crc, "crc_%d", n); \
        snprintf(retry, sizeof retry, "retry_%d", n); \
        (out)->crc_err_cnt[n] = (u32)NUMBER(crc, 0); \
        (out)->retry_cnt[n] = (u32)NUMBER(retry, 0); \
    } \
    return OK;

static int slice(int b, u32 id, struct vdev_info *info, int use)
{
    long long n = (long long)id - 100 - 16 * b;
    if (n < 0 || n >= NUMBER("vnpus", 0))
        return PARAMETER;
    CLEAR(info);
    TEXT("vnpu", "vir04", info->name);
    if (use) {
        info->computing.vdev_aicore_utilization = (u32)NUMBER("vnpu_utilization", 25);
        info->computing.vdev_memory_total = (u64)NUMBER("vnpu_memory", 12288);
        info->computing.vdev_memory_free = (u64)NUMBER("vnpu_free", 8192);
    } else {
        info->computing.aic = (float)NUMBER("vnpu_cores", 4);
        info->computing.memory_size = (u64)NUMBER("vnpu_memory", 12288);
    }
    return OK;
}
static int query(int b, int command, void *out, u32 *size)
{
    switch (command) {
    case 809: {
        u64 *o = out;
        *o = (u64)NUMBER("reasons", 0);
        return *o == ~0ULL ? NOT_SUPPORTED : OK;
    }
    case 810: { AS(power_info) CLEAR(o); return natural(b, "rated_power", 400000, &o->soc_rated_power); }
    case 1201: {
        AS(spod_info)
        CLEAR(o);
        o->server_index = (u32)NUMBER("server", 0);
        return natural(b, "super_pod", -1, &o->super_pod_id);
    }
    case 1600: { AS(hccs_status) CLEAR(o); o->hdlc_status = (u32)NUMBER("hdlc", 3); return natural(b, "pcs", 0, &o->pcs_status); }
    case 1601: {
        AS(hccs_lanes)
        CLEAR(o);
        for (int n = 0; n < 16; n++) {
            char name[16];
            snprintf(name, sizeof name, "lanes_%d", n);
            o->pcs_lane_bitmap[n] = (u32)NUMBER(name, 0xf);
        }
        return natural(b, "ports", 0xfe, &o->hccs_port_pcs_bitmap);
    }
    case 1603: { AS(hccs_counters) CLEAR(o); COUNTERS(o) }
#ifndef OLD_DRIVER
    case 1605: { AS(hccs_counters_u64) CLEAR(o); COUNTERS(o) }
#endif
    case 5200: { AS(vdev_query) return slice(b, o->vdev_id, &o->query_info, 0); }
    case 5205: { AS(vdev_query) return slice(b, o->vdev_id, &o->query_info, 1); }
    case 5201: {
        AS(soc_total)
        CLEAR(o);
        for (int n = 0; n < NUMBER("vnpus", 0) && n < 32; n++)
            o->vdev_id[n] = (u32)(100 + 16 * b + n);
        o->computing.aic = (float)NUMBER("cores", 20);
        return natural(b, "vnpus", 0, &o->vdev_num);
    }
    case 5501: { AS(pcie_errors) CLEAR(o); return natural(b, "pcie_retries", 0, &o->retry_cnt); }
    case 5600: {
        AS(sio_errors)
        if (chips() != 2)
            return NOT_SUPPORTED;
        CLEAR(o);
        o->tx_error_count = (u16)NUMBER("sio_tx", 0);
        o->rx_error_count = (u16)NUMBER("sio_rx", 0);
        return OK;
    }
    }
    return NOT_SUPPORTED;
}

#endif
