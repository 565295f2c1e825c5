"""A snapshot holds what every driver says, and of a driver that fails, that it did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import accelhal_mock
import pytest
import toy_boards
from accelhal_mock.installation import preserved
from doctor.toys import TOY_VENDOR, FakeHost
from fake_spec import fake_spec
from topology.pci_tree import pci_host

import accelhal
from accelhal.evidence.boards import readings, topology
from accelhal.evidence.document import read_snapshot, redacted, write_snapshot
from accelhal.evidence.snapshot import Snapshot
from accelhal.evidence.taking import take_snapshot
from accelhal.facts import (
    BoardInfo,
    BoardKey,
    HealthReport,
    HealthStatus,
    Link,
    Relation,
    Telemetry,
)
from accelhal.host import Host
from accelhal.management import driver_client
from accelhal.redaction import PrivateNames
from accelhal.spi import Management
from accelhal.topology import discover

pytestmark = pytest.mark.usefixtures("fresh_registry")


class Driver(Management):
    """Two boards; `answers` replaces what a method returns or raises."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers

    def boards(self) -> Sequence[BoardInfo]:
        return self._answer("boards", [board(0), board(1)])

    def telemetry(self, board: BoardKey) -> Telemetry:
        return self._answer("telemetry", Telemetry(temperature=40.0))

    def health(self, board: BoardKey) -> HealthReport:
        return self._answer("health", HealthReport(HealthStatus.OK))

    def links(self, key: BoardKey) -> Sequence[Link]:
        return self._answer("links", [Link("ToyLink", board(1).key, True)])

    def versions(self) -> dict[str, str]:
        return self._answer("versions", {"driver": "7.1"})

    def _answer(self, method: str, usual: Any) -> Any:
        answer = self.answers.get(method, usual)
        if isinstance(answer, Exception):
            raise answer
        return answer


def board(number: int) -> BoardInfo:
    uuid = f"TOY-{number:08x}-1111-4222-8333-444444444444"
    key = BoardKey("toy", "uuid", uuid)
    pci = f"0000:{number:02x}:00.0"
    return BoardInfo(key, "Toymaker", "Toy 1", "toy", "toy library", number, uuid, "SN-700123", pci)


def take(driver: Driver, host: Host, **fields: Any) -> Snapshot:
    accelhal.register(fake_spec("toy", open_management=lambda: driver, **fields))
    return take_snapshot(host)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(root=tmp_path, environ={})


def test_what_the_driver_says(host: Host) -> None:
    found = take(Driver(), host)
    (evidence,) = (e for e in found.evidence if e.backend == "toy")
    first = evidence.boards[0]
    assert (first.telemetry, first.health) == (Telemetry(temperature=40.0), HealthReport("ok"))
    assert first.links == (Link("ToyLink", board(1).key, True),)
    assert evidence.versions == {"driver": "7.1"}
    assert [told.relation for told in evidence.relations] == [Relation.LINK]
    assert evidence.source == "toy library"
    assert found.notes == ()
    assert found.host is not None
    assert "toy" in [backend.name for backend in found.environment.backends]
    assert read_snapshot(write_snapshot(found)) == found


@pytest.mark.parametrize(
    ("method", "answer", "words"),
    [
        ("telemetry", OSError("no such sensor"), "telemetry of 2 of 2 boards not read: no such"),
        ("telemetry", "warm", "a str where Telemetry is due"),
        ("telemetry", Telemetry(power=float("nan")), "power: nan is not finite"),
        ("links", [Link("ToyLink", None, errors={"crc": "1"})], "'1' is not a whole number"),
        ("links", 3, "links of 2 of 2"),
        ("versions", {"driver": 7}, "versions not read: versions.*7 is not a text"),
    ],
)
def test_a_reading_that_fails_costs_itself(
    host: Host, method: str, answer: Any, words: str
) -> None:
    found = take(Driver(**{method: answer}), host)
    (note,) = found.notes
    assert note.startswith("toy: ")
    assert words.partition(".*")[0] in note
    (evidence,) = (e for e in found.evidence if e.backend == "toy")
    assert evidence.boards[0].health == HealthReport(HealthStatus.OK)
    assert getattr(evidence.boards[0], method, None) is None
    assert read_snapshot(write_snapshot(found)) == found


def test_boards_of_a_driver_that_does_not_answer_are_those_on_the_bus(fake: FakeHost) -> None:
    fake.toys(1)
    failing = Driver(boards=OSError("the driver is gone"))
    found = take(failing, fake.host, pci_vendor_ids=(TOY_VENDOR,))
    (evidence,) = (e for e in found.evidence if e.backend == "toy")
    assert evidence.source == "the PCI bus"
    assert evidence.boards[0].board.pci == "0000:00:00.0"
    assert found.notes == ("toy: boards not read: the driver is gone",)


def test_a_driver_that_hangs_costs_its_limit(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[driver_client.DriverClient] = []

    class Quick(driver_client.DriverClient):
        def __init__(self, backend: str, start: Callable[[], Management]) -> None:
            super().__init__(backend, start, call_limit_s=1.0)
            started.append(self)

    monkeypatch.setattr("accelhal.management.planes.DriverClient", Quick)
    accelhal.register(fake_spec("toy", open_management=toy_boards.start))
    try:
        found = take_snapshot(host)
    finally:
        for client in started:
            client.close()
    (evidence,) = (e for e in found.evidence if e.backend == "toy")
    read = {r.board.key.value: r.telemetry is not None for r in evidence.boards}
    assert (read["well"], read["hangs"], read["other"]) == (True, False, True)
    assert any("telemetry of 6 of 8 boards" in note for note in found.notes)


def test_boards_of_two_backends_are_near_by_the_bus(tmp_path: Path) -> None:
    root = "pci0000:00/0000:00:01.0"
    host = pci_host(tmp_path, {"0000:00:00.0": (root, 0), "0000:01:00.0": (root, 0)})

    class Other(Driver):
        def boards(self) -> Sequence[BoardInfo]:
            key = BoardKey("box", "pci", "b")
            return [BoardInfo(key, "Box", "Box", "box", "box", pci="0000:01:00.0")]

        def links(self, key: BoardKey) -> Sequence[Link]:
            return ()

    accelhal.register(fake_spec("box", open_management=Other))
    found = take(Driver(boards=[board(0)], links=[]), host)
    assert [between.relation for between in found.relations] == [Relation.PIX]
    assert topology(found).relation(0, 1) is Relation.PIX


def test_simulated_boards_are_in_it_once_they_are_in_use() -> None:
    with preserved():
        accelhal_mock.install(count=2)
        assert "mock" not in [evidence.backend for evidence in take_snapshot().evidence]
        accelhal.device("mock:0")
        (evidence,) = (e for e in take_snapshot().evidence if e.backend == "mock")
    assert len(evidence.boards) == 2


def test_no_private_detail_survives_and_the_boards_still_join(host: Host) -> None:
    environ = {"LD_LIBRARY_PATH": "/home/evelyn/lib", "TOY": "1"}
    driver = Driver(
        telemetry=Telemetry(reasons={"power": f"{board(0).uuid} SN-700123 said no to evelyn"}),
        versions={"driver": "7.1.0.3"},
    )
    found = take(driver, Host(root=host.root, environ=environ))
    shared = redacted(found, PrivateNames(("evelyn",), ("crunch17", "link"), ("/home/evelyn",)))
    text = write_snapshot(shared)
    for private in ("evelyn", "crunch17", "TOY-0000", "1111-4222", "700123"):
        assert private not in text
    assert shared.redacted
    for detail in ("0000:01:00.0", "7.1.0.3", "Toy 1", "<uuid-1> <serial-1> said no"):
        assert detail in text
    again = read_snapshot(text)
    assert topology(again).matrix() == topology(found).matrix()
    assert [r.telemetry and r.telemetry.temperature for r in readings(again)] == [
        r.telemetry and r.telemetry.temperature for r in readings(found)
    ]
    keys = [reading.board.key for reading in readings(again)]
    assert readings(again)[0].links[0].peer == keys[1]
    assert keys[0].value == readings(again)[0].board.uuid


def test_a_snapshot_of_simulated_boards_has_their_matrix() -> None:
    with preserved():
        accelhal_mock.install(count=4)
        accelhal.device("mock:0")
        live = discover()
        found = redacted(take_snapshot(), PrivateNames())
    assert topology(read_snapshot(write_snapshot(found))).matrix() == live.matrix()
    assert readings(found)[3].telemetry.temperature is not None
