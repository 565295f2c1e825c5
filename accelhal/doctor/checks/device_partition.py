"""Boards that are cut into slices, and whether the process was given one it can use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from accelhal.doctor.board_names import board_name
from accelhal.doctor.commands import for_board
from accelhal.doctor.facts import Facts
from accelhal.doctor.presence import driver_boards, of_each_vendor
from accelhal.facts import BoardReading, Finding, FindingState
from accelhal.host.visible_devices import Mask, active_mask
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, NotShownError, VendorHost

_ID = "device.partition"


def _partitions(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_ID, facts, _judge)


def _judge(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    mask = _mask(spec, facts)
    slices = [entry for entry in (mask.entries if mask else ()) if _is_slice(entry, vendor)]
    found = [*_several(mask, slices, spec, vendor), *_boards(spec, vendor, facts)]
    found += _parents(mask, driver_boards(spec, facts), spec)
    if found:
        yield from found
        return
    cut = sum(len(one.partitions or ()) for one in driver_boards(spec, facts))
    code = "partition.cut" if cut or slices else "partition.whole"
    yield Finding(_ID, code, FindingState.OK, {"count": cut or len(slices)}, spec.name)


def _mask(spec: BackendSpec, facts: Facts) -> Mask | None:
    try:
        return active_mask(spec.visible_devices, facts.variables)
    except NotShownError:
        return None  # the boards can be judged without


def _is_slice(entry: str, vendor: VendorHost) -> bool:
    return bool(vendor.slice_prefix) and entry.startswith(vendor.slice_prefix)


def _several(
    mask: Mask | None, slices: Sequence[str], spec: BackendSpec, vendor: VendorHost
) -> Iterator[Finding]:
    if mask is not None and vendor.one_slice and len(slices) > 1:
        yield Finding(
            _ID,
            "partition.several",
            FindingState.WARN,
            {"variable": mask.variable, "count": len(slices), "first": slices[0]},
            spec.name,
            {mask.variable: mask.value},
            tuple(f"{mask.variable}={one} <command>" for one in slices),
        )


def _boards(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    for reading in facts.readings(spec.name):
        if reading.details is None or not reading.details.partitioned:
            continue
        if reading.board.parent is None and reading.partitions == ():
            yield Finding(
                _ID,
                "partition.no_slice",
                FindingState.FAIL,
                device=board_name(reading),
                evidence={"partitioned": "yes", "slices": "0"},
                commands=for_board(vendor.make_slices, reading),
                needs_root=True,
            )


def _parents(
    mask: Mask | None, readings: Sequence[BoardReading], spec: BackendSpec
) -> Iterator[Finding]:
    """Entries that name a whole board although slices are cut from it."""
    for reading in readings:
        slices = reading.partitions or ()
        uuid = reading.board.uuid
        named = [one for one in (mask.entries if mask else ()) if uuid and uuid.startswith(one)]
        if mask is not None and slices and named:
            yield Finding(
                _ID,
                "partition.parent",
                FindingState.WARN,
                {"variable": mask.variable, "board": board_name(reading), "count": len(slices)},
                spec.name,
                {mask.variable: mask.value},
                (f"export {mask.variable}={slices[0].key.value}",),
            )


PARTITION = Check(
    _ID,
    "Devices",
    "whether boards set up for slices have some, and the mask names them as the runtime wants",
    ("the driver's library", "the variables that hide devices"),
    _partitions,
    depends_on=("driver.module", "device.mask"),
    explanation="A board that is set up to be cut and has no slice runs nothing: make slices, or "
    "turn the mode off. Where a process can use only one slice, more in its mask are a warning: it "
    "uses the first, so start one process for each. A mask that names the board instead of a slice "
    "leaves it to the driver which slice is used.",
)
