"""Sizes and offsets of our ctypes structures are those that gcc gives the header's."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import pytest
from accelhal_cambricon import cndev_state_structs, cndev_structs
from vendor_stacks.cndev.simulated import OLD
from vendor_stacks.simulated_library import FOLDER

STRUCTURES: dict[str, Any] = {
    "struct card_info": cndev_structs.Count,
    "struct card_name": cndev_structs.State,
    "struct uuid": cndev_structs.Uuid,
    "struct card_sn": cndev_structs.Serial,
    "struct part_number": cndev_structs.PartNumber,
    "struct pcie_info_v2": cndev_structs.PcieInfo,
    "struct pcie_info": cndev_structs.OldPcieInfo,
    "struct version_info": cndev_structs.Versions,
    "struct lib_version": cndev_structs.ThreeNumbers,
    "struct memory_v2": cndev_structs.Memory,
    "struct memory": cndev_structs.OldMemory,
    "struct temperature": cndev_structs.Temperatures,
    "struct over_temperature": cndev_structs.OverTemperature,
    "struct power_v2": cndev_structs.Power,
    "struct power": cndev_structs.OldPower,
    "struct power_limit": cndev_structs.PowerLimit,
    "struct utilization": cndev_structs.Utilization,
    "struct frequency": cndev_structs.Frequency,
    "struct throttle": cndev_structs.ThrottleReasons,
    "union field_number": cndev_structs.FieldNumber,
    "struct field_value": cndev_structs.FieldValue,
    "struct affinity": cndev_structs.Affinity,
    "struct process": cndev_structs.Process,
    "struct mem_ecc": cndev_state_structs.MemoryEcc,
    "struct ecc_info": cndev_state_structs.OldEcc,
    "struct remapped_v2": cndev_state_structs.RemappedRows,
    "struct remapped": cndev_state_structs.OldRemappedRows,
    "struct retired_pages": cndev_state_structs.RetiredPages,
    "struct retired_status": cndev_state_structs.RetirementStatus,
    "struct repair_status": cndev_state_structs.RepairStatus,
    "struct fault": cndev_state_structs.Fault,
    "struct incident": cndev_state_structs.Incident,
    "struct health_v2": cndev_state_structs.Health,
    "struct health": cndev_state_structs.OldHealth,
    "struct current_pci": cndev_state_structs.PcieState,
    "struct throughput_v2": cndev_state_structs.PcieTraffic,
    "struct link_status_v2": cndev_state_structs.LinkStatus,
    "struct link_status": cndev_state_structs.OldLinkStatus,
    "struct link_speed": cndev_state_structs.LinkSpeed,
    "struct link_errors": cndev_state_structs.LinkErrors,
    "struct link_events": cndev_state_structs.LinkEvents,
    "struct link_counter": cndev_state_structs.OldLinkCounters,
    "struct remote_info": cndev_state_structs.LinkPeer,
    "struct mim_info": cndev_state_structs.MimInstance,
    "struct smlu_info": cndev_state_structs.SmluInstance,
}

FIRST_OF: dict[str, dict[str, str]] = {
    "struct card_name": {"value": "id"},
    "struct version_info": {"mcu": "mcuMajorVersion", "driver": "driverMajorVersion"},
    "struct lib_version": {"numbers": "libMajorVersion"},
    "struct memory_v2": {"others": "reservedMemory"},
    "struct memory": {"others": "virtualMemoryTotal"},
    "struct temperature": {"others": "videoInput"},
    "struct over_temperature": {"counters": "powerOffCounter"},
    "struct power": {"instantaneous": "instantaneousPowerUsage"},
    "struct frequency": {"flags": "overtempDfsFlag", "clusters": "mluClusterFreqCount"},
    "struct field_value": {"times": "latencyUsec"},
    "struct mem_ecc": {"thresholdExceeded": "aggregateSramEccThresholdExceeded"},
    "struct ecc_info": {"kinds": "oneBitError"},
    "struct remapped": {"reserved": "pendingRows"},
    "struct current_pci": {"speed": "currentSpeed", "width": "currentWidth"},
    "struct throughput_v2": {"totals": "pcieReadTotal"},
    "struct link_counter": {"traffic": "cntrReadByte", "others": "errReadPackage"},
    "struct remote_info": {"serials": "mcSn"},
    "struct mim_info": {"address": "domain", "units": "vpuCount", "names": "devNodeName"},
    "struct smlu_info": {"address": "domain", "names": "instanceName"},
}
"""A field of ours that stands for several -> the first of them."""

OLD_SIZES = {
    "uuid": (cndev_structs.Uuid, 44),
    "memory": (cndev_structs.OldMemory, 208),
    "temperature": (cndev_structs.Temperatures, 128),
    "power": (cndev_structs.OldPower, 20),
    "frequency": (cndev_structs.Frequency, 16),
    "pcie_info": (cndev_structs.OldPcieInfo, 40),
    "ecc_info": (cndev_state_structs.OldEcc, 64),
    "health": (cndev_state_structs.OldHealth, 8),
    "link_status": (cndev_state_structs.OldLinkStatus, 12),
    "link_counter": (cndev_state_structs.OldLinkCounters, 96),
    "remote_info": (cndev_state_structs.LinkPeer, 104),
}
"""Structures that grew, with what releases before 2.0.11 had of them."""


def compiled(folder: Path, wanted: dict[str, list[str]], *flags: str) -> list[int]:
    """What sizeof, and offsetof for each field, say of each structure."""
    expressions = [
        expression
        for kind, names in wanted.items()
        for expression in (f"sizeof({kind})", *(f"offsetof({kind}, {n})" for n in names))
    ]
    prints = "".join(f'printf("%zu\\n", {expression});\n' for expression in expressions)
    source = folder / "layout.c"
    source.write_text(
        f'#include <stddef.h>\n#include <stdio.h>\n#include "cndev.h"\n'
        f"int main(void) {{\n{prints}return 0;\n}}\n"
    )
    program, include = folder / "layout", f"-I{FOLDER / 'cndev'}"
    command = ["gcc", include, *flags, "-o", str(program), str(source)]
    subprocess.run(command, check=True, timeout=60)
    lines = subprocess.run([program], check=True, timeout=60, capture_output=True, text=True)
    return [int(line) for line in lines.stdout.split()]


def names(kind: str, structure: Any) -> list[str]:
    return [FIRST_OF.get(kind, {}).get(name, name) for name, _ in structure._fields_]


def told(structure: Any) -> list[int]:
    offsets = [getattr(structure, name).offset for name, _ in structure._fields_]
    return [ctypes.sizeof(structure), *offsets]


def test_every_structure_is_laid_out_as_the_compiler_does(tmp_path: Path) -> None:
    defined = {
        kind
        for module in (cndev_structs, cndev_state_structs)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, (ctypes.Structure, ctypes.Union))
    }
    assert defined == set(STRUCTURES.values())
    found = compiled(tmp_path, {kind: names(kind, one) for kind, one in STRUCTURES.items()})
    assert found == [number for structure in STRUCTURES.values() for number in told(structure)]


@pytest.mark.parametrize("kind", OLD_SIZES)
def test_what_older_releases_write_is_a_beginning_of_ours(tmp_path: Path, kind: str) -> None:
    structure, old_size = OLD_SIZES[kind]
    full = f"struct {kind}"
    fields_of_ours = [getattr(structure, name) for name, _ in structure._fields_]
    ours = [field.offset for field in fields_of_ours if field.offset + field.size <= old_size]
    kept = names(full, structure)[: len(ours)]
    assert compiled(tmp_path, {full: kept}, OLD) == [old_size, *ours]
