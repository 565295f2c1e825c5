"""MIG slices: which one a device is on, and the commands that make and remove them."""

from __future__ import annotations

import pytest
from accelhal_cuda.location import driver_uuid, locate, locate_without_torch
from accelhal_cuda.management import NvmlManagement
from host_tree import HostTree
from vendor_stacks.nvml.simulated import key, library as library, nvml as nvml
from vendor_stacks.simulated_library import SetScenario, scenario as scenario

from accelhal.facts import BoardKey, DeviceProperties
from accelhal.host import Host
from accelhal.management.finding import named_board

SLICED = "boards 2\nset 1 mig 1\nset 1 slices 2\n"
NAME = "NVIDIA A100-SXM4-80GB MIG 2g.20gb"


def test_a_slice_is_told_by_its_uuid_alone(nvml: NvmlManagement, scenario: SetScenario) -> None:
    scenario(SLICED)
    boards = nvml.boards()
    _, whole, one, other = boards
    for part in (one, other):
        host = Host(environ={"CUDA_VISIBLE_DEVICES": str(part.uuid)})
        without = locate_without_torch(0, host, boards).key
        assert without is not None
        assert named_board(without, boards) == part
        # torch may report the board's own UUID for a slice.
        uuid = driver_uuid(0, NAME, str(whole.uuid).removeprefix("GPU-"), host)
        with_torch = locate(0, DeviceProperties(NAME, "NVIDIA", uuid=uuid), host).key
        assert with_torch == without


@pytest.mark.parametrize(
    ("mask", "index", "says"),
    [
        (None, 0, "cut into slices"),
        ("1", 0, "cut into slices"),
        (key(1).value, 0, "cut into slices"),
        ("{one},{other}", 1, "one MIG slice alone"),
        ("MIG-ffff", 0, "no board is called"),
        ("{one},{one}", 0, "hides every device"),
        ("", 0, "hides every device"),
    ],
)
def test_what_would_be_a_guess_among_slices_is_a_reason(
    nvml: NvmlManagement, scenario: SetScenario, mask: str | None, index: int, says: str
) -> None:
    scenario(SLICED)
    boards = nvml.boards()
    environ = {}
    if mask is not None:
        text = mask.format(one=boards[2].uuid, other=boards[3].uuid)
        environ["CUDA_VISIBLE_DEVICES"] = text
    found = locate_without_torch(index, Host(environ=environ), boards)
    assert found.key is None
    assert says in found.reason


def test_a_whole_board_beside_a_cut_one_is_told_by_its_uuid(
    nvml: NvmlManagement, scenario: SetScenario
) -> None:
    scenario(SLICED)
    host = Host(environ={"CUDA_VISIBLE_DEVICES": key(0).value})
    assert locate_without_torch(0, host, nvml.boards()).key == key(0)


def test_the_name_of_a_slice_under_drivers_before_470(host_tree: HostTree) -> None:
    older = f"MIG-{key(0).value}/1/0"
    host_tree.env(CUDA_VISIBLE_DEVICES=older)
    assert driver_uuid(0, NAME, "whatever", host_tree.host) == older


@pytest.fixture
def host_tree(tmp_path_factory: pytest.TempPathFactory) -> HostTree:
    return HostTree(tmp_path_factory.mktemp("slices"))


@pytest.mark.parametrize("source", ["pci", "visible-order"])
def test_figures_are_read_by_every_name_that_a_device_is_traced_by(
    nvml: NvmlManagement, scenario: SetScenario, source: str
) -> None:
    scenario("boards 2\nset 1 temperature 61\n")
    value = nvml.boards()[1].pci if source == "pci" else "1"
    assert nvml.telemetry(BoardKey("cuda", source, str(value))).temperature == 61  # type: ignore[arg-type]


def test_commands_that_make_a_slice(nvml: NvmlManagement, scenario: SetScenario) -> None:
    scenario("boards 2\nset 0 mig 0\nset 1 mig 1\n")
    assert nvml.partition_commands(key(0), "3g.40gb").lines == (
        f"sudo nvidia-smi -i {key(0).value} -mig 1",
        f"sudo nvidia-smi mig -i {key(0).value} -cgi 3g.40gb -C",
    )
    assert nvml.partition_commands(key(1), "9; reboot").lines == (
        f"sudo nvidia-smi mig -i {key(1).value} -cgi '9; reboot' -C",
    )


def test_a_board_without_mig_has_no_command(nvml: NvmlManagement, scenario: SetScenario) -> None:
    found = nvml.partition_commands(key(0), "1g.10gb")
    assert found.lines == ()
    assert "cannot be cut" in found.notes[0]


def test_commands_that_remove_a_slice(nvml: NvmlManagement, scenario: SetScenario) -> None:
    scenario(SLICED)
    part = nvml.partitions(key(1))[1]
    assert nvml.removal_commands(part.key).lines == (
        f"sudo nvidia-smi mig -i {key(1).value} -dci -ci 0 -gi 2",
        f"sudo nvidia-smi mig -i {key(1).value} -dgi -gi 2",
    )
    assert nvml.removal_commands(key(1)).lines == ()
