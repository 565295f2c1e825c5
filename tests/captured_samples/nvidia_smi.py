# ruff: noqa: E501, W291
"""nvidia-smi's output of several releases, written after those seen; all values are made up."""

from __future__ import annotations

from captured_samples import reading

SUMS = reading.SUMS | {"corrected", "uncorrected", "corrected_total", "uncorrected_total"}
"""Errors are counted by kinds of memory."""

FIRST = "GPU-00000001-aaaa-bbbb-cccc-000000000001"
SECOND = "GPU-00000002-aaaa-bbbb-cccc-000000000002"
FIRST_SLICE = "MIG-00000003-aaaa-bbbb-cccc-000000000003"
SECOND_SLICE = "MIG-00000004-aaaa-bbbb-cccc-000000000004"

XML_11 = f"""\
<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v11.dtd">
<nvidia_smi_log>
	<timestamp>Thu Jan  1 00:00:00 2026</timestamp>
	<driver_version>515.99.01</driver_version>
	<cuda_version>11.7</cuda_version>
	<attached_gpus>1</attached_gpus>
	<gpu id="00000000:0A:00.0">
		<product_name>Toy T9</product_name>
		<persistence_mode>Enabled</persistence_mode>
		<mig_mode>
			<current_mig>N/A</current_mig>
		</mig_mode>
		<mig_devices>
			None
		</mig_devices>
		<serial>0000000000001</serial>
		<uuid>{FIRST}</uuid>
		<minor_number>0</minor_number>
		<vbios_version>90.04.38.00.03</vbios_version>
		<pci>
			<pci_gpu_link_info>
				<pcie_gen>
					<max_link_gen>3</max_link_gen>
					<current_link_gen>1</current_link_gen>
				</pcie_gen>
				<link_widths>
					<max_link_width>16x</max_link_width>
					<current_link_width>8x</current_link_width>
				</link_widths>
			</pci_gpu_link_info>
			<replay_counter>7</replay_counter>
			<tx_util>2000 KB/s</tx_util>
			<rx_util>3000 KB/s</rx_util>
		</pci>
		<clocks_throttle_reasons>
			<clocks_throttle_reason_gpu_idle>Active</clocks_throttle_reason_gpu_idle>
			<clocks_throttle_reason_sw_power_cap>Not Active</clocks_throttle_reason_sw_power_cap>
			<clocks_throttle_reason_hw_slowdown>Not Active</clocks_throttle_reason_hw_slowdown>
		</clocks_throttle_reasons>
		<fb_memory_usage>
			<total>15360 MiB</total>
			<used>2048 MiB</used>
		</fb_memory_usage>
		<compute_mode>Exclusive_Process</compute_mode>
		<utilization>
			<gpu_util>11 %</gpu_util>
			<memory_util>3 %</memory_util>
		</utilization>
		<ecc_mode>
			<current_ecc>Enabled</current_ecc>
		</ecc_mode>
		<ecc_errors>
			<volatile>
				<sram_correctable>1</sram_correctable>
				<sram_uncorrectable>0</sram_uncorrectable>
				<dram_correctable>2</dram_correctable>
				<dram_uncorrectable>0</dram_uncorrectable>
			</volatile>
			<aggregate>
				<sram_correctable>1</sram_correctable>
				<sram_uncorrectable>N/A</sram_uncorrectable>
				<dram_correctable>8</dram_correctable>
				<dram_uncorrectable>4</dram_uncorrectable>
			</aggregate>
		</ecc_errors>
		<retired_pages>
			<multiple_single_bit_retirement>
				<retired_count>2</retired_count>
				<retired_pagelist>
				</retired_pagelist>
			</multiple_single_bit_retirement>
			<double_bit_retirement>
				<retired_count>3</retired_count>
			</double_bit_retirement>
			<pending_blacklist>No</pending_blacklist>
			<pending_retirement>Yes</pending_retirement>
		</retired_pages>
		<remapped_rows>N/A</remapped_rows>
		<temperature>
			<gpu_temp>40 C</gpu_temp>
			<gpu_temp_max_threshold>96 C</gpu_temp_max_threshold>
			<gpu_temp_slow_threshold>93 C</gpu_temp_slow_threshold>
			<memory_temp>N/A</memory_temp>
		</temperature>
		<power_readings>
			<power_draw>27.50 W</power_draw>
			<power_limit>65.00 W</power_limit>
			<default_power_limit>70.00 W</default_power_limit>
			<enforced_power_limit>60.00 W</enforced_power_limit>
		</power_readings>
		<clocks>
			<sm_clock>585 MHz</sm_clock>
			<mem_clock>5000 MHz</mem_clock>
		</clocks>
		<max_clocks>
			<sm_clock>1590 MHz</sm_clock>
			<mem_clock>5001 MHz</mem_clock>
		</max_clocks>
		<processes>
			<process_info>
				<gpu_instance_id>N/A</gpu_instance_id>
				<compute_instance_id>N/A</compute_instance_id>
				<pid>10001</pid>
				<type>C</type>
				<process_name>a &amp; b</process_name>
				<used_memory>512 MiB</used_memory>
			</process_info>
		</processes>
	</gpu>
</nvidia_smi_log>
"""

XML_12 = f"""\
<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<driver_version>535.99.05</driver_version>
	<cuda_version>12.2</cuda_version>
	<attached_gpus>2</attached_gpus>
	<gpu id="00000000:84:00.0">
		<product_name>Toy Game 40</product_name>
		<serial>N/A</serial>
		<uuid>{FIRST}</uuid>
		<gpu_reset_status>
			<reset_required>Yes</reset_required>
			<drain_and_reset_recommended>No</drain_and_reset_recommended>
		</gpu_reset_status>
		<clocks_event_reasons>
			<clocks_event_reason_gpu_idle>Not Active</clocks_event_reason_gpu_idle>
			<clocks_event_reason_hw_thermal_slowdown>Active</clocks_event_reason_hw_thermal_slowdown>
			<clocks_event_reason_sw_thermal_slowdown>Active</clocks_event_reason_sw_thermal_slowdown>
		</clocks_event_reasons>
		<remapped_rows>
			<remapped_row_corr>1</remapped_row_corr>
			<remapped_row_unc>2</remapped_row_unc>
			<remapped_row_pending>No</remapped_row_pending>
			<remapped_row_failure>Yes</remapped_row_failure>
		</remapped_rows>
		<temperature>
			<gpu_temp>38 C</gpu_temp>
			<gpu_temp_tlimit>46 C</gpu_temp_tlimit>
			<gpu_temp_max_tlimit_threshold>-7 C</gpu_temp_max_tlimit_threshold>
			<gpu_temp_slow_tlimit_threshold>-2 C</gpu_temp_slow_tlimit_threshold>
		</temperature>
		<gpu_power_readings>
			<power_draw>31.25 W</power_draw>
			<current_power_limit>450.00 W</current_power_limit>
			<requested_power_limit>440.00 W</requested_power_limit>
		</gpu_power_readings>
		<fabric>
			<state>N/A</state>
		</fabric>
		<processes>
		</processes>
	</gpu>
	<gpu id="00000001:85:00.0">
		<product_name>Toy Game 40</product_name>
		<uuid>{SECOND}</uuid>
		<processes>N/A</processes>
	</gpu>
</nvidia_smi_log>
"""

XML_13 = f"""\
<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">
<nvidia_smi_log>
	<driver_version>590.99.01</driver_version>
	<cuda_version>13.1</cuda_version>
	<attached_gpus>4</attached_gpus>
	<gpu id="00000000:53:00.0">
		<product_name>Toy H9 80GB</product_name>
		<display_mode>Requested functionality has been deprecated</display_mode>
		<mig_mode>
			<current_mig>Enabled</current_mig>
		</mig_mode>
		<mig_devices>
			<mig_device>
				<index>0</index>
				<gpu_instance_id>2</gpu_instance_id>
				<compute_instance_id>0</compute_instance_id>
				<fb_memory_usage>
					<total>40448 MiB</total>
					<used>1024 MiB</used>
				</fb_memory_usage>
			</mig_device>
			<mig_device>
				<index>1</index>
				<gpu_instance_id>3</gpu_instance_id>
				<compute_instance_id>0</compute_instance_id>
				<fb_memory_usage>
					<total>20096 MiB</total>
					<used>17 MiB</used>
				</fb_memory_usage>
			</mig_device>
		</mig_devices>
		<uuid>{FIRST}</uuid>
		<gpu_recovery_action>Drain and Reset</gpu_recovery_action>
		<fb_memory_usage>
			<total>81559 MiB</total>
			<reserved>480 MiB</reserved>
			<used>1041 MiB</used>
		</fb_memory_usage>
		<utilization>
			<gpu_util>N/A</gpu_util>
			<memory_util>N/A</memory_util>
		</utilization>
		<ecc_errors>
			<volatile>
				<sram_correctable>0</sram_correctable>
				<sram_uncorrectable_parity>1</sram_uncorrectable_parity>
				<sram_uncorrectable_secded>2</sram_uncorrectable_secded>
				<dram_correctable>0</dram_correctable>
				<dram_uncorrectable>4</dram_uncorrectable>
			</volatile>
			<channel_repair_pending>No</channel_repair_pending>
			<tpc_repair_pending>Yes</tpc_repair_pending>
		</ecc_errors>
		<gpu_power_readings>
			<average_power_draw>N/A</average_power_draw>
			<instant_power_draw>68.92 W</instant_power_draw>
		</gpu_power_readings>
		<clocks_event_reasons_counters>
			<clocks_event_reasons_counters_sync_boost>9 us</clocks_event_reasons_counters_sync_boost>
		</clocks_event_reasons_counters>
		<fabric>
			<state>Completed</state>
		</fabric>
		<processes>
			<process_info>
				<gpu_instance_id>2</gpu_instance_id>
				<compute_instance_id>0</compute_instance_id>
				<pid>10002</pid>
				<used_memory>1000 MiB</used_memory>
			</process_info>
		</processes>
	</gpu>
</nvidia_smi_log>
"""

QUERY = f"""\

==============NVSMI LOG==============

Timestamp                                              : Thu Jan  1 00:00:00 2026
Driver Version                                         : 590.99.01
CUDA Version                                           : 13.1

Attached GPUs                                          : 1
GPU 00000000:00:09.0
    Product Name                                       : Toy H9 80GB
    Display Mode                                       : Requested functionality has been deprecated
    Persistence Mode                                   : Enabled
    MIG Mode
        Current                                        : Enabled
        Pending                                        : Enabled
    MIG Device
        Index                                          : 0
        GPU Instance ID                                : 2
        Compute Instance ID                            : 0
        Shared FB Memory Usage
            Total                                      : 40448 MiB
            Used                                       : 11091 MiB
    MIG Device
        Index                                          : 1
        GPU Instance ID                                : 3
        Compute Instance ID                            : 0
        Shared FB Memory Usage
            Total                                      : 20096 MiB
            Used                                       : 17 MiB
    Serial Number                                      : 0000000000001
    GPU UUID                                           : {FIRST}
    Minor Number                                       : 0
    VBIOS Version                                      : 96.00.A5.00.01
    Board Part Number                                  : 000-00000-0000-000
    GPU Recovery Action                                : None
    PCI
        Bus Id                                         : 00000000:00:09.0
        GPU Link Info
            PCIe Generation
                Max                                    : 5
                Current                                : 4
            Link Width
                Max                                    : 16x
                Current                                : 16x
        Replays Since Reset                            : 9
        Tx Throughput                                  : 9139 KB/s
        Rx Throughput                                  : 19191 KB/s
        Atomic Caps Outbound                           : FETCHADD_32 SWAP_32 CAS_64 
    Clocks Event Reasons
        Idle                                           : Not Active
        SW Power Cap                                   : Active
        HW Slowdown                                    : Not Active
            HW Thermal Slowdown                        : Not Active
            HW Power Brake Slowdown                    : Active
        Display Clock Setting                          : Not Active
    FB Memory Usage
        Total                                          : 81559 MiB
        Reserved                                       : 479 MiB
        Used                                           : 11125 MiB
    Compute Mode                                       : Default
    Utilization
        GPU                                            : N/A
        Memory                                         : N/A
    ECC Mode
        Current                                        : Enabled
    ECC Errors
        Volatile
            SRAM Correctable                           : 0
            SRAM Uncorrectable Parity                  : 0
            SRAM Uncorrectable SEC-DED                 : 0
            DRAM Correctable                           : 5
            DRAM Uncorrectable                         : 0
    Retired Pages
        Single Bit ECC                                 : N/A
        Double Bit ECC                                 : N/A
        Pending Page Blacklist                         : N/A
    Remapped Rows                                      : N/A
    Temperature
        GPU Current Temp                               : 53 C
        GPU T.Limit Temp                               : 24 C
        GPU Slowdown T.Limit Temp                      : -2 C
        Memory Current Temp                            : 58 C
    GPU Power Readings
        Average Power Draw                             : 432.21 W
        Current Power Limit                            : 700.00 W
        Default Power Limit                            : 690.00 W
    Clocks
        SM                                             : 1980 MHz
        Memory                                         : 2619 MHz
    Processes
        GPU instance ID                   : 2
        Compute instance ID               : 0
        Process ID                        : 10001
            Type                          : C
            Name                          : ./a : b
            Used GPU Memory               : 2296 MiB
        GPU instance ID                   : 2
        Compute instance ID               : 0
        Process ID                        : 10003
            Type                          : C
            Used GPU Memory               : N/A
    Capabilities
        EGM                                            : disabled
"""

QUERY_OLD = f"""\

==============NVSMI LOG==============

Timestamp                           : Thu Jan  1 00:00:00 2026
Driver Version                      : 418.99
CUDA Version                        : 10.1

Attached GPUs                       : 1
GPU 00000000:43:00.0
    Product Name                    : Toy P4
    Serial Number                   : N/A
    GPU UUID                        : {SECOND}
    Clocks Throttle Reasons
        Idle                        : Active
        HW Slowdown                 : Not Active
            HW Thermal Slowdown     : N/A
    ECC Errors
        Volatile
            Single Bit
                Device Memory       : 3
                Total               : 6
            Double Bit
                Device Memory       : 0
                Total               : 0
        Aggregate
            Single Bit
                Total               : 7
            Double Bit
                Total               : 1
    Temperature
        GPU Current Temp            : 33 C
        GPU Shutdown Temp           : 103 C
        GPU Slowdown Temp           : 100 C
    Power Readings
        Power Draw                  : 11.50 W
        Power Limit                 : 31.00 W
        Enforced Power Limit        : 30.00 W
    Utilization
        Gpu                         : 12 %
        Memory                      : 4 %
    Processes                       : None
"""

RETIREMENT = """\

==============NVSMI LOG==============

Timestamp                                 : Thu Jan  1 00:00:00 2026
Driver Version                            : 535.99.10
CUDA Version                              : 12.2

Attached GPUs                             : 2
GPU 00000001:00:00.0
    Retired Pages
        Single Bit ECC                    : 60
        Double Bit ECC                    : 5
        Pending Page Blacklist            : No

GPU 00000002:00:00.0
    Retired Pages
        Single Bit ECC                    : 2
        Double Bit ECC                    : 1
        Pending Page Blacklist            : Yes
"""

TEMPERATURES_610 = """\

==============NVSMI LOG==============

Timestamp                                              : Thu Jan  1 00:00:00 2026
Driver Version                                         : 610.99.04 [Deprecated; use another]
CUDA Version                                           : 13.3 [Deprecated; use another]
KMD Version                                            : 610.99.04
CUDA UMD Version                                       : 13.3

Attached GPUs                                          : 2
GPU 00000000:01:00.0
    Temperature
        GPU Current Temp                               : 79 C
        GPU Current T.Limit Temp                       : N/A
        GPU Slowdown Temp                              : 100 C

"""

TABLE_384 = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 384.999                Driver Version: 384.999                   |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  Toy P1000           Off  | 00000000:65:00.0  On |                  N/A |
| 41%   53C    P0   ERR! /  N/A |    620MiB /  4035MiB |      5%      Default |
+-------------------------------+----------------------+----------------------+
|   1  Toy V100-PCIE-3...  On   | 00000000:B3:00.0 Off |                    2 |
| N/A   30C    P8    11W / 120W |      2MiB /  8121MiB |      0%   E. Process |
+-------------------------------+----------------------+----------------------+

+-----------------------------------------------------------------------------+
| Processes:                                                       GPU Memory |
|  GPU       PID   Type   Process name                             Usage      |
|=============================================================================|
|    0     10001      G   /usr/lib/toy | server                        283MiB |
|    0     10002    C+G                                                  9MiB |
|    1                  Not Supported                                         |
+-----------------------------------------------------------------------------+
"""

TABLE_590 = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 590.99.01              Driver Version: 590.99.01      CUDA Version: 13.1     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  Toy H9 80GB                    On  |   00000000:00:09.0 Off |                   On |
| N/A   52C    P0            432W /  700W |   11125MiB /  81559MiB |     N/A      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| MIG devices:                                                                            |
+------------------+----------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |
|      ID  ID  Dev |                Shared BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |
|                  |                                  |        ECC|                       |
|==================+==================================+===========+=======================|
|  0    2   0   0  |           11091MiB / 40448MiB    | 60      0 |  3   0    3    0    3 |
|                  |               0MiB / 24739MiB    |           |                       |
+------------------+----------------------------------+-----------+-----------------------+
|  0    3   0   1  |              17MiB / 20096MiB    | 32      0 |  2   0    2    0    2 |
|                  |               0MiB / 12369MiB    |           |                       |
+------------------+----------------------------------+-----------+-----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0    2    0            10001      C   /root/toy                              2296MiB |
+-----------------------------------------------------------------------------------------+
"""

TABLE_610 = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 610.99.04              KMD Version: 610.99.04     CUDA UMD Version: 13.3     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  Toy Game 50                    Off |   00000000:01:00.0  On |                  N/A |
|  0%   51C    P0            N/A  /  130W |       3MiB /   4096MiB |      1%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
|   1  ERR!                          ERR! |   00000000:02:00.0 N/A |                 ERR! |
| ERR!  ERR! ERR!            ERR! /  ERR! |       GPU is lost      |    ERR!         ERR! |
|                                         |                        |                 ERR! |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|  No running processes found                                                             |
+-----------------------------------------------------------------------------------------+
"""

TOPOLOGY = """\
	GPU0	GPU1	GPU2	NIC0	NIC1	CPU Affinity	NUMA Affinity	GPU NUMA ID
GPU0	 X 	NV12	SYS	PIX	SYS	0-3,8	0		N/A
GPU1	NV12	 X 	SYS	PXB	SYS	0-3,8	0		N/A
GPU2	SYS	SYS	 X 	SYS	PHB	4-7	0-1		N/A
NIC0	PIX	PXB	SYS	 X 	SYS				
NIC1	SYS	SYS	PHB	SYS	 X 				

Legend:

  X    = Self
  SYS  = Connection traversing PCIe and the interconnect between NUMA nodes
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_1

"""

TOPOLOGY_OLD = """\
	GPU0	GPU1	mlx5_0	CPU Affinity
GPU0	 X 	PSB	SOC	0-13
GPU1	PSB	 X 	SOC	0-13
mlx5_0	SOC	SOC	 X 	

Legend:

  X   = Self
  SOC  = Connection traversing PCIe as well as the SMP link between CPU sockets
"""

LISTING = f"""\
GPU 0: Toy H9 80GB (UUID: {FIRST})
  MIG 3g.40gb     Device  0: (UUID: {FIRST_SLICE})
  MIG 1c.2g.20gb  Device  1: (UUID: {SECOND_SLICE})
GPU 1: Toy H9 80GB (UUID: {SECOND})
"""

VERSIONS = """\
NVIDIA-SMI version  : 610.99.04
NVML version        : 610.99
DRIVER version      : Deprecated
CUDA Version        : Deprecated
KMD version         : 610.99.04
CUDA UMD Version    : 13.3
"""

LOST = """\
Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system
"""

ALL = (
    *(XML_11, XML_12, XML_13, QUERY, QUERY_OLD, RETIREMENT, TEMPERATURES_610),
    *(TABLE_384, TABLE_590, TABLE_610, TOPOLOGY, TOPOLOGY_OLD, LISTING, VERSIONS, LOST),
)
