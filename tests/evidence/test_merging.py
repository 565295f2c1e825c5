"""Several looks at one host: the same boards under their several names, or refused in words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from accelhal.evidence.contradictions import ContradictionError
from accelhal.evidence.merging import merged
from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardKey,
    BoardReading,
    BoardRelation,
    Evidence,
    HealthCheck,
    HealthReport,
    HealthStatus,
    Link,
    Partition,
    Relation,
    Telemetry,
)

NAMES = ("uuid", "pci", "index")


def whole(number: int) -> BoardInfo:
    """A board with every name; two share a serial, as the chips of one board do."""
    key = BoardKey("toy", "uuid", f"u{number}")
    return BoardInfo(
        key,
        "Toy Works",
        "Toy 1",
        "toy",
        "toy tool",
        index=number,
        uuid=f"u{number}",
        serial=f"s{number // 2}",
        pci=f"0000:{number + 16:02x}:00.0",
    )


def seen(number: int, *names: str, **more: object) -> BoardReading:
    """The board as a source shows it that tells these names alone."""
    board = whole(number)
    hidden = dict.fromkeys({*NAMES, "serial"} - set(names))
    source = {"uuid": "uuid", "pci": "pci", "index": "logic-id"}[names[0]] if names else "pci"
    value = str(getattr(board, names[0])) if names else "?"
    key = BoardKey("toy", source, value)
    return BoardReading(replace(board, key=key, **hidden), **more)


def evidence(*boards: BoardReading, source: str = "toy-smi", **more: object) -> Evidence:
    return Evidence("toy", source, boards, **more)


@st.composite
def looks(draw: st.DrawFn) -> Evidence:
    """Some boards of a host of six, by some of their names."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    numbers = draw(st.lists(st.integers(0, 5), max_size=6, unique=True))
    serial = draw(st.sampled_from([(), ("serial",)]))
    temperatures = st.none() | st.builds(Telemetry, temperature=st.floats(0, 90))
    boards = [seen(n, *names, *serial, telemetry=draw(temperatures)) for n in numbers]
    pairs = [(i, j) for j in range(len(boards)) for i in range(j)]
    told = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return evidence(*boards, relations=tuple(BoardRelation(i, j, Relation.SYS) for i, j in told))


@given(looks())
def test_merging_with_itself_changes_nothing(one: Evidence) -> None:
    assert merged(one, one) == one


@given(looks(), looks())
def test_the_order_does_not_change_which_boards_there_are(one: Evidence, other: Evidence) -> None:
    def boards(first: Evidence, second: Evidence) -> set[tuple[object, ...]] | None:
        try:
            found = merged(first, second).boards
        except ContradictionError:
            return None
        return {tuple(getattr(r.board, name) for name in NAMES) for r in found}

    assert boards(one, other) == boards(other, one)


@given(looks(), looks())
def test_every_board_is_one_of_the_host(one: Evidence, other: Evidence) -> None:
    try:
        found = merged(one, other)
    except ContradictionError:
        return
    for reading in found.boards:
        numbers = [n for n in range(6) if is_seen(reading.board, n)]
        assert len(numbers) == 1
    assert len(found.boards) <= 6


def is_seen(board: BoardInfo, number: int) -> bool:
    return all(getattr(board, n) in (None, getattr(whole(number), n)) for n in NAMES)


def test_a_third_name_joins_two_looks() -> None:
    one = evidence(seen(0, "index", "pci"), seen(1, "index", "pci"))
    other = evidence(seen(1, "pci", "uuid", telemetry=Telemetry(power=70.0)))
    found = merged(one, other)
    assert [reading.board.uuid for reading in found.boards] == [None, "u1"]
    assert found.boards[1].telemetry == Telemetry(power=70.0)


def test_the_better_key_is_taken_everywhere() -> None:
    peer = BoardKey("toy", "logic-id", "0")
    one = evidence(
        seen(0, "index", "pci", partitions=(Partition(BoardKey("toy", "uuid", "p"), peer, "1g"),)),
        seen(1, "index", "pci", links=(Link("ToyLink", peer, True),)),
    )
    found = merged(one, evidence(seen(0, "uuid", "pci")))
    key = BoardKey("toy", "uuid", "u0")
    assert found.boards[0].board.key == key
    assert found.boards[0].partitions[0].parent == key
    assert found.boards[1].links[0].peer == key


def test_a_backend_may_prefer_another_key() -> None:
    one = evidence(seen(0, "index", "pci"), keyed_by=("logic-id", "uuid"))
    found = merged(one, evidence(seen(0, "uuid", "pci")))
    assert found.boards[0].board.key == BoardKey("toy", "logic-id", "0")


def test_what_the_first_leaves_open_the_second_fills() -> None:
    first = Telemetry(temperature=40.0, reasons={"power": "no right"})
    second = Telemetry(temperature=50.0, power=9.0)
    found = merged(
        evidence(seen(0, "uuid", telemetry=first), versions={"driver": "1"}, notes=("a",)),
        evidence(seen(0, "uuid", telemetry=second), versions={"tool": "2"}, notes=("a", "b")),
    )
    assert found.boards[0].telemetry == Telemetry(temperature=40.0, power=9.0)
    assert found.versions == {"driver": "1", "tool": "2"}
    assert found.notes == ("a", "b")
    assert found.source == "toy-smi"


def test_a_name_that_a_table_cut_off_is_filled() -> None:
    cut = seen(0, "uuid")
    cut = replace(cut, board=replace(cut.board, name="To..."))
    assert merged(evidence(cut), evidence(seen(0, "uuid"))).boards[0].board.name == "Toy 1"


def test_one_tools_page_is_not_another_ones() -> None:
    found = merged(
        evidence(seen(0, "uuid"), source="toy-smi topo -m"),
        evidence(seen(0, "uuid"), source="toy-smi"),
    )
    assert found.source == "toy-smi topo -m, toy-smi"


def test_slices_are_numbered_within_their_board() -> None:
    def cut(number: int, part: int) -> BoardReading:
        board = replace(whole(number), uuid=None, index=part, parent=whole(number).key)
        return BoardReading(board)

    slices = [cut(0, 0), cut(0, 1), cut(1, 0)]
    one = evidence(seen(0, "uuid", "pci"), seen(1, "uuid", "pci"), *slices)
    assert merged(one, one) == one
    assert len(merged(evidence(*slices[:2]), evidence(*slices[1:])).boards) == 3


def test_slices_of_a_board_that_the_other_names_differently() -> None:
    board = seen(0, "index", "pci").board
    key = BoardKey("toy", "logic-id", "0:1")
    numbered = BoardReading(replace(board, key=key, index=1, parent=board.key, name=""))
    named = seen(0, "uuid", "index").board
    cut = BoardReading(
        replace(named, key=BoardKey("toy", "uuid", "cut"), uuid="cut", index=1, parent=named.key)
    )
    for one, other in (
        (evidence(seen(0, "index", "pci"), numbered), evidence(seen(0, "uuid", "index"), cut)),
        (evidence(seen(0, "uuid", "index"), cut), evidence(seen(0, "index", "pci"), numbered)),
    ):
        found = merged(one, other)
        assert [reading.board.uuid for reading in found.boards] == ["u0", "cut"]
        assert found.boards[1].board.parent == found.boards[0].board.key


def test_health_is_the_worst_of_what_either_looked_at() -> None:
    ecc = HealthCheck("ecc", HealthStatus.OK)
    asked = HealthCheck("recovery", HealthStatus.FAILED)
    one = evidence(seen(0, "uuid", health=HealthReport.of([ecc])))
    other = evidence(seen(0, "uuid", health=HealthReport.of([asked])))
    [found] = merged(one, other).boards
    assert found.health is not None
    assert found.health.status is HealthStatus.FAILED
    assert {check.name for check in found.health.checks} == {"ecc", "recovery"}


def other_uuid(number: int) -> BoardReading:
    return BoardReading(replace(whole(number), uuid="another"))


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (seen(0, "pci", "uuid"), other_uuid(0), "another uuid"),
        (seen(0, "uuid"), seen(0, "index"), "which is which is not known"),
        (seen(0, "uuid", "index"), BoardReading(replace(whole(0), index=4)), "another index"),
    ],
)
def test_contradictions_are_refused(one: BoardReading, other: BoardReading, why: str) -> None:
    with pytest.raises(ContradictionError, match=why):
        merged(evidence(one), evidence(other))


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"name": "Toy 2"}, "calls a Toy 1 Toy 2"),
        ({"total_memory": 32 << 30}, "16384 MiB of memory 32768 MiB"),
    ],
)
def test_another_product_at_the_same_address_is_of_another_host(
    other: dict[str, object], why: str
) -> None:
    here = seen(0, "pci", "index")
    here = replace(here, board=replace(here.board, total_memory=16 << 30))
    there = replace(here, board=replace(here.board, **other))
    with pytest.raises(ContradictionError, match=why):
        merged(evidence(here), evidence(there))


@pytest.mark.parametrize(
    "other",
    [
        {"name": "Toy Works TOY-1"},
        {"name": ""},
        {"name": "PCI device 1e60:0001", "source": "pci"},
        {"total_memory": (16 << 30) - (300 << 20)},
        {"total_memory": None},
    ],
)
def test_one_product_may_be_told_in_several_ways(other: dict[str, object]) -> None:
    here = seen(0, "pci", "index")
    here = replace(here, board=replace(here.board, total_memory=16 << 30))
    there = replace(here, board=replace(here.board, **other))
    assert merged(evidence(here), evidence(there)).boards == (here,)


def test_links_and_cpus_that_differ_are_of_two_hosts() -> None:
    def looked(lanes: int, cpus: tuple[int, ...], source: str) -> Evidence:
        boards = (
            replace(seen(n, "uuid" if source == "one" else "index", "index"), links=(link,))
            for n, link in enumerate(
                Link("Toy Link", seen(peer, "uuid" if source == "one" else "index").board.key)
                for peer in (1, 0)
            )
        )
        return evidence(
            *(
                replace(
                    board,
                    details=BoardDetails(cpu_affinity=cpus),
                    links=tuple(replace(link, lanes=lanes) for link in board.links or ()),
                )
                for board in boards
            )
        )

    one = looked(2, (0, 1), "one")
    assert merged(one, looked(2, (0, 1), "other")).boards == one.boards
    with pytest.raises(ContradictionError, match=r"4 links lead to a board .* says 2"):
        merged(one, looked(4, (0, 1), "other"))
    with pytest.raises(ContradictionError, match="other CPUs"):
        merged(one, looked(2, (0, 1, 2), "other"))


def test_a_serial_alone_does_not_tell_the_chips_of_a_board_apart() -> None:
    with pytest.raises(ContradictionError, match="serial alone"):
        merged(evidence(seen(2, "uuid", "serial")), evidence(seen(3, "pci", "serial")))
    both = evidence(seen(2, "uuid", "serial"), seen(3, "uuid", "pci", "serial"))
    found = merged(both, evidence(seen(3, "pci", "serial", telemetry=Telemetry(power=9.0))))
    assert [reading.telemetry for reading in found.boards] == [None, Telemetry(power=9.0)]


def test_relations_and_versions_that_differ_are_refused() -> None:
    boards = (seen(0, "uuid"), seen(1, "uuid"))
    near, far = (
        evidence(*boards, relations=(BoardRelation(0, 1, relation),))
        for relation in (Relation.PIX, Relation.SYS)
    )
    with pytest.raises(ContradictionError, match="sys of two boards of which the other says pix"):
        merged(near, far)
    with pytest.raises(ContradictionError, match="driver 2, the other 1"):
        merged(evidence(versions={"driver": "1"}), evidence(versions={"driver": "2"}))
    swapped = evidence(*reversed(boards), relations=near.relations)
    assert merged(near, swapped) == near


def test_two_boards_that_are_one_are_refused() -> None:
    twice = (seen(0, "uuid"), seen(0, "uuid"))
    with pytest.raises(ContradictionError, match="two boards of the other"):
        merged(evidence(*twice), evidence(seen(0, "uuid")))
    with pytest.raises(ContradictionError, match="the same board of the other"):
        merged(evidence(seen(0, "uuid")), evidence(*twice))
