"""How many boards each layer shows, and which layer lost one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from accelhal.doctor.facts import Facts
from accelhal.doctor.presence import (
    board_nodes,
    bus_boards,
    driver_boards,
    of_each_vendor,
    present_specs,
)
from accelhal.facts import Finding, FindingState
from accelhal.host.visible_devices import active_mask, explain
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, NotShownError, VendorHost

_ID = "device.count"

_NONE_VISIBLE = re.compile(
    r"visible\b[^,;]{0,40}?\(?\b0\b\)?|\bno (?:\w+ )?devices? (?:found|visible)", re.I
)
"""What frameworks say where they see no device, without saying why."""


def _counts(facts: Facts) -> Iterator[Finding]:
    said = next((line for line in facts.record.messages if _NONE_VISIBLE.search(line)), None)
    try:
        present = bool(present_specs(facts))
    except NotShownError:
        if said is None:
            raise
        present = False
    if present:
        yield from of_each_vendor(_ID, facts, _judge)
    elif said is None:
        yield Finding(_ID, "count.no_board", FindingState.OK)
    else:
        yield Finding(
            _ID,
            "count.nothing_shown",
            FindingState.INFO,
            evidence={"message": said.strip()},
            commands=_look_at(facts.specs),
        )


def _look_at(specs: tuple[BackendSpec, ...] | list[BackendSpec]) -> tuple[str, ...]:
    patterns = " ".join(nodes.pattern for spec in specs for nodes in spec.device_nodes)
    return ("lspci -nnk", f"ls -l {patterns}", "id", "env | grep VISIBLE", "accelhal doctor")


def _judge(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    bus, nodes, driver = (
        bus_boards(spec, facts),
        board_nodes(spec, facts),
        driver_boards(spec, facts),
    )
    shown = facts.record.nodes is not None
    layers = _layers(spec, vendor, facts)
    if bus and driver and len(driver) < len(bus) and not facts.contained:
        listed = {reading.board.pci for reading in driver}
        lost = [board.address for board in bus if board.address not in listed]
        yield _fewer(spec, "bus", len(bus), "driver", len(driver), lost, layers)
    elif nodes and driver and len(driver) < len(nodes) and not facts.contained:
        yield _fewer(spec, "nodes", len(nodes), "driver", len(driver), [], layers)
    elif bus and shown and len(nodes) < len(bus) and not (facts.contained or driver):
        yield _fewer(spec, "bus", len(bus), "nodes", len(nodes), [], layers)
    elif _sees_none(spec, facts) or (bus and shown and not nodes):
        yield Finding(
            _ID, "count.layers", FindingState.INFO, layers, spec.name, layers, _look_at([spec])
        )
    else:
        number = len(driver) or len(nodes) or len(bus or ())
        yield Finding(_ID, "count.agree", FindingState.OK, {"count": number, **layers}, spec.name)


def _fewer(
    spec: BackendSpec,
    upper: str,
    expected: int,
    lower: str,
    count: int,
    lost: list[str],
    layers: Mapping[str, str],
) -> Finding:
    params: dict[str, str | int | float] = {
        "upper": upper,
        "expected": expected,
        "lower": lower,
        "count": count,
        "lost": ", ".join(lost) or "not known which",
        **layers,
    }
    look = tuple(f"sudo lspci -vvs {address}" for address in lost)
    search = "|".join(lost) or "pci|fell off|timeout"
    return Finding(
        _ID,
        "count.fewer",
        FindingState.FAIL,
        params,
        spec.name,
        layers,
        (f"sudo dmesg | grep -iE '{search}'", *look),
        needs_root=True,
    )


def _sees_none(spec: BackendSpec, facts: Facts) -> bool:
    if any(_NONE_VISIBLE.search(line) for line in facts.record.messages):
        return True
    return facts.deep and any(one.counts.get(spec.name) == 0 for one in facts.imports)


def _layers(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> dict[str, str]:
    """What each layer shows, lowest first."""
    bus, nodes, driver = (
        bus_boards(spec, facts),
        board_nodes(spec, facts),
        driver_boards(spec, facts),
    )
    closed = sum(not usable for usable in nodes.values())
    return {
        "bus": _number(len(bus) if bus is not None else None),
        "module": _module(vendor, facts),
        "nodes": _number(len(nodes) if facts.record.nodes is not None else None),
        "rights": f"{closed} closed to this process" if closed else "open" if nodes else "no node",
        "driver": _number(len(driver) or None),
        "toolkit": _toolkit(spec, vendor, facts),
        "mask": _mask(spec, facts),
        "framework": _framework(spec, facts),
    }


def _number(count: int | None) -> str:
    return "not shown" if count is None else str(count)


def _module(vendor: VendorHost, facts: Facts) -> str:
    if facts.record.modules is None or not vendor.modules:
        return "not shown"
    return next((name for name in vendor.modules if name in facts.record.modules), "not loaded")


def _toolkit(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> str:
    names = vendor.toolkit_libraries or vendor.libraries
    seen = facts.record.libraries
    if seen is None or not names:
        return "not shown"
    missing = [name for name in names if not seen.get(name)]
    return f"{', '.join(missing)} not found" if missing else "found"


def _mask(spec: BackendSpec, facts: Facts) -> str:
    try:
        mask = active_mask(spec.visible_devices, facts.variables)
    except NotShownError:
        return "not shown"
    return "unset" if mask is None else explain(mask)


def _framework(spec: BackendSpec, facts: Facts) -> str:
    if not facts.deep:
        return "not asked"
    counts = [one.counts[spec.name] for one in facts.imports if spec.name in one.counts]
    return _number(counts[0] if counts else None)


COUNT = Check(
    _ID,
    "Devices",
    "how many boards bus, nodes, driver and framework show, and which layer lost one",
    ("the PCI bus", "/dev", "the driver's library", "--deep: torch"),
    _counts,
    depends_on=("driver.module", "driver.nodes"),
    explanation="On a host itself every layer shows as many boards as the one below it: PCI bus, "
    "driver nodes under /dev, the driver's own list. The first that shows fewer lost them: a board "
    "that the bus has and the driver does not list failed to start, which the kernel log tells. "
    "A container has the boards that it was given, so fewer are no fault there. Where a framework "
    "sees none, each layer is listed: driver, nodes, rights, toolkit, mask.",
)
