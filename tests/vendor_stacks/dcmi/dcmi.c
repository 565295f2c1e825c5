/* A simulated libdcmi.so, driven by ../scenario.h.
 *
 * A board of the scenario is a chip: with `set * chips 2` boards 0 and 1 are the chips of card 0,
 * and each card's next number is its MCU. Card numbers have gaps. Figures are set under the names
 * that stand in NUMBER() and TEXT() below, in the units of DCMI; -1 is a figure that is not there.
 * `set * v2 1` makes the boards Ascend 950, which answer only the dcmiv2_ calls. `set * grown 1`
 * is a later driver that writes 64 bytes more into every structure. Build with -DOLD_DRIVER for one
 * that lacks the names and fields that came after CANN 8.1.
 */
#include "boards.h"
#include "queries.h"

/* ---- the library */

API int dcmi_init(void)
{
    int code = sim_gate(SIM_NO_BOARD, "dcmi_init");
    if (!code && setting("v2", 0))
        code = NOT_SUPPORTED;
    started |= !code;
    return code;
}
static int version(const char *name, char *out, unsigned length)
{
    char text[96];
    sim_text(SIM_NO_BOARD, name, "25.0.rc1", text);
    if (strlen(text) >= length)
        return PARAMETER;
    strcpy(out, text);
    return OK;
}
API int dcmi_get_driver_version(char *out, unsigned length) { GATE(SIM_NO_BOARD, 0) return version("driver", out, length); }
API int dcmi_get_dcmi_version(char *out, unsigned length) { GATE(SIM_NO_BOARD, 0) return version("library", out, length); }
API int dcmi_get_driver_health(u32 *out) { GATE(SIM_NO_BOARD, 0) return natural(SIM_NO_BOARD, "driver_health", 0, out); }

static int list(int *count, int *out, int length, int there)
{
    *count = setting("listed", there);
    for (int n = 0; n < there && n < length; n++)
        out[n] = card_number(n);
    return OK;
}
API int dcmi_get_card_num_list(int *count, int *out, int length) { GATE(SIM_NO_BOARD, 0) return list(count, out, length, cards()); }
#ifndef OLD_DRIVER
API int dcmi_get_card_list(int *count, int *out, int length) { GATE(SIM_NO_BOARD, 0) return list(count, out, length, cards()); }
API int dcmiv2_init(void)
{
    int code = sim_gate(SIM_NO_BOARD, "dcmiv2_init");
    if (!code && !setting("v2", 0))
        code = NOT_SUPPORTED;
    started |= !code;
    return code;
}
API int dcmiv2_get_driver_version(char *out, unsigned length) { GATE(SIM_NO_BOARD, 1) return version("driver", out, length); }
API int dcmiv2_get_dcmi_version(char *out, unsigned length) { GATE(SIM_NO_BOARD, 1) return version("library", out, length); }
API int dcmiv2_get_driver_health(u32 *out) { GATE(SIM_NO_BOARD, 1) return natural(SIM_NO_BOARD, "driver_health", 0, out); }
API int dcmiv2_get_device_list(int *out, int *count, int length) { GATE(SIM_NO_BOARD, 1) return list(count, out, length, sim_boards()); }
#endif

/* ---- identity */

API int dcmi_get_device_num_in_card(int card, int *out)
{
    int b = at(card, 0);
    BOARD(b, 0)
    *out = (int)NUMBER("chips_told", chips());
    return OK;
}
API int dcmi_get_device_id_in_card(int card, int *count, int *mcu, int *cpu)
{
    int b = at(card, 0);
    BOARD(b, 0)
    *count = chips();
    *mcu = (int)NUMBER("mcu", chips());
    *cpu = -1;
    return OK;
}
API int dcmi_get_device_type(int card, int chip, int *out)
{
    int b = at(card, chip);
    GATE(b, 0)
    if (b == NOWHERE)
        return NO_DEVICE;
    *out = b == MCU;
    return OK;
}
V2(get_device_type, (int *out), *out = 0; return OK;)
API int dcmi_get_device_logic_id(int *out, int card, int chip)
{
    int b = at(card, chip);
    BOARD(b, 0)
    return natural(b, "logic", b, out);
}
static int with_logic_id(unsigned logic)
{
    for (int b = 0; b < sim_boards(); b++)
        if ((unsigned)NUMBER("logic", b) == logic)
            return b;
    return NOWHERE;
}
API int dcmi_get_device_phyid_from_logicid(unsigned logic, u32 *out)
{
    int b = with_logic_id(logic);
    BOARD(b, 0)
    return natural(b, "physical", b, out);
}
V2(get_chip_phy_id_by_dev_id, (u32 *out), return natural(b, "physical", b, out);)

#define CHIP_FIELDS \
    CLEAR(out); \
    TEXT("chip_type", "Ascend", out->chip_type); \
    TEXT("chip_name", "910B3", out->chip_name); \
    out->aicore_cnt = 20;
V1(get_device_chip_info, (struct chip_info *out), CHIP_FIELDS return OK;)
#ifndef OLD_DRIVER
V1(get_device_chip_info_v2, (struct chip_info_v2 *out), CHIP_FIELDS TEXT("npu_name", "910B3", out->npu_name); return OK;)
#endif
V2(get_device_chip_info, (struct chip_info_v2 *out), CHIP_FIELDS TEXT("npu_name", "", out->npu_name); return OK;)

#define PCI_FIELDS \
    if (NUMBER("bus", 0) == -1) \
        return NOT_SUPPORTED; \
    CLEAR(out); \
    out->venderid = 0x19e5; \
    out->deviceid = 0xd802; \
    out->bdf_busid = (u32)NUMBER("bus", 0x10 + b); \
    out->bdf_deviceid = (u32)NUMBER("device", 0); \
    out->bdf_funcid = (u32)NUMBER("function", 0);
V1(get_device_pcie_info, (struct pcie_info *out), PCI_FIELDS return OK;)
#ifndef OLD_DRIVER
V1(get_device_pcie_info_v2, (struct pcie_info_all *out), PCI_FIELDS out->domain = (int)NUMBER("domain", 0); return OK;)
#endif
V2(get_device_pcie_info, (struct pcie_info_all *out), PCI_FIELDS out->domain = (int)NUMBER("domain", 0); return OK;)

BOTH(get_device_board_info, (struct board_info *out),
    CLEAR(out);
    out->slot_id = (u32)b;
    return natural(b, "board_id", 0x28, &out->board_id);
)
#define LABEL \
    CLEAR(out); \
    TEXT("product", "Atlas", out->product_name); \
    TEXT("model", "", out->model); \
    TEXT("serial", "", out->serial_number); \
    return OK;
API int dcmi_get_card_elabel_v2(int card, struct elabel *out)
{
    int b = at(card, 0);
    BOARD(b, 0)
    LABEL
}
BOTH(get_device_elabel_info, (struct elabel *out), LABEL)

#define DIE \
    if (NUMBER("die", 0) == -1) \
        return NOT_SUPPORTED; \
    CLEAR(out); \
    out->soc_die[0] = (u32)type; \
    out->soc_die[4] = (u32)NUMBER("die", 0x100 + b); \
    if (NUMBER("die_all", -1) != -1) \
        memset(out->soc_die, (int)NUMBER("die_all", 0), sizeof out->soc_die); \
    return OK;
V1(get_device_die_v2, (int type, struct die_id *out), if (type > 1) return PARAMETER; DIE)
V2(get_device_die_id, (int type, struct die_id *out), DIE)

BOTH(get_device_component_static_version, (int type, char *out, unsigned length),
    char text[96];
    if (type || length < 64)
        return PARAMETER;
    strcpy(out, sim_text(b, "firmware", "7.7.0.1.238", text));
    return OK;
)

/* ---- memory and sensors */

BOTH(get_device_hbm_info, (struct hbm_info *out),
    if (NUMBER("hbm_total", 0) == -1)
        return NOT_SUPPORTED;
    CLEAR(out);
    out->memory_size = (u64)NUMBER("hbm_total", 65536);
    out->memory_usage = (u64)NUMBER("hbm_used", 3130);
    out->freq = (u32)NUMBER("hbm_clock", 1600);
    out->temp = (int)NUMBER("hbm_temperature", 41);
    out->bandwith_util_rate = (u32)NUMBER("hbm_bandwidth", 3);
    return OK;
)
V1(get_device_memory_info_v3, (struct memory_info *out),
    if (NUMBER("ddr_total", -1) == -1)
        return NOT_SUPPORTED;
    CLEAR(out);
    out->memory_size = (u64)NUMBER("ddr_total", 0);
    out->memory_available = (u64)NUMBER("ddr_available", 0);
    out->freq = (u32)NUMBER("ddr_clock", 4266);
    return OK;
)
BOTH(get_device_ecc_info, (int type, struct ecc_info *out),
    if (type != (int)NUMBER("ecc_memory", 2))
        return NOT_SUPPORTED;
    CLEAR(out);
    out->enable_flag = (int)NUMBER("ecc", 1);
    out->single_bit_error_cnt = (u32)NUMBER("single", 0);
    out->double_bit_error_cnt = (u32)NUMBER("double", 0);
    out->total_single_bit_error_cnt = (u32)NUMBER("total_single", 0);
    out->total_double_bit_error_cnt = (u32)NUMBER("total_double", 0);
    out->single_bit_isolated_pages_cnt = (u32)NUMBER("isolated_single", 0);
    out->double_bit_isolated_pages_cnt = (u32)NUMBER("isolated_double", 0);
    if (sizeof *out > 28) {
        ((u32 *)out)[7] = (u32)NUMBER("next_single", 0);
        ((u32 *)out)[8] = (u32)NUMBER("next_double", 0);
    }
    return OK;
)
BOTH(get_device_temperature, (int *out), return natural(b, "temperature", 45, out);)
BOTH(get_device_power_info, (int *out), return natural(b, "power", 1573, out);)
API int dcmi_mcu_get_power_info(int card, int *out)
{
    int b = at(card, 0);
    BOARD(b, 0)
    return natural(b, "mcu_power", -1, out);
}
BOTH(get_device_sensor_info, (int sensor, union sensor_info *out),
    if (sensor != 9 || NUMBER("slowdown", -1) == -1)
        return NO_DEVICE;
    CLEAR(out);
    out->temp[0] = (signed char)NUMBER("slowdown", 0);
    out->temp[1] = (signed char)NUMBER("shutdown", 0);
    return OK;
)
BOTH(get_device_frequency, (int kind, u32 *out),
    return kind == 7 ? natural(b, "clock", 1800, out) : kind == 9 ? natural(b, "max_clock", 1850, out) :
        kind == 6 ? natural(b, "hbm_clock", 1600, out) : kind == 1 ? natural(b, "ddr_clock", -1, out) : PARAMETER;
)
BOTH(get_device_utilization_rate, (int kind, u32 *out),
    char name[32];
    snprintf(name, sizeof name, "utilization_%d", kind);
    return natural(b, name, kind == 2 ? 37 : kind == 13 ? 38 : -1, out);
)
#ifndef OLD_DRIVER
BOTH(get_device_multi_utilization_rate, (struct multi_utilization *out),
    if (NUMBER("chip_utilization", -1) == -1)
        return NOT_SUPPORTED;
    CLEAR(out);
    return natural(b, "chip_utilization", 0, &out->npu_util);
)
#endif

/* ---- states */

BOTH(get_device_health, (u32 *out), return natural(b, "health", 0, out);)
#define FAULTS \
    *count = (int)NUMBER("faults", 0); \
    for (int n = 0; n < *count && n < (int)length; n++) { \
        char name[32]; \
        snprintf(name, sizeof name, "fault_%d", n); \
        codes[n] = (u32)NUMBER(name, 0x80E01801); \
    } \
    return OK;
V1(get_device_errorcode_v2, (int *count, u32 *codes, unsigned length), FAULTS)
V2(get_device_error_code_list, (int *count, u32 *codes, unsigned length), FAULTS)
#define FAULT_TEXT \
    char text[96]; \
    if (length < 48) \
        abort();   /* as the real one faults */ \
    snprintf(out, (size_t)length, "0x%08X %s", fault, sim_text(b, "fault_text", "multi-bit error", text)); \
    return OK;
V1(get_device_errorcode_string, (unsigned fault, char *out, int length), FAULT_TEXT)
V2(get_device_error_info, (unsigned fault, char *out, int length), FAULT_TEXT)

#define PROCESSES \
    *count = (int)NUMBER("processes", 0); \
    for (int n = 0; n < *count && n < 96; n++)   /* there is no length to keep to */ \
        out[n] = (struct proc_mem){(int)NUMBER("pid", 4242) + n, (unsigned long)NUMBER("process_memory", 512LL << 20)}; \
    return OK;
V1(get_device_resource_info, (struct proc_mem *out, int *count), PROCESSES)
V2(get_device_proc_mem_info, (struct proc_mem *out, int *count), PROCESSES)

/* ---- places */

static int topology(int b, int other, int *out)
{
    char name[32];
    if (other == NOWHERE || other == MCU)
        return NO_DEVICE;
    snprintf(name, sizeof name, "topology_%d", other);
    *out = (int)NUMBER(name, chips() == 2 && b / 2 == other / 2 ? 6 : 3);
    return *out == -1 ? NOT_SUPPORTED : OK;
}
V1(get_topo_info_by_device_id, (int card2, int chip2, int *out), return topology(b, at(card2, chip2), out);)
V2(get_topo_info_by_device_id, (int id2, int *out), return topology(b, at_v2(id2), out);)

#define CPUS \
    char cpus[96]; \
    sim_text(b, "cpus", "0-3,8", cpus); \
    if (!strcmp(cpus, "-1")) \
        return NOT_SUPPORTED; \
    cpus[31] = 0; \
    strcpy(out, cpus); \
    *length = (int)strlen(out); \
    return OK;
V1(get_affinity_cpu_info_by_device_id, (char *out, int *length), CPUS)
V2(get_affinity_cpu_info_by_dev_id, (char *out, int *length), CPUS)
V2(get_ub_port_link_status, (struct ub_ports *out),
    CLEAR(out);
    for (int n = 0; n < 36; n++) {
        char name[32];
        snprintf(name, sizeof name, "ub_%d", n);
        out->ub_port_status[n] = (int)NUMBER(name, 1);
    }
    return natural(b, "ub", 1, &out->ub_link_status);
)

/* ---- queries by number */

BOTH(get_device_info, (int command, unsigned part, void *out, u32 *size),
    char name[48];
    snprintf(name, sizeof name, "info_%d_%u", command, part);
    code = sim_gate(b, name);
    return code ? code : query(b, 100 * command + (int)part, out, size);
)

/* ---- calls that block: a measuring window, or a board that fell off the bus */

BOTH(get_device_network_health, (int *out), blocking++; *out = 0; return OK;)
BOTH(get_pcie_link_bandwidth_info, (void *out), (void)out; blocking++; return TIMEOUT;)
V1(get_hccs_link_bandwidth_info, (void *out), (void)out; blocking++; return TIMEOUT;)
