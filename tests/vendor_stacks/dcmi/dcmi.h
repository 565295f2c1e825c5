/* Structures of libdcmi.so as its driver header lays them out; the simulated library fills them in,
 * and a test has the compiler tell where each field stands. */
#ifndef ACCELHAL_DCMI_H
#define ACCELHAL_DCMI_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

struct chip_info { u8 chip_type[32], chip_name[32], chip_ver[32]; u32 aicore_cnt; };
struct chip_info_v2 { u8 chip_type[32], chip_name[32], chip_ver[32]; u32 aicore_cnt; u8 npu_name[32]; };
struct pcie_info { u32 deviceid, venderid, subvenderid, subdeviceid, bdf_deviceid, bdf_busid, bdf_funcid; };
struct pcie_info_all {
    u32 venderid, subvenderid, deviceid, subdeviceid;
    int domain;
    u32 bdf_busid, bdf_deviceid, bdf_funcid;
    u8 reserve[32];
};
struct board_info { u32 board_id, pcb_id, bom_id, slot_id; };
struct elabel { char product_name[256], model[256], manufacturer[256], manufacturer_date[256], serial_number[256]; };
struct die_id { u32 soc_die[5]; };
struct hbm_info { u64 memory_size; u32 freq; u64 memory_usage; int temp; u32 bandwith_util_rate; };
struct memory_info {
    u64 memory_size, memory_available;
    u32 freq;
    unsigned long hugepagesize, hugepages_total, hugepages_free;
    u32 utiliza;
    u8 reserve[60];
};
struct multi_utilization { u32 aic_util, aiv_util, aicore_util, npu_util, reserved[8]; };
struct ecc_info {
    int enable_flag;
    u32 single_bit_error_cnt, double_bit_error_cnt, total_single_bit_error_cnt, total_double_bit_error_cnt;
    u32 single_bit_isolated_pages_cnt, double_bit_isolated_pages_cnt;
#ifndef OLD_DRIVER
    u32 single_bit_next_isolated_pages_cnt, double_bit_next_isolated_pages_cnt;
#endif
};
struct proc_mem { int proc_id; unsigned long proc_mem_usage; };
union sensor_info { u8 uchar; u16 ushort; u32 uint; int iint; signed char temp[2]; int ntc_tmp[4]; u32 data[16]; };
struct power_info { u32 soc_rated_power; u8 reserved[32]; };
struct pcie_errors { u32 tx_err_cnt, rx_err_cnt, lcrc_err_cnt, ecrc_err_cnt, retry_cnt, rsv[32]; };
struct hccs_status { u32 pcs_status, hdlc_status; u8 reserve[4]; };
struct hccs_lanes { u32 hccs_port_pcs_bitmap, pcs_lane_bitmap[16], reserve[16]; };
struct hccs_counters { u32 tx_cnt[16], rx_cnt[16], crc_err_cnt[16], retry_cnt[16], reserved_field_cnt[64]; };
struct hccs_counters_u64 { u64 tx_cnt[16], rx_cnt[16], crc_err_cnt[16], retry_cnt[16], reserved[64]; };
struct sio_errors { u16 tx_error_count, rx_error_count; u8 reserved[8]; };
struct ub_ports { int ub_link_status, ub_port_status[36]; };
struct spod_info { u32 sdid, super_pod_size, super_pod_id, server_index, chassis_id, super_pod_type, reserve[6]; };
struct base_resource { u64 token, token_max, task_timeout; u32 vfg_id; u8 vip_mode, reserved[31]; };
struct computing_resource {
    float aic, aiv;
    u16 dsa, rtsq, acsq, cdqm, c_core, ffts, sdma, pcie_dma;
    u64 memory_size;
    u32 event_id, notify_id, stream_id, model_id;
    u16 topic_schedule_aicpu, host_ctrl_cpu, host_aicpu, device_aicpu, topic_ctrl_cpu_slot;
    u32 vdev_aicore_utilization;
    u64 vdev_memory_total, vdev_memory_free;
    u8 reserved[12];
};
struct media_resource { float jpegd, jpege, vpc, vdec, pngd, venc; u8 reserved[32]; };
struct vdev_info {
    char name[16];
    u32 status, is_container_used, vfid, vfg_id;
    u64 container_id;
    struct base_resource base;
    struct computing_resource computing;
    struct media_resource media;
};
struct vdev_query { u32 vdev_id; struct vdev_info query_info; };
struct soc_total {
    u32 vdev_num, vdev_id[32], vfg_num, vfg_bitmap;
    struct base_resource base;
    struct computing_resource computing;
    struct media_resource media;
};

#endif
