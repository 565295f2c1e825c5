"""`accelhal mock profile`: what was seen of real boards becomes a profile that simulates them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import accelhal_mock
import pytest
from accelhal_mock.installation import configure, preserved
from accelhal_mock.profiles import load_profile
from accelhal_mock.profiles.from_evidence import profile_of
from accelhal_mock.profiles.neutral import NEUTRAL
from accelhal_mock.profiles.user import profile_from_mapping
from click.testing import CliRunner, Result
from hypothesis import given, settings, strategies as st

import accelhal
from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.main import cli
from accelhal.evidence.document import write_snapshot
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import (
    BoardDetails,
    BoardInfo,
    BoardKey,
    BoardReading,
    Evidence,
    Link,
    Partition,
    PcieLink,
    Telemetry,
)

KNOWN = load_profile("a100-80g").product
KEY = BoardKey("toy", "pci", "0000:01:00.0")


def reading(name: str = "Toy 1", memory: int | None = 16 << 30, **seen: Any) -> BoardReading:
    return BoardReading(
        BoardInfo(KEY, "Toymaker", name, "toy", "toys", pci=KEY.value, total_memory=memory), **seen
    )


def content(*readings: BoardReading, nodes: int | None = None) -> dict[str, Any]:
    return dict(profile_of(readings, nodes, "seen by toys").content)


SEEN = {
    "details": BoardDetails(
        slowdown_temperature=85.0, max_core_clock=1400.0, max_memory_clock=1200.0
    ),
    "telemetry": Telemetry(temperature=30.0, power=55.0, power_limit=250.0, utilization=0.0),
    "pcie": PcieLink(generation=1, max_generation=4, lanes=16, max_lanes=16),
    "links": (
        Link("PCIe", None, True, 16),
        Link("ToyLink", None, True, bandwidth=25e9),
        Link("ToyLink", None, True, bandwidth=25e9),
        Link("ToyLink", None, False),
    ),
    "partitions": (Partition(KEY, KEY, "1t", 4 << 30, 0.25), Partition(KEY, KEY, "2t")),
}


def test_what_was_seen_is_taken_over() -> None:
    found = profile_from_mapping(content(reading(**SEEN), nodes=2))
    assert (found.name, found.product, found.vendor) == ("toy-1", "Toy 1", "Toymaker")
    assert (found.memory, found.power_limit, found.power_idle) == (16 << 30, 250.0, 55.0)
    assert (found.thermals.idle, found.thermals.slowdown) == (30.0, 85.0)
    assert (found.core_clock, found.memory_clock, found.numa_nodes) == (1400.0, 1200.0, 2)
    assert (found.pcie.generation, found.pcie.lanes) == (4, 16)
    assert (found.link.kind, found.link.bandwidth) == ("ToyLink", 50e9)
    assert [part.name for part in found.slices] == ["1t"]


def test_what_nobody_shows_is_said_to_be_assumed() -> None:
    found = profile_of([reading(**SEEN)], None, "seen by toys")
    assert found.model is None
    assert {"bandwidth", "peak_rates", "launch_cost", "thermals.full_load"} <= set(found.assumed)
    assert not {"memory", "power_limit", "pcie", "link"} & set(found.assumed)
    profile = profile_from_mapping(found.content)
    assert profile.bandwidth == NEUTRAL.bandwidth
    assert profile.assumed == frozenset(found.assumed)
    assert "seen by toys" in profile.sources


def test_what_is_published_of_the_model_fills_the_rest() -> None:
    known = load_profile("a100-80g")
    found = profile_of([reading(KNOWN, memory=79 << 30)], None, "seen by toys")
    profile = profile_from_mapping(found.content)
    assert found.model == "a100-sxm4-80gb"
    assert (profile.memory, profile.bandwidth) == (79 << 30, known.bandwidth)
    assert profile.peak_rates == known.peak_rates
    assert "bandwidth" in found.nominal
    assert not {"bandwidth", "peak_rates"} & set(found.assumed)
    assert profile.unverified == known.unverified - {"memory"}


def test_a_link_that_was_looked_for_and_is_not_there_is_none() -> None:
    without = profile_of([reading(KNOWN, links=(Link("PCIe", None, True),))], None, "toys")
    assert "link" not in without.content
    silent = content(reading(KNOWN, links=(Link("NVLink", None, True),)))
    assert silent["link"]["bandwidth"] == load_profile("a100-80g").link.bandwidth
    unknown = content(reading(links=(Link("ToyLink", None, True),)))
    assert unknown["link"]["bandwidth"] == NEUTRAL.link_bandwidth
    assert "link.bandwidth" in unknown["assumed"]


def test_a_board_at_work_tells_nothing_of_one_at_rest() -> None:
    busy = Telemetry(temperature=70.0, power=240.0, utilization=98.0)
    assert not {"power_idle", "thermals"} & set(content(reading(telemetry=busy)))


positive = st.none() | st.floats(0, 1e4) | st.sampled_from([0.0, -1.0])


@settings(max_examples=60)
@given(
    st.builds(Telemetry, temperature=positive, power=positive, power_limit=positive,
              utilization=st.sampled_from([None, 0.0, 50.0]), memory_clock=positive),
    st.builds(BoardDetails, slowdown_temperature=positive, max_core_clock=positive),
    st.sampled_from(["", "Toy 1", KNOWN]),
    st.none() | st.integers(1, 1 << 40),
)  # fmt: skip
def test_every_profile_can_be_simulated(
    telemetry: Telemetry, details: BoardDetails, name: str, memory: int | None
) -> None:
    found = content(reading(name, memory, telemetry=telemetry, details=details))
    profile = profile_from_mapping(json.loads(json.dumps(found)))
    assert profile.thermals.idle < profile.thermals.full_load < profile.thermals.slowdown
    assert 0 < profile.power_idle <= profile.power_limit


# ---- the command


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    boards = [
        reading(**SEEN),
        reading(**SEEN),
        reading(KNOWN, 80 << 30),
    ]
    boards = [
        replace(b, board=replace(b.board, pci=f"0000:0{n}:00.0", numa_node=n // 2))
        for n, b in enumerate(boards)
    ]
    part = replace(boards[0], board=replace(boards[0].board, parent=KEY, name="Toy 1 slice"))
    path = tmp_path / "s.json"
    evidence = Evidence("toy", "toys", (*boards, part))
    path.write_text(write_snapshot(Snapshot(evidence=(evidence,))))
    return str(path)


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["mock", "profile", *map(str, arguments)])


def test_a_profile_for_each_model(snapshot: str, tmp_path: Path) -> None:
    result = invoke(snapshot, "-o", tmp_path / "p.json")
    assert (result.exit_code, result.stdout) == (0, "")
    files = sorted(path.name for path in tmp_path.glob("p-*.json"))
    assert files == ["p-nvidia-a100-sxm4-80gb.json", "p-toy-1.json"]
    config = configure(profile=str(tmp_path / "p-toy-1.json"))
    assert (config.profiles[0].memory, config.profiles[0].numa_nodes) == (16 << 30, 2)
    assert "Toy 1: 2 boards, no model of that name is published" in result.stderr
    assert "assumed: bandwidth, launch_cost, peak_rates" in result.stderr
    assert "model a100-sxm4-80gb" in result.stderr


@pytest.mark.parametrize("board", ["0", "0000:00:00.0"])
def test_one_board_to_standard_output(snapshot: str, board: str) -> None:
    result = invoke(snapshot, "--board", board)
    assert json.loads(result.stdout)["product"] == "Toy 1"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "there are boards of 2 models: Toy 1, "),
        (["--board", "7"], "no board is called '7'"),
        (["-o", "p.toml"], "profiles are .json files"),
        (["-o", "/proc/p.json", "--board", "0"], "cannot be written to /proc/p.json"),
    ],
)
def test_wrong_usage(snapshot: str, arguments: list[str], words: str) -> None:
    result = invoke(snapshot, *arguments)
    assert result.exit_code == ExitCode.USAGE
    assert words in result.stderr
    assert result.stdout == ""


def test_a_file_is_overwritten_by_force_alone(snapshot: str, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text("mine")
    refused = invoke(snapshot, "--board", "0", "-o", path)
    assert refused.exit_code == ExitCode.USAGE
    assert "--force overwrites it" in refused.stderr
    assert invoke(snapshot, "--board", "0", "-o", path, "--force").exit_code == 0
    assert load_profile(path).product == "Toy 1"


def test_evidence_without_a_board(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(write_snapshot(Snapshot(taken="2026-01-01T00:00:00+00:00")))
    assert "no board is shown" in invoke(path).stderr


@pytest.fixture
def simulated() -> Iterator[None]:
    with preserved():
        accelhal_mock.install(count=2, profile="910b3", memory="32GiB")
        accelhal.device("mock:0")
        yield


def test_boards_make_a_profile_that_simulates_them(simulated: None, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    assert CliRunner().invoke(cli, ["snapshot", str(path)]).exit_code == 0
    result = invoke(path, "-o", tmp_path / "p.json")
    assert result.exit_code == 0, result.stderr
    before = load_profile("910b3")
    after = load_profile(tmp_path / "p.json")
    assert (after.memory, after.product) == (32 << 30, before.product)
    for name in ("bandwidth", "peak_rates", "power_limit", "pcie", "link", "arch"):
        assert getattr(after, name) == getattr(before, name)
    accelhal_mock.install(count=1, profile=tmp_path / "p.json")
    assert accelhal.device("mock:0").properties.name == before.product
