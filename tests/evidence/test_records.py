"""Two looks at one host: what the first does not tell, the second may."""

from __future__ import annotations

from typing import Any

import pytest

from accelhal.evidence.environment import BusBoard, Environment
from accelhal.evidence.records import joined_environments, joined_records
from accelhal.facts.host_record import BusPort, HostRecord

ADDRESS, OTHER = "0000:17:00.0", "0000:65:00.0"


@pytest.mark.parametrize(
    ("name", "one", "other", "both"),
    [
        ("kernel", "6.1", "6.8", "6.1"),
        ("kernel", None, "6.8", "6.8"),
        ("shared_memory", 0, 64, 0),
        ("variables", {"A": "1"}, {"A": "2", "B": ""}, {"A": "1", "B": ""}),
        ("variables", {"A": ""}, {"A": "2"}, {"A": ""}),
        ("modules", {"toy": ""}, {"toy": "7.1"}, {"toy": "7.1"}),
        ("modules", {"toy": "7.1"}, {"toy": ""}, {"toy": "7.1"}),
        ("iommu", {ADDRESS: ""}, {ADDRESS: "DMA"}, {ADDRESS: "DMA"}),
        ("nodes", {}, {"/dev/toy0": True}, {"/dev/toy0": True}),
        ("kernel_log", ("a", "b", "a"), ("b", "c", "c"), ("a", "b", "a", "c", "c")),
        ("messages", (), ("a",), ("a",)),
        ("torch_builds", {}, None, {}),
    ],
)
def test_a_part_of_two_records(name: str, one: Any, other: Any, both: Any) -> None:
    whole = joined_records(HostRecord(**{name: one}), HostRecord(**{name: other}))
    assert whole == HostRecord(**{name: both})


def test_ports_are_joined_by_their_addresses() -> None:
    one = HostRecord(ports=(BusPort(address=ADDRESS, speed=2.5),))
    other = HostRecord(
        ports=(BusPort(address=ADDRESS, speed=32.0, lanes=16), BusPort(address=OTHER, lanes=8))
    )
    whole = joined_records(one, other)
    assert whole is not None
    assert whole.ports == (
        BusPort(address=ADDRESS, speed=2.5, lanes=16),
        BusPort(address=OTHER, lanes=8),
    )


def test_a_wider_listing_of_the_bus_tells_more_of_a_board() -> None:
    plain = BusBoard(ADDRESS, "Toymaker", "1e60:", None, None, None, driver_shown=False)
    wide = BusBoard(ADDRESS, "Toymaker", "1e60:0001", "toy", 1, None)
    for one, other in ((plain, wide), (wide, plain)):
        whole = joined_environments(Environment(boards=(one,)), Environment(boards=(other,)))
        assert whole is not None
        assert whole.boards == (wide,)
