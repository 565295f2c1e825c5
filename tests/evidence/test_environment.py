"""The report of the environment: what it shows, and what it withholds."""

from __future__ import annotations

from collections.abc import Callable

from doctor.toys import TOY_VARIABLE, FakeHost, toy_spec

from accelhal.evidence.environment import read_environment
from accelhal.registry.listing import list_backends
from accelhal.spi import BackendSpec


def test_variables_are_shown_by_an_allow_list(
    fake: FakeHost, install: Callable[[BackendSpec], None]
) -> None:
    install(toy_spec())
    fake.environ |= {
        TOY_VARIABLE: "0",
        "ACCELHAL_DEVICE": "toy:0",
        "TOY_LICENSE_KEY": "sesame",
        "TOYMAKER_LOG": "3",
        "AWS_SECRET_ACCESS_KEY": "swordfish",
    }
    found = read_environment(fake.host, list_backends(fake.host))
    assert found.variables == {"ACCELHAL_DEVICE": "toy:0", TOY_VARIABLE: "0"}
    assert found.variables_withheld == ("TOYMAKER_LOG", "TOY_LICENSE_KEY")
    assert "sesame" not in str(found)
    assert "AWS" not in str(found)


def test_boards_name_their_backend(fake: FakeHost, install: Callable[[BackendSpec], None]) -> None:
    install(toy_spec())
    fake.toys(1)
    fake.pci("0000:40:00.0", "1de0", "1200")
    boards = read_environment(fake.host, list_backends(fake.host)).boards
    assert [board.backend for board in boards] == ["toy", None]
    assert boards[0].numa_node == 1
