"""Over evidence the checks judge the host that it shows, and say what it does not show."""

from __future__ import annotations

import pytest
from doctor.cases.evidence_of import judged, loud

from accelhal.evidence.captures import read_capture
from accelhal.evidence.environment import BusBoard, Environment, ListedBackend
from accelhal.evidence.host_pages import host_pages
from accelhal.evidence.records import joined_environments, joined_records
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import FindingState, ProbeStatus
from accelhal.facts.host_record import HostRecord

OK, INFO, WARN, FAIL = (
    FindingState.OK,
    FindingState.INFO,
    FindingState.WARN,
    FindingState.FAIL,
)
SKIP, UNKNOWN = FindingState.SKIP, FindingState.UNKNOWN

LOADED = "\n\nModule                  Size  Used by\nnvidia              16384  0\n"
BOARD = "17:00.0 3D controller [0302]: NVIDIA Corporation Board [10de:2330] (rev a1)"


def shown(text: str) -> Snapshot:
    whole = Snapshot()
    for page in read_capture("a.txt", text, [], host_pages([])).pages:
        whole = Snapshot(
            environment=joined_environments(whole.environment, page.snapshot.environment),
            record=joined_records(whole.record, page.snapshot.record),
        )
    return whole


def listed(
    status: ProbeStatus, api_version: str | None = "1.1", distribution: str = "accelhal-toy"
) -> ListedBackend:
    return ListedBackend("toy", distribution, "1", api_version, status, None, "because")


def seen(backend: ListedBackend, *boards: BusBoard, **variables: str) -> Snapshot:
    versions = {"accelhal": "0.1", "torch": "2.9.0"}
    return Snapshot(environment=Environment(versions, (backend,), boards, variables))


TOY = BusBoard("0000:17:00.0", "Toymaker", "1e60:0001", None, None, "toy")
STRAY = BusBoard("0000:17:00.0", "Toymaker", "1e60:0001", None, None, None)


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("", []),
        ("\n\tKernel driver in use: nvidia\n\tKernel modules: nvidia", []),
        ("\n\tKernel modules: nvidia", ["foreign.unbound"]),
    ],
)
def test_a_board_without_a_driver_is_one_of_which_drivers_were_listed(
    body: str, codes: list[str]
) -> None:
    found = judged(shown(BOARD + body + LOADED), "driver.foreign")
    assert [finding.code for finding in loud(found)] == codes


@pytest.mark.parametrize(
    ("backend", "boards", "plugin", "probe"),
    [
        (listed(ProbeStatus.AVAILABLE), (TOY,), OK, OK),
        (listed(ProbeStatus.NO_HARDWARE), (), OK, INFO),
        (listed(ProbeStatus.NO_HARDWARE), (TOY,), OK, WARN),
        (listed(ProbeStatus.NO_DRIVER), (), OK, INFO),
        (listed(ProbeStatus.NO_DRIVER), (TOY,), OK, FAIL),
        (listed(ProbeStatus.NOT_INSTALLED), (TOY,), OK, FAIL),
        (listed(ProbeStatus.LIBRARY_BROKEN), (), OK, WARN),
        (listed(ProbeStatus.LIBRARY_BROKEN), (TOY,), OK, FAIL),
        (listed(ProbeStatus.LIBRARY_BROKEN, None), (), WARN, SKIP),
        (listed(ProbeStatus.LIBRARY_BROKEN, None), (STRAY,), FAIL, SKIP),
        (listed(ProbeStatus.DISABLED, None), (STRAY,), INFO, INFO),
    ],
)
def test_plugins_and_probes_are_those_that_were_listed(
    backend: ListedBackend, boards: tuple[BusBoard, ...], plugin: FindingState, probe: FindingState
) -> None:
    found = judged(seen(backend, *boards), "plugin.load", "backend.probe")
    states = {finding.check: finding.state for finding in found}
    assert states["plugin.load"] is plugin
    assert states["backend.probe"] is probe


@pytest.mark.parametrize(
    ("distribution", "status", "code"),
    [
        ("accelhal-toy", ProbeStatus.LIBRARY_BROKEN, "plugin.broken"),
        ("accelhal-toy", ProbeStatus.INCOMPATIBLE, "plugin.incompatible"),
        ("accelhal-toy, other-toy", ProbeStatus.INCOMPATIBLE, "plugin.conflict"),
    ],
)
def test_why_a_listed_plugin_did_not_load(
    distribution: str, status: ProbeStatus, code: str
) -> None:
    (found,) = judged(seen(listed(status, None, distribution)), "plugin.load")
    assert (found.code, found.params["reason"]) == (code, "because")


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({"ACCELHAL_DEVICE": "toy:0"}, "own.device"),
        ({"ACCELHAL_DEVICE": "mock:0"}, "own.not_installed"),
        ({"ACCELHAL_BACKENDS": "toy"}, "own.limit"),
        ({"ACCELHAL_BACKENDS": "mock"}, "own.limit_nothing"),
    ],
)
def test_own_variables_name_what_is_installed_there(variables: dict[str, str], code: str) -> None:
    (found,) = judged(seen(listed(ProbeStatus.AVAILABLE), **variables), "env.accelhal")
    assert found.code == code


def test_own_variables_are_not_judged_by_what_is_installed_here() -> None:
    variables = Snapshot(record=HostRecord(variables={"ACCELHAL_DEVICE": "toy:0"}))
    assert [finding.state for finding in judged(variables, "env.accelhal")] == [UNKNOWN]


@pytest.mark.parametrize(
    ("packages", "state"),
    [
        (None, UNKNOWN),
        ({"torch": "2.9.0"}, OK),
        ({"torch": "2.9.0", "torch-npu": "2.9.0"}, OK),
        ({"torch-npu": "2.9.0", "torch-mlu": "1.25.0"}, WARN),
    ],
)
def test_claimants_of_the_one_place(packages: dict[str, str] | None, state: FindingState) -> None:
    found = judged(Snapshot(record=HostRecord(packages=packages)), "framework.privateuse1")
    assert [finding.state for finding in found] == [state]


@pytest.mark.parametrize(("board", "state"), [(STRAY, WARN), (TOY, OK)])
def test_boards_without_a_plugin_are_told_by_the_list_of_plugins_there(
    board: BusBoard, state: FindingState
) -> None:
    supported = BusBoard("0000:17:00.0", "NVIDIA", "10de:2330", None, None, board.backend)
    (found,) = judged(seen(listed(ProbeStatus.AVAILABLE), supported), "host.pci")
    assert found.state is state
    (bus,) = judged(Snapshot(environment=Environment(boards=(supported,))), "host.pci")
    assert bus.state is OK
