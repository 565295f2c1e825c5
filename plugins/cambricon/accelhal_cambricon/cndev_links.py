"""Links of a board: its MLU-Link ports, PCIe, and how near other boards are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from accelhal.drivers.readings import NotReportedError, Once, collect, first, or_none
from accelhal.facts import BoardKey, Link, PcieLink, Relation
from accelhal_cambricon.cndev import Cndev, dotted, flag, number, written
from accelhal_cambricon.cndev_boards import uuid_text
from accelhal_cambricon.cndev_state_structs import (
    LinkErrors,
    LinkEvents,
    LinkPeer,
    LinkSpeed,
    LinkStatus,
    OldLinkCounters,
    OldLinkStatus,
    PcieState,
    PcieTraffic,
)
from accelhal_cambricon.cndev_structs import Count, State, ThreeNumbers

_MAX_PORTS = 64
"""More than any board has; headers of 2.0 name eight (MLULINK_PORT)."""

_STATES = {0: False, 1: True, 3: True}
"""cndevMLULinkMACStateEnum_t: down, up, ready; 2 is still asking who is there."""

_GIGA = 1e9

_ERRORS = {
    "correctFecCnt": "corrected_fec",
    "uncorrectFecCnt": "uncorrected_fec",
    "rxBadFcsPkt": "rx_bad_fcs",
    "txBadFcsPkt": "tx_bad_fcs",
    "illegalAccessCnt": "illegal_access",
}
_EVENTS = {"linkDown": "link_down", "replay": "replay", "replayFail": "replay_failed"}
_OLD_ERRORS = {
    "errReplay": "replay",
    "errFatal": "fatal",
    "errEccDouble": "ecc_double",
    "errCRC24": "crc24",
    "errCRC32": "crc32",
    "errCorrected": "corrected",
    "errUncorrected": "uncorrected",
}
"""Fields of the counters -> our words for them."""

_RELATIONS = {
    0: Relation.BOARD,
    1: Relation.BOARD,
    2: Relation.PIX,
    3: Relation.PXB,
    4: Relation.PHB,
    5: Relation.NODE,
    6: Relation.SYS,
}
"""cndevTopologyRelationshipEnum_t"""

_TRAFFIC_WINDOW_S = 0.02
"""What the driver counts PCIe bytes over (cndevPCIethroughputV2_t)."""


def links(cndev: Cndev, handle: int, named: Callable[[str], BoardKey]) -> Iterator[Link]:
    """One link a port.

    Args:
        cndev: the library.
        handle: the board.
        named: the key of the board that has a UUID.
    """
    for port in range(_ports(cndev, handle)):
        uuid = or_none(lambda port=port: _peer(cndev, handle, port))  # type: ignore[misc]
        yield Link(
            kind="MLU-Link",
            peer=None if uuid is None else named(uuid),
            up=or_none(lambda port=port: _is_up(cndev, handle, port)),  # type: ignore[misc]
            number=port,
            version=or_none(lambda port=port: _version(cndev, handle, port)),  # type: ignore[misc]
            bandwidth=or_none(lambda port=port: _bandwidth(cndev, handle, port)),  # type: ignore[misc]
            errors=_errors(cndev, handle, port),
        )


def _ports(cndev: Cndev, handle: int) -> int:
    """The call returns the number itself; below 0 or beyond belief it is none."""
    found = or_none(lambda: int(cndev.library.value("cndevGetMLULinkPortNumber", handle)))
    return found if found is not None and 0 <= found <= _MAX_PORTS else 0


def _peer(cndev: Cndev, handle: int, port: int) -> str:
    return uuid_text(cndev.read("cndevGetMLULinkRemoteInfo", LinkPeer, handle, port))


def _is_up(cndev: Cndev, handle: int, port: int) -> bool | None:
    def state() -> bool | None:
        found = cndev.read("cndevGetMLULinkStatusV2", LinkStatus, handle, port)
        return _STATES.get(number(found, "macState"))

    def old_state() -> bool | None:
        found = cndev.read("cndevGetMLULinkStatus", OldLinkStatus, handle, port)
        return flag(found, "isActive")

    return first(state, old_state)


def _version(cndev: Cndev, handle: int, port: int) -> str:
    found = cndev.read("cndevGetMLULinkVersion", ThreeNumbers, handle, port)
    return dotted(written(found, "numbers"))


def _bandwidth(cndev: Cndev, handle: int, port: int) -> float:
    """Bytes per second at most; the driver gives GB/s."""
    found = cndev.read("cndevGetMLULinkSpeedInfo", LinkSpeed, handle, port)
    speed = float(written(found, "speedValue"))
    if not math.isfinite(speed) or not 0 < speed <= _MAX_SPEED:
        raise NotReportedError(f"the driver answered {speed:g} GB/s")
    return speed * _GIGA


_MAX_SPEED = 10_000


def _errors(cndev: Cndev, handle: int, port: int) -> Mapping[str, int]:
    """Counters of newer releases, else the one set that older ones keep."""
    found: dict[str, int] = {}
    for name, kind, words in (
        ("cndevGetMLULinkErrorCounter", LinkErrors, _ERRORS),
        ("cndevGetMLULinkEventCounter", LinkEvents, _EVENTS),
    ):
        found |= _counts(cndev, name, kind, words, handle, port)
    if not found:
        name = "cndevGetMLULinkCounter"
        found = _counts(cndev, name, OldLinkCounters, _OLD_ERRORS, handle, port)
    return found


def _counts(
    cndev: Cndev, name: str, kind: type[Any], words: Mapping[str, str], handle: int, port: int
) -> dict[str, int]:
    structure = or_none(lambda: cndev.read(name, kind, handle, port))
    if structure is None:
        return {}
    counts = {
        word: or_none(lambda field=field: number(structure, field))  # type: ignore[misc]
        for field, word in words.items()
    }
    return {word: count for word, count in counts.items() if count is not None}


def relation(cndev: Cndev, handle: int, other: int) -> Relation | None:
    """How near two boards are; None where the driver's number means nothing known."""
    found = or_none(lambda: cndev.read("cndevTopologyGetRelationship", State, handle, other))
    return None if found is None else _RELATIONS.get(found.value)


def pcie(cndev: Cndev, handle: int) -> PcieLink:
    """The board's link to the host."""
    current = Once(lambda: cndev.read("cndevGetCurrentPCIInfo", PcieState, handle))
    highest = Once(lambda: cndev.read("cndevGetMaxPCIInfo", PcieState, handle))
    traffic = Once(lambda: cndev.read("cndevGetPCIethroughputV2", PcieTraffic, handle))
    return collect(
        PcieLink,
        {
            "generation": lambda: number(current(), "speed"),
            "max_generation": lambda: number(highest(), "speed"),
            "lanes": lambda: number(current(), "width"),
            "max_lanes": lambda: number(highest(), "width"),
            "replays": lambda: number(
                cndev.read("cndevGetPcieReplayCounter", Count, handle), "number"
            ),
            "received": lambda: number(traffic(), "pcieRead") / _TRAFFIC_WINDOW_S,
            "sent": lambda: number(traffic(), "pcieWrite") / _TRAFFIC_WINDOW_S,
        },
    )
