"""Cases of drivers, their libraries and versions, and containers; each beside a sound host."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from doctor.cases.evidence_of import boards, judged, loud, snapshot

from accelhal.evidence.environment import BusBoard, Environment
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import BoardDetails, Finding, FindingState, HostFacts

FAIL, WARN, UNKNOWN, INFO = (
    FindingState.FAIL,
    FindingState.WARN,
    FindingState.UNKNOWN,
    FindingState.INFO,
)
CONTAINER = HostFacts("Linux", "6.8", "x86_64", "3.11", None, 8, None, "docker", "container")
BARE = HostFacts("Linux", "6.8", "x86_64", "3.11", None, 8, None, None, "bare")
CHECKS = (
    "driver.foreign",
    "driver.module",
    "driver.nodes",
    "driver.userlib",
    "driver.match",
    "driver.toolkit",
    "driver.firmware",
    "driver.persistence",
    "container.mounts",
    "container.cgroup",
)
PCI_IDS = {"cuda": "10de", "npu": "19e5", "mlu": "cabc"}
LIBRARIES = {
    "cuda": {
        "libcuda.so.1": "/usr/lib/x86_64-linux-gnu/libcuda.so.570.133.20",
        "libnvidia-ml.so.1": "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.133.20",
    },
    "npu": {"libascend_hal.so": "/usr/local/Ascend/driver/lib64/driver/libascend_hal.so"},
    "mlu": {"libcndev.so": "/usr/local/neuware/lib64/libcndev.so"},
}
MODULES = {
    "cuda": {"nvidia": "570.133.20", "nvidia_uvm": ""},
    "npu": {"drv_davinci_intf_host": ""},
    "mlu": {"cambricon_drv": ""},
}
CONTROL_NODES = {
    "cuda": ("/dev/nvidiactl", "/dev/nvidia-uvm"),
    "npu": ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"),
    "mlu": ("/dev/cambricon_ctl",),
}
BOARD_NODE = {"cuda": "/dev/nvidia", "npu": "/dev/davinci", "mlu": "/dev/cambricon_dev"}


def nodes(backend: str, count: int) -> dict[str, bool]:
    paths = [*CONTROL_NODES[backend], *(f"{BOARD_NODE[backend]}{n}" for n in range(count))]
    return dict.fromkeys(paths, True)


def shown(
    backend: str,
    *,
    on_bus: int = 2,
    listed: int = 0,
    driver: str | None = "own",
    contained: bool = False,
    **record: Any,
) -> Snapshot:
    """A host whose driver is sound, but for what is given."""
    bus = tuple(
        BusBoard(f"0000:{n + 1:02x}:00.0", "Vendor", f"{PCI_IDS[backend]}:1", driver, None, backend)
        for n in range(on_bus)
    )
    sound = {
        "kernel": "6.8.0-60-generic",
        "modules": MODULES[backend],
        "nodes": nodes(backend, on_bus),
        "refused_nodes": (),
        "libraries": LIBRARIES[backend],
    }
    seen = snapshot(backend, boards(backend, listed), **{**sound, **record})
    host = CONTAINER if contained else BARE
    return replace(seen, host=host, environment=Environment(boards=bus))


def the_fault(found: list[Finding]) -> Finding:
    (fault,) = loud(found)
    return fault


# ---- sound hosts


@pytest.mark.parametrize("backend", ["cuda", "npu", "mlu"])
@pytest.mark.parametrize("contained", [False, True])
def test_a_sound_host_and_container_are_calm(backend: str, contained: bool) -> None:
    found = judged(shown(backend, on_bus=8, listed=8, contained=contained), *CHECKS)
    assert not loud(found)


@pytest.mark.parametrize("backend", ["cuda", "npu", "mlu"])
def test_a_container_that_was_given_two_of_eight_boards_is_calm(backend: str) -> None:
    found = judged(
        shown(backend, on_bus=8, listed=2, contained=True, nodes=nodes(backend, 2)), *CHECKS
    )
    assert not loud(found)


def test_a_machine_without_boards_is_calm() -> None:
    bare = Snapshot(host=BARE, environment=Environment())
    assert {finding.state for finding in judged(bare, *CHECKS)} <= {FindingState.OK}


def test_what_is_not_shown_is_unknown() -> None:
    found = judged(Snapshot(), "driver.module", "driver.nodes", "driver.userlib")
    assert {finding.state for finding in found} == {UNKNOWN}


# ---- driver.module, driver.foreign


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
            id="NV-012",
        ),
        "Failed to initialize NVML: Driver Not Loaded",
        "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-60-generic",
    ],
)
def test_tools_that_do_not_reach_the_driver(line: str) -> None:
    fault = the_fault(judged_lines(line))
    assert (fault.check, fault.state, fault.device) == ("driver.module", FAIL, "cuda")
    assert any("dkms autoinstall" in command for command in fault.commands)
    assert any("apt-mark hold" in command for command in fault.commands)


def judged_lines(
    *lines: str, contained: bool = False, check: str = "driver.module"
) -> list[Finding]:
    host = CONTAINER if contained else BARE
    return judged(replace(snapshot("cuda", (), messages=lines), host=host), check)


@pytest.mark.parametrize(
    ("built", "code", "command"),
    [
        pytest.param(
            {"nvidia": False},
            "module.not_built",
            "dkms autoinstall -k 6.8.0-60-generic",
            id="NV-014",
        ),
        pytest.param({"nvidia": True}, "module.not_loaded", "sudo modprobe nvidia", id="built"),
        pytest.param(None, "module.missing", "linux-headers-6.8.0-60-generic", id="not told"),
    ],
)
def test_boards_without_a_module(built: dict[str, bool] | None, code: str, command: str) -> None:
    seen = shown("cuda", driver=None, modules={"ext4": ""}, nodes={}, built_modules=built)
    fault = the_fault(judged(seen, *CHECKS))  # what follows from it is put down to it
    assert (fault.check, fault.state, fault.code) == ("driver.module", FAIL, code)
    assert any(command in line for line in fault.commands)


@pytest.mark.parametrize(("backend", "command"), [("npu", "Ascend-hdk"), ("mlu", "cambricon")])
def test_other_vendors_modules(backend: str, command: str) -> None:
    seen = shown(backend, driver=None, modules={}, nodes={}, built_modules={})
    fault = the_fault(judged(seen, *CHECKS))
    assert (fault.check, fault.state) == ("driver.module", FAIL)
    assert any(command in line for line in fault.commands)


def test_a_driver_that_answers_needs_no_module_list() -> None:
    assert not loud(judged(shown("cuda", listed=2, modules=None), "driver.module"))


def test_boards_that_another_driver_took() -> None:
    fault = the_fault(judged(shown("cuda", driver="nouveau", modules={}, nodes={}), *CHECKS))
    assert (fault.check, fault.state, fault.code) == ("driver.foreign", FAIL, "foreign.bound")
    assert "blacklist nouveau" in fault.commands[0]


def test_boards_kept_for_virtual_machines() -> None:
    seen = shown("npu", driver="vfio-pci", modules={})
    (found,) = judged(seen, "driver.foreign")
    assert (found.state, found.code) == (WARN, "foreign.passed_through")
    assert not loud(judged(seen, "driver.module"))


def test_boards_that_the_loaded_driver_did_not_take() -> None:
    (found,) = judged(shown("cuda", driver=None), "driver.foreign")
    assert (found.state, found.code) == (FAIL, "foreign.unbound")
    assert not loud(judged(shown("cuda", driver=None, listed=2), "driver.foreign"))


# ---- driver.userlib


@pytest.mark.parametrize(
    ("line", "backend", "command"),
    [
        pytest.param(
            "RuntimeError: Error 804: forward compatibility was attempted on non supported HW",
            "cuda",
            "compat",
            id="NV-009",
        ),
        pytest.param("ACL error code is 507008", "npu", "libascend_hal.so", id="AS-100"),
        pytest.param(
            "symbol lookup error: undefined symbol: cndevGetCardHeartbeatCount",
            "mlu",
            "grep cndevGetCardHeartbeatCount",
            id="CB-106",
        ),
        pytest.param(
            "ImportError: undefined symbol: nvmlDeviceGetFieldX", "cuda", "nvidia-smi", id="NVML"
        ),
        pytest.param(
            "libascend_hal.so: cannot open shared object file", "npu", "ls -l", id="bare host"
        ),
        pytest.param(
            "OSError: libcuda.so.1: cannot open shared object file",
            "cuda",
            "ldconfig",
            id="libcuda",
        ),
    ],
)
def test_what_programs_say_of_the_libraries(line: str, backend: str, command: str) -> None:
    fault = the_fault(judged_lines(line, check="driver.userlib"))
    assert (fault.check, fault.state, fault.device) == ("driver.userlib", FAIL, backend)
    assert any(command in text for text in fault.commands)


COMPAT = {
    **LIBRARIES["cuda"],
    "libcuda.so.1": "/usr/local/cuda-12.8/compat/libcuda.so.575.57.08",
}


def named(seen: Snapshot, name: str) -> Snapshot:
    (evidence,) = seen.evidence
    renamed = tuple(replace(r, board=replace(r.board, name=name)) for r in evidence.boards)
    return replace(seen, evidence=(replace(evidence, boards=renamed),))


@pytest.mark.parametrize(
    "board", [pytest.param("NVIDIA GeForce GTX 1050 Ti", id="NV-008"), "NVIDIA TITAN V"]
)
def test_forward_compatibility_on_a_consumer_board(board: str) -> None:
    seen = named(shown("cuda", listed=1, libraries=COMPAT), board)
    fault = the_fault(judged(seen, "driver.userlib"))
    assert (fault.state, fault.code) == (FAIL, "compat.consumer")
    assert "/usr/local/cuda-12.8/compat" in fault.commands[0]


def test_forward_compatibility_where_it_is_supported() -> None:
    seen = named(shown("cuda", listed=1, libraries=COMPAT), "NVIDIA A100-SXM4-80GB")
    assert not loud(judged(seen, "driver.userlib", "driver.match"))
    new = replace(seen.record, packages={"torch": "2.9.0+cu128"})  # type: ignore[type-var]
    assert not loud(judged(replace(seen, record=new), "driver.toolkit"))


def test_libraries_that_are_missing_stubs_or_unlisted() -> None:
    missing = shown("cuda", libraries={**LIBRARIES["cuda"], "libcuda.so.1": ""})
    assert the_fault(judged(missing, "driver.userlib")).code == "userlib.missing"
    stub = shown("npu", libraries={"libascend_hal.so": "/opt/cann/devlib/libascend_hal.so"})
    assert the_fault(judged(stub, "driver.userlib")).code == "userlib.stub"
    place = {"libascend_hal.so": "/usr/local/Ascend/driver/lib64/driver/libascend_hal.so"}
    unlisted = shown("npu", libraries={"libascend_hal.so": ""}, unlisted_libraries=place)
    (found,) = judged(unlisted, "driver.userlib")
    assert (found.state, found.code) == (INFO, "userlib.unlisted")


# ---- driver.match, driver.toolkit, driver.firmware


def test_a_module_older_than_the_libraries() -> None:
    seen = shown("cuda", modules={"nvidia": "570.86.15"})
    fault = the_fault(judged(seen, "driver.match"))
    assert (fault.state, fault.code) == (FAIL, "match.differ")
    assert "sudo reboot" in fault.commands
    (said,) = loud(judged_lines("Driver/library version mismatch", check="driver.match"))
    assert said.state is FAIL


@pytest.mark.parametrize("told", [{"modules": {"nvidia": ""}}, {"libraries": {}}])
def test_a_version_that_is_not_known_differs_from_nothing(told: dict[str, Any]) -> None:
    assert {f.state for f in judged(shown("cuda", **told), "driver.match")} == {UNKNOWN}


CANN = "/usr/local/Ascend/ascend-toolkit/latest/aarch64-linux/ascend_toolkit_install.info"
HDK = "/usr/local/Ascend/driver/version.info"


@pytest.mark.parametrize(
    ("backend", "record", "wanted", "command"),
    [
        pytest.param(
            "npu",
            {"files": {HDK: "Version=24.1.0\n", CANN: "version=8.3.RC2\n"}},
            "25.3.RC1",
            "npu-driver_25.3.RC1",
            id="AS-082",
        ),
        pytest.param(
            "cuda",
            {"packages": {"torch": "2.9.0+cu130"}},
            "580.65.06",
            "download.pytorch.org/whl/cu12",
            id="NV-002",
        ),
        pytest.param(
            "cuda",
            {"packages": {"torch": "2.9.0a0+50eac811a6.nv25.09"}, "torch_builds": {"cuda": "13.0"}},
            "580.65.06",
            "nvidia-driver-580",
            id="a build of its own",
        ),
    ],
)
def test_a_driver_too_old_for_the_toolkit(
    backend: str, record: dict[str, Any], wanted: str, command: str
) -> None:
    fault = the_fault(judged(shown(backend, **record), "driver.toolkit"))
    assert (fault.state, fault.code) == (FAIL, "toolkit.too_old")
    assert wanted in str(fault.params["wanted"])
    assert any(command in line for line in fault.commands)


@pytest.mark.parametrize(
    ("backend", "record"),
    [
        ("npu", {"files": {HDK: "Version=25.5.0\n", CANN: "version=8.5.0\n"}}),
        ("cuda", {"packages": {"torch": "2.9.0+cu128"}}),
        ("cuda", {"packages": {"torch": "2.9.0+cpu"}}),
        ("mlu", {"modules": {"cambricon_drv": "99.0.0"}, "packages": {"torch_mlu": "9.9.9"}}),
        ("npu", {"files": {HDK: "Version=99.0.0\n", CANN: "version=98.0.0\n"}}),
    ],
)
def test_drivers_new_enough_and_pairs_that_nobody_lists(
    backend: str, record: dict[str, Any]
) -> None:
    assert not loud(judged(shown(backend, **record), "driver.toolkit"))


@pytest.mark.parametrize(
    "line",
    ["The NVIDIA driver on your system is too old (found version 12080).", "error code 207019"],
)
def test_programs_that_find_the_driver_too_old(line: str) -> None:
    assert the_fault(judged_lines(line, check="driver.toolkit")).state is FAIL


FIRMWARE = "/usr/local/Ascend/firmware/version.info"
NAMES_FIRMWARE = "Version=25.0.rc1\ncompatible_version_fw=[6.4.0,6.4.99],[7.0.0,7.7.99]\n"


@pytest.mark.parametrize(
    ("driver", "firmware", "state"),
    [
        (NAMES_FIRMWARE, "Version=7.7.0.1.231\n", None),
        (NAMES_FIRMWARE, "Version=6.3.0.1.231\n", WARN),
        (NAMES_FIRMWARE, "Version=8.0.0.1\n", WARN),
        (NAMES_FIRMWARE, "", None),
        ("Version=25.0.rc1\n", "Version=1.0\n", None),
    ],
)
def test_firmware_that_the_driver_names(
    driver: str, firmware: str, state: FindingState | None
) -> None:
    seen = shown("npu", files={HDK: driver, FIRMWARE: firmware})
    assert [found.state for found in loud(judged(seen, "driver.firmware"))] == (
        [state] if state else []
    )


@pytest.mark.parametrize(
    ("versions", "quiet"),
    [(("1.1.6", "1.1.4"), False), (("1.1.6", None), True), ((None, None), True)],
)
def test_equal_boards_with_unequal_firmware(versions: tuple[str | None, ...], quiet: bool) -> None:
    seen = shown("mlu", listed=2)
    (evidence,) = seen.evidence
    told = tuple(
        replace(reading, details=BoardDetails(firmware=version))
        for reading, version in zip(evidence.boards, versions, strict=True)
    )
    found = judged(replace(seen, evidence=(replace(evidence, boards=told),)), "driver.firmware")
    assert [fault.code for fault in loud(found)] == ([] if quiet else ["firmware.differs"])


# ---- driver.nodes, driver.persistence


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("RuntimeError: CUDA error 999: unknown", id="NV-071"),
        "CUDA unknown error - this may be due to an incorrectly set up environment",
        "cuInit failed: CUDA_ERROR_UNKNOWN",
    ],
)
def test_an_unknown_error_of_the_first_call(line: str) -> None:
    fault = the_fault(judged_lines(line, check="driver.nodes"))
    assert (fault.check, fault.state) == ("driver.nodes", FAIL)
    assert any("rmmod nvidia_uvm && sudo modprobe nvidia_uvm" in text for text in fault.commands)
    assert fault.needs_root
    assert fault.disturbs


@pytest.mark.parametrize(
    ("name", "on", "count"),
    [
        ("NVIDIA H100 80GB HBM3", False, 1),
        ("NVIDIA H100 80GB HBM3", True, 0),
        ("NVIDIA H100 80GB HBM3", None, 0),
        ("NVIDIA GeForce RTX 4090", False, 0),
        ("NVIDIA RTX A4000", False, 0),
    ],
)
def test_persistence(name: str, on: bool | None, count: int) -> None:
    services = {"nvidia-persistenced.service": "inactive"}
    seen = named(shown("cuda", listed=1, services=services), name)
    (evidence,) = seen.evidence
    told = tuple(replace(r, details=BoardDetails(persistence=on)) for r in evidence.boards)
    found = loud(
        judged(replace(seen, evidence=(replace(evidence, boards=told),)), "driver.persistence")
    )
    assert len(found) == count
    assert all("nvidia-persistenced" in fault.commands[0] for fault in found)


# ---- container.mounts, container.cgroup


@pytest.mark.parametrize(
    ("backend", "record", "commands"),
    [
        pytest.param(
            "npu",
            {"libraries": {"libascend_hal.so": ""}},
            ("-v /usr/local/Ascend/driver/lib64:", "/usr/local/dcmi", "npu-smi", "davinci1"),
            id="AS-077",
        ),
        pytest.param(
            "mlu",
            {"nodes": {"/dev/cambricon_ctl": True}},
            ("--device /dev/cambricon_dev0", "--device /dev/cambricon_dev1"),
            id="CB-103",
        ),
        pytest.param(
            "cuda",
            {"libraries": dict.fromkeys(LIBRARIES["cuda"], "")},
            ("--gpus all", "NVIDIA_DRIVER_CAPABILITIES=compute,utility"),
            id="nodes without libraries",
        ),
        pytest.param(
            "cuda", {"nodes": {}}, ("--device /dev/nvidia1",), id="libraries without nodes"
        ),
    ],
)
def test_containers_that_were_given_half(
    backend: str, record: dict[str, Any], commands: tuple[str, ...]
) -> None:
    fault = the_fault(judged(shown(backend, contained=True, **record), *CHECKS))
    assert (fault.check, fault.state) == ("container.mounts", FAIL)
    assert all(command in fault.commands[0] for command in commands)


def test_a_library_that_the_loader_misses_in_a_container() -> None:
    for line in (
        "cannot open libascend_hal.so",
        "libascend_hal.so: cannot open shared object file",
    ):
        fault = the_fault(judged_lines(line, contained=True, check="container.mounts"))
        assert (fault.state, fault.device) == (FAIL, "npu")
        assert "/usr/local/Ascend/driver/lib64" in fault.commands[0]


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(
            replace(
                snapshot("cuda", (), messages=("Failed to initialize NVML: Unknown Error",)),
                host=CONTAINER,
            ),
            id="NV-015",
        ),
        pytest.param(
            shown(
                "cuda",
                contained=True,
                nodes=dict.fromkeys(nodes("cuda", 2), False),
                refused_nodes=tuple(nodes("cuda", 2)),
            ),
            id="nodes that the kernel refuses",
        ),
    ],
)
def test_containers_that_lost_their_boards(seen: Snapshot) -> None:
    fault = the_fault(judged(seen, "container.cgroup", "driver.nodes"))
    assert (fault.check, fault.state) == ("container.cgroup", FAIL)
    assert "docker restart" in fault.commands[0]
    assert any("--device" in command for command in fault.commands[1:])


def test_boards_that_a_scheduler_gave_to_others() -> None:
    given = {**nodes("cuda", 4), "/dev/nvidia2": False, "/dev/nvidia3": False}
    seen = shown("cuda", on_bus=4, nodes=given, refused_nodes=("/dev/nvidia2", "/dev/nvidia3"))
    assert not loud(judged(seen, "container.cgroup", "driver.nodes"))
