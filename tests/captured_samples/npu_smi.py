# ruff: noqa: E101, E501
"""npu-smi's output in every layout, written after those that were seen; all values are made up."""

from __future__ import annotations

FRAME = (
    "+---------------------------+---------------+----------------------------------------------+"
)
END = "+===========================+===============+==============================================+"
HEAD = """\
| npu-smi 99.1.rc1                 Version: 99.2.0                                              |"""
TITLES = """\
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |"""


def table(*rows: str, titles: str = TITLES, head: str | None = HEAD) -> str:
    """A table with frames: two rows a chip."""
    top = [FRAME, head] if head is not None else []
    pairs = zip(rows[::2], rows[1::2], strict=True)
    body = [line for pair in pairs for line in (*pair, END)]
    return "\n".join([*top, FRAME, titles, END, *body]) + "\n"


def chip(
    card: int,
    *,
    name: str = "910B9",
    health: str = "OK",
    power: str = "101.8",
    temperature: str = "43",
    bus: str | None = None,
    load: str = "7",
    memory: str = "3318 / 65536",
) -> tuple[str, str]:
    """The rows of a 910B."""
    where = f"0000:{0x10 + card:02X}:00.0" if bus is None else bus
    return (
        f"| {card:<6}{name:<20}| {health:<14}| {power:<12}{temperature:<18}0    / 0             |",
        f"| 0                         | {where:<14}| {load:<12}0    / 0          {memory:<21}|",
    )


TWO = table(*chip(0), *chip(1, memory="28220/ 32768", health="Warning", power="92.0"))

A3 = f"""\
{FRAME}
{HEAD}
{FRAME}
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
{END}
| 6     Ascend910           | OK            | 162.8       37                0    / 0             |
| 0     12                  | 0000:9C:00.0  | 0           0    / 0          3133 / 65536         |
+------------------------------------------------------------------------------------------------+
| 6     Ascend910           | OK            | -           36                0    / 0             |
| 1     13                  | 0000:9E:00.0  | 0           0    / 0          10568/ 65536         |
{END}
{FRAME}
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
{END}
| 6       1                 |  10001        | python                   | 7746                    |
{END}
"""

OLD = """\
+-------------------+-----------------+------------------------------------------------------+
| NPU     Name      | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device    | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
+===================+=================+======================================================+
| 3       310P9     | OK              | NA           42                0    / 0              |
| 0       0         | 0000:82:00.0    | 0            1074 / 21534                            |
+===================+=================+======================================================+
| 5       310P9     | Critical        | 15.4         43                0    / 0              |
| 0       1         | NA              | 0            NA / 21534                              |
+===================+=================+======================================================+
"""

WIDE = """\
+------------------------------------------------------------------------------------------------------------------+
| npu-smi 26.9.rc1                            Version: 26.9.rc1                                                    |
+---------------------------+---------------+----------------------------------------------------------------------+
| NPU   Name                | Health        | Power(W)             Temp(C)                 Hugepages-Usage(page)   |
| Chip                      | Bus-Id        | AICore(%)            Memory-Usage(MB)        HBM-Usage(MB)           |
+===========================+===============+======================================================================+
| 0     910B9               | OK            | 82.6                 32                      0    / 0                |
| 0                         | 0000:C1:00.0  | 0                    0    / 0                2871 / 32768            |
+===========================+===============+======================================================================+
+---------------------------+---------------+----------------------------------------------------------------------+
| NPU     Chip              | Process id    | Process name       | Process memory(MB)    | Process id in container |
+===========================+===============+======================================================================+
| 0       0                 | 20002         | python             | 512                   | 77                      |
+===========================+===============+======================================================================+
"""

A950 = """\
+--------+------------------+---------------+----------------------------------------------------------------------+
| NPU ID | Name             | Health        | Power(W)              Temp(C)                  Hugepages-Usage(page) |
|        |                  | Bus-Id        | NPU Util(%)           Memory-Usage(MB)         HBM-Usage(MB)         |
+========+==================+===============+======================================================================+
| 0      | Ascend950XX      | OK            | 377.2                 48                       0     / 0             |
|        |                  | NA            | 11                    0     / 0                4857  / 98304         |
+===========================+===============+======================================================================+
| 2      | Ascend950ZZ      | Alarm         | 380.6                 50                       0     / 0             |
|        |                  | 0000:71:00.0  | 0                     0     / 0                90633 / 98304         |
+===========================+===============+======================================================================+
+---------------------------+---------------+----------------------------------------------------------------------+
| NPU ID                    | Process id    | Process name       | Process memory(MB)    | Process id in container |
+===========================+===============+======================================================================+
| No running processes found in NPU 0                                                                              |
+===========================+===============+======================================================================+
| 2                         | 30003         | python             | 39852                 | NA                      |
+===========================+===============+======================================================================+
"""

MAPPING = """\
	NPU ID                         Chip ID                        Chip Logic ID                  Chip Name
	0                              0                              0                              Ascend 910B9
	0                              1                              -                              Mcu
	4                              0                              1                              Ascend 910B9
	4                              1                              -                              Mcu
"""

A3_MAPPING = """\
	NPU ID                         Chip ID                        Chip Logic ID                  Chip Phy-ID                    Chip Name
	6                              0                              0                              12                             Ascend910
	6                              1                              1                              13                             Ascend910
	6                              2                              -                              -                              Mcu
"""

A950_MAPPING = """\
	NPU ID                         Slot ID                        Chip ID                        Chip Phy-ID                    Chip Name
	0                              -1                             0                              8                              Ascend950ZZ
	1                              3                              0                              9                              Ascend950ZZ
"""

LISTING = """\
	Total Count                    : 2

	NPU ID                         : 4
	Product Name                   : IT99XX
	Serial Number                  : 000111222333
	Chip Count                     : 2

	NPU ID                         : 6
	Product Name                   : IT99XX
	Serial Number                  : NA
	Chip Count                     : 1

"""

USAGES = """\
	NPU ID                         : 4
	Chip Count                     : 1

	DDR Capacity(MB)               : 0
	DDR Usage Rate(%)              : 0
	DDR Hugepages Total(page)      : 0
	HBM Capacity(MB)               : 65536
	HBM Usage Rate(%)              : 4
	Aicore Usage Rate(%)           : 7
	Aivector Usage Rate(%)         : 3
	Aicpu Usage Rate(%)            : 0
	Ctrlcpu Usage Rate(%)          : 2
	DDR Bandwidth Usage Rate(%)    : 0
	HBM Bandwidth Usage Rate(%)    : 9
	NPU Utilization(%)             : 8
	Chip ID                        : 0

"""

COMMON = """\
	NPU ID                         : 4
	Chip Count                     : 1

	Chip ID                        : 0
	Memory Usage Rate(%)           : 6
	Aicore Usage Rate(%)           : 0
	Aicore Freq(MHZ)               : 1080
	Aicore curFreq(MHZ)            : 960
	Temperature(C)                 : 43

	Chip Name                      : mcu
	Temperature(C)                 : 41
	NPU Real-time Power(W)         : 13.4
"""

MEMORY = """\
	NPU ID                         : 4
	Chip Count                     : 1

	DDR Capacity(MB)               : 0
	DDR Clock Speed(MHz)           : 0
	HBM Capacity(MB)               : 65536
	HBM Clock Speed(MHz)           : 1600
	HBM Temperature(C)             : 51
	HBM Manufacturer ID            : 0x57
	Chip ID                        : 0
"""

TEMPERATURE = """\
	NPU ID                         : 4
	Chip Count                     : 1

	NPU Temperature (C)            : 39
	Chip ID                        : 0

	LM75A_TE (C)                   : 36
	LM75B_TE (C)                   : NA
	Chip Name                      : MCU
"""

POWER = """\
	NPU ID                         : 4
	Chip Count                     : 2

	NPU Real-time Power(W)         : 203.5
	Chip ID                        : 0

	NPU Real-time Power(W)         : 203.5
	Chip ID                        : 1

"""

HEALTH = """\
	NPU ID                         : 4
	Chip Count                     : 1

	Health                         : Alarm
	Error Code                     : 80E18005 80CF8008
	Error Information              : node type=X, sensor type=Y

	                               : node type=Z, sensor type=Y
	Chip ID                        : 0

	Health                         : OK
	Chip Name                      : MCU
"""

A950_HEALTH = """\
        NPU ID                         : 2
        Health                         : OK
        Error Code                     : NA
        Error Information              : NA
"""

ECC = """\
	NPU ID                                   : 4
	Chip Count                               : 1

	DDR Single Bit Error Count               : 9
	DDR Double Bit Error Count               : 9
	HBM Single Bit Error Count               : 3
	HBM Double Bit Error Count               : 1
	HBM Single Bit Aggregate Total Err Cnt   : 13
	HBM Double Bit Aggregate Total Err Cnt   : 4294967295
	HBM Single Bit Isolated Pages Count      : 1
	HBM Double Bit Isolated Pages Count      : 2
	HBM Single Bit Next-Isolated Pages Count : 0
	HBM Double Bit Next-Isolated Pages Count : 1
	Chip ID                                  : 0
"""

PROCESSES = """\
	NPU ID                         : 4
	Chip Count                     : 2

	Process id:40004   Process name:python            Process memory(MB):5118
	Process id:40005   Process name:                  Process memory(MB):7
	Chip ID                        : 0

	No process in device.
	Chip ID                        : 1

"""

CARD_BOARD = """\
	NPU ID                         : 4
	Product Name                   : NA
	Model                          : NA
	Manufacturer                   : Somebody
	Serial Number                  : 000111222333
	Software Version               : 99.2.0
	Firmware Version               : 9.9.0.1
	Compatibility                  : OK
	Board ID                       : 0x02
	PCB ID                         : A
	BOM ID                         : 1
	PCIe Bus Info                  : 0000:14:00.0
	Slot ID                        : 0
	PCI Vendor ID                  : 0x19E5
	Chip Count                     : 1
"""

CHIP_BOARD = """\
	NPU ID                         : 6
	NPU Name                       : 9999
	Chip ID                        : 1
	Chip Name                      : Ascend910
	Chip Version                   : V1
	Board ID                       : 0x02
	VDie ID                        : 00000001 0000000A 00000003 00000004 00000005
	NDie ID                        : NA
	Chip Position ID               : 1
	PCIe Bus Info                  : 0000:9E:00.0
	Firmware Version               : 9.9.0.1
"""

A950_BOARD = """\
	NPU ID                         : 2
	Product Name                   : IT99XX
	NPU Name                       : 950ZZ
	Chip Name                      : Ascend950ZZ
	Chip Version                   : V1
	Model                          : M-1
	Serial Number                  : 000111222333
	Software Version               : 99.2.0
	Firmware Version               : 9.9.0.1
	PCIe Bus Info                  : NA
	Chip Count                     : 1
	DDie ID                        : 00000001 00000002 00000003 00000004 00000005
	Chip Position ID               : 0
"""

TOPOLOGY = """\
	   NPU0       NPU1       NPU2       CPU Affinity
NPU0       X          HCCS       PHB        0-3
NPU1       HCCS       X          NA         0-3
NPU2       PHB        NA         X          4-5,7

Legend:

  X    = Self
  SYS  = Path traversing PCIe and NUMA nodes. Nodes are connected through SMP, such as QPI, UPI.
  HCCS = Connection traversing HCCS.
  NA   = Unknown relationship.
"""

A3_TOPOLOGY = """\
           Phy-ID12   Phy-ID13   Phy-ID14
Phy-ID12   X          SIO        HCCS_SW
Phy-ID13   SIO        X          HCCS_SW
Phy-ID14   HCCS_SW    HCCS_SW    X

Legend:

  X    = Self
  SIO  = Path traversing the SIO bus
  HCCS_SW = Connection traversing HCCS through a switch
"""

A950_TOPOLOGY = """\
	   NPU0       NPU1       ens1       CPU Affinity
NPU0       X          UB         UB         0-3
NPU1       UB         X          NA         4-7
ens1       UB         NA         X
"""

VERSION = "npu-smi version: 99.1.rc1\n"

PAGES = (
    *(USAGES, COMMON, MEMORY, TEMPERATURE, POWER, HEALTH, A950_HEALTH, ECC, PROCESSES),
    *(CARD_BOARD, CHIP_BOARD, A950_BOARD),
)
ALL = (
    *(TWO, A3, OLD, WIDE, A950, MAPPING, A3_MAPPING, A950_MAPPING, LISTING),
    *(TOPOLOGY, A3_TOPOLOGY, A950_TOPOLOGY, VERSION, *PAGES),
)
