"""Cases of frameworks that do not fit boards, drivers or toolkits; each beside a sound host."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from doctor.cases.evidence_of import boards, judged, loud, snapshot
from host_tree import HostTree

from accelhal.doctor.catalogue import catalogue
from accelhal.doctor.engine import run_checks
from accelhal.doctor.facts import Facts
from accelhal.doctor.imports import ImportJob, ImportOutcome, ImportReport
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import BoardReading, FindingState

FAIL, WARN, OK = FindingState.FAIL, FindingState.WARN, FindingState.OK


def named(backend: str, name: str, count: int = 1) -> tuple[BoardReading, ...]:
    return tuple(
        replace(reading, board=replace(reading.board, name=name))
        for reading in boards(backend, count)
    )


# ---- framework.build


@pytest.mark.parametrize(
    ("version", "builds", "code"),
    [
        ("2.9.0+cpu", None, "torch.cpu_build"),
        ("2.9.0", {}, "torch.cpu_build"),
        ("2.9.0+rocm6.4", {"hip": "6.4"}, "torch.other_build"),
    ],
)
def test_a_build_that_cannot_use_the_boards(
    version: str, builds: dict[str, str] | None, code: str
) -> None:
    shown = snapshot("cuda", boards("cuda", 2), packages={"torch": version}, torch_builds=builds)
    (found,) = loud(judged(shown, "framework.build"))
    assert (found.state, found.code, found.device) == (FAIL, code, "cuda")
    assert "download.pytorch.org/whl/cu" in found.commands[0]


@pytest.mark.parametrize(
    ("backend", "version", "builds"),
    [
        ("cuda", "2.9.0+cu128", {"cuda": "12.8"}),
        ("cuda", "2.9.0", None),
        ("npu", "2.9.0+cpu", {}),
        ("mlu", "2.7.1+cpu", {}),
    ],
)
def test_builds_that_fit_or_of_which_nothing_is_known(
    backend: str, version: str, builds: dict[str, str] | None
) -> None:
    shown = snapshot(backend, boards(backend, 2), packages={"torch": version}, torch_builds=builds)
    assert not loud(judged(shown, "framework.build"))


def test_evidence_without_packages_says_nothing_of_torch() -> None:
    (found,) = judged(snapshot("cuda", boards("cuda", 1)), "framework.build")
    assert found.state is FindingState.UNKNOWN


# ---- framework.arch


@pytest.mark.parametrize(
    ("backend", "board", "packages", "code", "word"),
    [
        pytest.param(
            "cuda",
            "NVIDIA GeForce GTX 1080 Ti",
            {"torch": "2.8.0+cu128"},
            "arch.no_code",
            "whl/cu126",
            id="NV-007",
        ),
        pytest.param(
            "cuda",
            "Tesla P40",
            {"torch": "2.11.0+cu130"},
            "arch.no_code",
            "whl/cu126",
            id="NV-007-P40",
        ),
        pytest.param(
            "cuda",
            "NVIDIA GeForce RTX 5090",
            {"torch": "2.8.0+cu126"},
            "arch.no_code",
            "whl/cu128",
            id="a newer board",
        ),
        pytest.param(
            "npu",
            "910PremiumA",
            {"torch": "2.7.1", "torch_npu": "2.7.1", "vllm_ascend": "0.11.0"},
            "arch.excluded",
            "pip list",
            id="AS-086",
        ),
    ],
)
def test_boards_that_a_framework_has_no_code_for(
    backend: str, board: str, packages: dict[str, str], code: str, word: str
) -> None:
    shown = snapshot(backend, named(backend, board), packages=packages)
    (found,) = loud(judged(shown, "framework.arch"))
    assert (found.state, found.code) == (FAIL, code)
    assert any(word in command for command in found.commands)


@pytest.mark.parametrize(
    ("backend", "board", "packages"),
    [
        pytest.param(
            "cuda", "NVIDIA GeForce GTX 1080 Ti", {"torch": "2.8.0+cu126"}, id="neighbour of NV-007"
        ),
        pytest.param("cuda", "NVIDIA H100 80GB HBM3", {"torch": "2.9.0+cu128"}, id="H100"),
        pytest.param(
            "npu",
            "910B3",
            {"torch": "2.7.1", "torch_npu": "2.7.1", "vllm_ascend": "0.11.0"},
            id="neighbour of AS-086",
        ),
    ],
)
def test_boards_that_the_framework_has_code_for(
    backend: str, board: str, packages: dict[str, str]
) -> None:
    shown = snapshot(backend, named(backend, board), packages=packages)
    assert [one.state for one in judged(shown, "framework.arch")] == [OK]


@pytest.mark.parametrize(
    ("told", "state"), [(("sm_61", "sm_70"), OK), (("sm_90",), FAIL)], ids=["has it", "has it not"]
)
def test_what_the_build_itself_says_beats_the_table(told: tuple[str, ...], state: object) -> None:
    shown = snapshot("cuda", named("cuda", "Tesla P4"), packages={"torch": "2.8.0+cu128"})
    facts = Facts(evidence=shown, deep=True)
    job = ImportJob("torch", ("cuda",))
    report = ImportReport(job, ImportOutcome.LOADED, "", arch_lists={"cuda": told})
    facts.__dict__["imports"] = (report,)  # what the child would have answered
    known = catalogue(facts.specs)
    (found,) = run_checks(known.select(["framework.arch"]), facts, texts=known.texts).findings
    assert found.state is state


# ---- framework.match


@pytest.mark.parametrize(
    ("backend", "packages", "versions", "command"),
    [
        pytest.param(
            "npu",
            {"torch": "2.7.1", "torch_npu": "2.7.1"},
            {"cann": "8.5.0"},
            "CANN 8.3.RC1",
            id="AS-084",
        ),
        pytest.param(
            "npu", {"torch": "2.9.0", "torch_npu": "2.7.1"}, {}, "torch_npu==2.9", id="torch"
        ),
        pytest.param(
            "mlu",
            {"torch": "2.5.0", "torch_mlu": "1.22.2+torch2.1.0"},
            {},
            "torch==2.1.0",
            id="another vendor",
        ),
    ],
)
def test_releases_that_do_not_go_together(
    backend: str, packages: dict[str, str], versions: dict[str, str], command: str
) -> None:
    shown = snapshot(backend, boards(backend, 1), packages=packages)
    facts = Facts(evidence=shown)
    facts.versions = lambda backend: versions  # type: ignore[method-assign]
    known = catalogue(facts.specs)
    (found,) = loud(
        run_checks(known.select(["framework.match"]), facts, texts=known.texts).findings
    )
    assert found.state is FAIL
    assert any(command in line for line in found.commands)


def test_releases_that_go_together() -> None:
    packages = {"torch": "2.7.1", "torch_npu": "2.7.1"}
    shown = snapshot("npu", boards("npu", 1), packages=packages)
    assert [one.state for one in judged(shown, "framework.match")] == [OK]


def test_releases_that_nobody_lists_are_unknown() -> None:
    packages = {"torch": "2.9.0", "torch_mlu": "9.9.9"}
    shown = snapshot("mlu", boards("mlu", 1), packages=packages)
    assert {one.state for one in judged(shown, "framework.match")} == {FindingState.UNKNOWN}


# ---- framework.libpath

LIBRARY = "/usr/local/Ascend/ascend-toolkit/latest/lib64/libhccl.so"


@pytest.mark.parametrize(
    ("record", "code"),
    [
        pytest.param(
            {
                "libraries": {"libhccl.so": ""},
                "unlisted_libraries": {"libhccl.so": LIBRARY},
                "packages": {"torch_npu": "2.7.1"},
            },
            "libpath.not_set_up",
            id="AS-078",
        ),
        pytest.param(
            {"libraries": {"libhccl.so": ""}, "packages": {"torch_npu": "2.7.1"}},
            "libpath.no_toolkit",
            id="no toolkit",
        ),
        pytest.param(
            {
                "messages": (
                    "ImportError: libhccl.so: cannot open shared object file: No such file",
                ),
                "libraries": {"libhccl.so": LIBRARY},
            },
            "said.no_library",
            id="AS-078-message",
        ),
    ],
)
def test_a_toolkit_that_is_not_set_up(record: dict[str, Any], code: str) -> None:
    shown = snapshot("npu", boards("npu", 1), **record)
    (found,) = loud(judged(shown, "framework.libpath"))
    assert (found.state, found.code) == (FAIL, code)
    assert any("set_env.sh" in command for command in found.commands)


def runtime(release: str) -> Snapshot:
    return snapshot(
        "cuda",
        boards("cuda", 1),
        packages={"torch": "2.9.0+cu128"},
        torch_builds={"cuda": "12.8"},
        libraries={"libcudart.so.12": f"/opt/toolkit/lib64/libcudart.so.{release}"},
        variables={"LD_LIBRARY_PATH": "/opt/toolkit/lib64"},
    )


def test_an_older_toolkit_before_that_of_torch() -> None:
    (found,) = loud(judged(runtime("12.4.127"), "framework.libpath"))
    assert (found.state, found.code) == (WARN, "libpath.older")
    assert "grep -vx /opt/toolkit/lib64" in found.commands[0]


def test_libraries_that_are_right() -> None:
    assert not loud(judged(runtime("12.9.37"), "framework.libpath"))
    sound = snapshot(
        "npu",
        boards("npu", 1),
        libraries={"libhccl.so": LIBRARY},
        packages={"torch_npu": "2.7.1"},
    )
    assert not loud(judged(sound, "framework.libpath"))


@pytest.mark.parametrize(
    ("backend", "message", "check"),
    [
        pytest.param(
            "npu",
            "ImportError: libtbe_adapter.so: undefined symbol: _ZN2ge5Shape",
            "framework.match",
            id="AS-084",
        ),
        pytest.param(
            "cuda",
            "RuntimeError: CUDA error: no kernel image is available for execution on the device",
            "framework.arch",
            id="NV-007",
        ),
        pytest.param("npu", "EZ1001: operator not found", "framework.ops", id="operators"),
    ],
)
def test_messages_go_to_the_check_that_they_are_of(backend: str, message: str, check: str) -> None:
    shown = snapshot(backend, boards(backend, 1), messages=(message,))
    (found,) = loud(judged(shown, check))
    assert (found.check, found.state) == (check, FAIL)
    assert found.commands


# ---- framework.ops

KERNELS = "/usr/local/Ascend/ascend-toolkit/latest/opp/built-in/op_impl/ai_core/tbe/kernel"


@pytest.mark.parametrize(
    ("chips", "state"),
    [(("ascend910b",), OK), (("ascend310p",), FAIL), ((), FindingState.UNKNOWN)],
)
def test_the_operators_of_the_boards_chip(
    tmp_path: Path, chips: tuple[str, ...], state: FindingState
) -> None:
    tree = HostTree(tmp_path).files(*(f"{KERNELS}/{chip}/add.o" for chip in chips))
    facts = Facts(tree.host)
    facts.__dict__["snapshot"] = snapshot("npu", named("npu", "910B3"))
    known = catalogue(facts.specs)
    (found,) = run_checks(known.select(["framework.ops"]), facts, texts=known.texts).findings
    assert found.state is state
    if state is FAIL:
        assert "kernels-910b" in found.commands[0]
