"""Sizes and offsets of our ctypes structures are those that gcc gives the header's."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import pytest
from accelhal_ascend import dcmi_structs as ours
from vendor_stacks.dcmi.simulated import OLD
from vendor_stacks.simulated_library import FOLDER

STRUCTURES: dict[str, Any] = {
    "struct chip_info_v2": ours.ChipInfo,
    "struct pcie_info_all": ours.PcieInfo,
    "struct pcie_info": ours.OldPcieInfo,
    "struct board_info": ours.BoardIds,
    "struct elabel": ours.Label,
    "struct die_id": ours.DieId,
    "struct hbm_info": ours.HbmInfo,
    "struct memory_info": ours.DdrInfo,
    "struct multi_utilization": ours.Utilization,
    "struct ecc_info": ours.EccInfo,
    "struct proc_mem": ours.ProcessMemoryInfo,
    "union sensor_info": ours.SensorInfo,
    "struct power_info": ours.PowerInfo,
    "struct pcie_errors": ours.PcieErrors,
    "struct hccs_status": ours.HccsStatus,
    "struct hccs_lanes": ours.HccsLanes,
    "struct hccs_counters": ours.HccsCounters,
    "struct hccs_counters_u64": ours.WideHccsCounters,
    "struct sio_errors": ours.SioErrors,
    "struct ub_ports": ours.UbPorts,
    "struct spod_info": ours.SuperPod,
    "struct computing_resource": ours.ComputeShare,
    "struct vdev_info": ours.VnpuInfo,
    "struct vdev_query": ours.VnpuQuery,
    "struct soc_total": ours.ChipResources,
}

FIRST_OF = {"queues": "dsa", "ids": "event_id", "cpus": "topic_schedule_aicpu"}
"""A field of ours that stands for several -> the first of them."""


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
        f'#include <stddef.h>\n#include <stdio.h>\n#include "dcmi.h"\n'
        f"int main(void) {{\n{prints}return 0;\n}}\n"
    )
    program, include = folder / "layout", f"-I{FOLDER / 'dcmi'}"
    command = ["gcc", include, *flags, "-o", str(program), str(source)]
    subprocess.run(command, check=True, timeout=60)
    lines = subprocess.run([program], check=True, timeout=60, capture_output=True, text=True)
    return [int(line) for line in lines.stdout.split()]


def names(structure: Any) -> list[str]:
    return [FIRST_OF.get(name, name) for name, _ in structure._fields_]


def told(structure: Any) -> list[int]:
    offsets = [getattr(structure, name).offset for name, _ in structure._fields_]
    return [ctypes.sizeof(structure), *offsets]


def test_every_structure_is_laid_out_as_the_compiler_does(tmp_path: Path) -> None:
    defined = {
        kind
        for kind in vars(ours).values()
        if isinstance(kind, type) and issubclass(kind, (ctypes.Structure, ctypes.Union))
    }
    assert defined == set(STRUCTURES.values())
    found = compiled(tmp_path, {kind: names(structure) for kind, structure in STRUCTURES.items()})
    assert found == [number for structure in STRUCTURES.values() for number in told(structure)]


@pytest.mark.parametrize(
    ("kind", "structure", "without"),
    [("ecc_info", ours.EccInfo, 2), ("chip_info", ours.ChipInfo, 1)],
)
def test_what_older_releases_write_is_a_beginning_of_ours(
    tmp_path: Path, kind: str, structure: Any, without: int
) -> None:
    kept = names(structure)[:-without]
    size, *offsets = compiled(tmp_path, {f"struct {kind}": kept}, OLD)
    ours_told = told(structure)
    assert offsets == ours_told[1:-without]
    assert size == ours_told[-without]
