"""Links of boards: to one another, and to the host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from accelhal.doctor.board_names import board_name
from accelhal.doctor.facts import Facts
from accelhal.doctor.thresholds import BUSY_PERCENT, REPLAYS_PER_LANE
from accelhal.facts import BoardReading, Finding, FindingState
from accelhal.management.sampler import counter_rates
from accelhal.spi.doctor import Check, Cost

_GROUP = "Links"

AT_REST = frozenset({"idle"})
"""Words for a clock that is low because the board has nothing to do."""


def link_check(word: str) -> Check:
    """The check of one vendor's links between boards."""
    check_id = f"link.{word}"

    def run(facts: Facts) -> Iterator[Finding]:
        for spec in facts.specs:
            if facts.vendor_host(spec).links == word:
                yield from _links(check_id, facts.readings(spec.name))

    return Check(
        check_id,
        _GROUP,
        "links between boards: down ones, and their errors",
        ("the drivers' libraries",),
        run,
        depends_on=("device.lost",),
        explanation="Of boards of one model on one host the one with most links up sets what is "
        "expected: a board without bridge or switch has none, and no fault. Errors counted since "
        "the driver was loaded are history; their growth is judged by --watch.",
    )


def _links(check_id: str, readings: list[BoardReading]) -> Iterator[Finding]:
    up = {id(reading): sum(link.up is True for link in reading.links or ()) for reading in readings}
    for reading in readings:
        links = [link for link in reading.links or () if link.kind != "PCIe"]
        if not links:
            continue
        twins = [r for r in readings if r.board.name == reading.board.name]
        expected = max(up[id(twin)] for twin in twins)
        down = [str(link.number) for link in links if link.up is False]
        errors = sum(sum(link.errors.values()) for link in links)
        if not expected:
            yield _finding(check_id, "link.unused", FindingState.OK, reading)
        elif up[id(reading)] < expected and down:
            yield _finding(
                check_id,
                "link.down",
                FindingState.FAIL,
                reading,
                {"numbers": ", ".join(down), "up": up[id(reading)], "expected": expected},
                ("look at the bridge or switch of these links", "sudo dmesg | tail -50"),
            )
        elif errors:
            yield _finding(check_id, "link.errors", FindingState.INFO, reading, {"errors": errors})
        else:
            count = {"count": up[id(reading)]}
            yield _finding(check_id, "link.up", FindingState.OK, reading, count)


def _pcie(facts: Facts) -> Iterator[Finding]:
    for reading in facts.readings():
        link = reading.pcie
        if link is None or link.lanes is None or link.max_lanes is None:
            continue
        lanes: dict[str, str | int] = {"lanes": link.lanes}
        if link.lanes < link.max_lanes:
            yield _finding(
                "pcie.link",
                "pcie.narrow",
                FindingState.WARN,
                reading,
                lanes | {"most": link.max_lanes, "share": f"{link.lanes / link.max_lanes:.0%}"},
                (f"sudo lspci -vvv -s {reading.board.pci or 'ADDRESS'} | grep Lnk", "reseat it"),
            )
        elif link.generation is None or link.max_generation is None or not is_busy(reading):
            yield _finding("pcie.link", "pcie.idle", FindingState.OK, reading, lanes)
        elif link.generation < link.max_generation:
            yield _finding(
                "pcie.link",
                "pcie.slow",
                FindingState.WARN,
                reading,
                {"now": link.generation, "most": link.max_generation},
                (f"sudo lspci -vvv -s {reading.board.pci or 'ADDRESS'} | grep Lnk",),
            )
        else:
            yield _finding("pcie.link", "pcie.full", FindingState.OK, reading, lanes)


def _replays(facts: Facts) -> Iterator[Finding]:
    for window in facts.watched:
        link = window.reading.pcie
        rate = counter_rates(window.samples).get("replays")
        if link is None or link.lanes is None or link.max_generation is None or rate is None:
            continue
        per_lane = REPLAYS_PER_LANE.get(link.max_generation, max(REPLAYS_PER_LANE.values()))
        limit = link.lanes * per_lane
        loud = rate * 60 > limit
        yield _finding(
            "pcie.replay",
            "replay.many" if loud else "replay.few",
            FindingState.WARN if loud else FindingState.OK,
            window.reading,
            {"rate": round(rate * 60, 1), "limit": round(limit, 1)},
            ("reseat the board; try another slot or riser",) if loud else (),
        )


def is_busy(reading: BoardReading) -> bool:
    """Whether work runs on the board now: only then clocks and speeds say something.

    Utilization is of a stretch of time, so a board that it calls busy may rest at this moment.
    """
    seen = reading.telemetry
    if seen is None or (seen.utilization or 0.0) <= BUSY_PERCENT:
        return False
    return AT_REST.isdisjoint(seen.throttle_reasons or ())


def _finding(
    check: str,
    code: str,
    state: FindingState,
    reading: BoardReading,
    params: Mapping[str, str | int | float] | None = None,
    commands: tuple[str, ...] = (),
) -> Finding:
    return Finding(
        check,
        code,
        state,
        params or {},
        board_name(reading),
        commands=commands,
        needs_root=any(command.startswith("sudo") for command in commands),
    )


PCIE = Check(
    "pcie.link",
    _GROUP,
    "width of the boards' PCIe links, and their speed under load",
    ("the drivers' libraries",),
    _pcie,
    depends_on=("device.lost",),
    explanation="Fewer lanes than board and slot share are a fault at any time. The speed drops at "
    "rest to save power, so it is judged only while work runs.",
)
REPLAY = Check(
    "pcie.replay",
    _GROUP,
    "PCIe packets that are sent again",
    ("the drivers' counters over --watch",),
    _replays,
    Cost.WATCH,
    explanation="A link that sends packets again loses bandwidth and says that its signal is poor. "
    "Normal are 0.15, 0.3, 0.48, 0.96 and 1.92 a minute and lane for generations 1 to 5.",
)
