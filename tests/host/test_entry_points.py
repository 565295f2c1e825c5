"""Entry points: one damaged distribution costs only itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from accelhal.host.entry_points import InstalledEntryPoint, canonical_name, read_entry_points

GROUP = "accelhal_test.group"
METADATA = b"Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n"
ENTRIES = f"[{GROUP}]\ntoy = toy.spec:SPEC\n".encode()

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Put a distribution on the path: the bytes of its METADATA and its entry_points.txt."""

    def write(
        folder: str = "toy-1.0.dist-info",
        metadata: bytes | None = METADATA,
        entries: bytes = ENTRIES,
        site: str = "site",
    ) -> Path:
        place = tmp_path / site / folder
        place.mkdir(parents=True)
        if metadata is not None:
            (place / "METADATA").write_bytes(metadata)
        (place / "entry_points.txt").write_bytes(entries)
        monkeypatch.syspath_prepend(tmp_path / site)
        return place

    return write


def test_an_entry_point_comes_with_its_distribution(write: Write) -> None:
    write()
    found = read_entry_points(GROUP)
    assert found.found == (InstalledEntryPoint("toy", "toy.spec:SPEC", "toy", "1.0"),)
    assert (found.found[0].package, found.damaged) == ("toy", {})


DAMAGED = {
    "no name": {"metadata": b"Metadata-Version: 2.1\nVersion: 1.0\n"},
    "no metadata": {"metadata": None},
    "no name in its folder": {"folder": ".dist-info", "metadata": None},
    "a line without a value": {"entries": f"[{GROUP}]\ntoy\n".encode()},
    "an entry without a name": {"entries": f"[{GROUP}]\n = a:b\n".encode()},
    "names in no encoding": {"metadata": b"Name: t\xff\xfey\n"},
    "entries in no encoding": {"entries": f"[{GROUP}]\n".encode() + b"t\xff = a:b\n"},
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_distribution_hides_no_other(write: Write, damage: dict[str, object]) -> None:
    write("good-1.0.dist-info", b"Name: good\nVersion: 1.0\n", site="good")
    place = write(**damage)
    found = read_entry_points(GROUP)
    assert [entry.distribution for entry in found.found] == ["good"]
    assert list(found.damaged) == [str(place)]


def test_a_version_may_be_missing(write: Write) -> None:
    write(metadata=b"Name: toy\n")
    assert [entry.version for entry in read_entry_points(GROUP).found] == [""]


def test_of_one_name_the_first_on_the_path_counts(write: Write) -> None:
    write(site="behind")
    write("Toy-2.0.dist-info", b"Name: Toy\nVersion: 2.0\n", site="before")
    assert [entry.version for entry in read_entry_points(GROUP).found] == ["2.0"]
    write("toy-3.0.dist-info", b"Name: toy\nVersion: 3.0\n", b"[other]\na = b:c\n", site="first")
    assert read_entry_points(GROUP).found == (), "what shadows the name has no such entry point"


@given(st.from_regex(r"[A-Za-z0-9]+([-_.]+[A-Za-z0-9]+)*", fullmatch=True))
def test_names_compare_as_pip_compares_them(name: str) -> None:
    canonical = canonical_name(name)
    assert canonical_name(canonical) == canonical
    assert canonical_name(name.upper().replace("-", "__").replace(".", "-.")) == canonical


def test_a_damaged_neighbour_breaks_no_command_and_the_doctor_names_it(tmp_path: Path) -> None:
    place = tmp_path / "toy-1.0.dist-info"
    place.mkdir()
    (place / "METADATA").write_bytes(METADATA)
    (place / "entry_points.txt").write_text("[accelhal.backends]\ntoy\n")
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "9999"}
    for command in (["devices"], ["env"], ["doctor", "--no-redact"]):
        done = subprocess.run(
            [sys.executable, "-m", "accelhal", *command],
            capture_output=True,
            text=True,
            timeout=120,
            env=env,
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert f"reinstall or remove what lies in {place}" in done.stdout
