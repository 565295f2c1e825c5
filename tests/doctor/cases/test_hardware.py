"""Cases of sick boards: lost, hot, slow, with bad memory, unlicensed; each beside a sound one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from doctor.cases.evidence_of import boards, judged, loud, snapshot

from accelhal.doctor.facts import Facts
from accelhal.facts import (
    BoardDetails,
    Finding,
    FindingState,
    HealthCheck,
    HealthReport,
    HealthStatus,
    Link,
    MemoryErrors,
    PcieLink,
    Telemetry,
)
from accelhal.facts.host_record import AirReading

OK, INFO, WARN, FAIL = FindingState.OK, FindingState.INFO, FindingState.WARN, FindingState.FAIL
UNKNOWN = FindingState.UNKNOWN


def seen(backend: str, check: str, count: int = 1, **parts: Any) -> list[Finding]:
    """What a check finds of boards of which these parts are seen."""
    return judged(snapshot(backend, boards(backend, count, **parts)), check)


def said(backend: str, check: str, *lines: str, count: int = 1) -> list[Finding]:
    """What a check finds in lines of programs."""
    return judged(snapshot(backend, boards(backend, count), messages=lines), check)


def logged(backend: str, check: str, *lines: str, count: int = 2) -> list[Finding]:
    """What a check finds in a kernel log."""
    shown = snapshot(backend, boards(backend, count), kernel_log=lines, modules={})
    return judged(shown, check)


def health(*checks: tuple[str, HealthStatus, str]) -> HealthReport:
    return HealthReport.of([HealthCheck(name, status, value) for name, status, value in checks])


def commands(found: Sequence[Finding]) -> str:
    return "\n".join(line for finding in found for line in finding.commands)


SOUND = HealthReport.of([HealthCheck("bus", HealthStatus.OK, "present")])


# ---- device.lost


@pytest.mark.parametrize(
    ("backend", "name", "value"),
    [
        pytest.param("cuda", "bus", "GPU is lost", id="NV-054"),
        pytest.param("cuda", "bus", "Unknown Error", id="NV-047"),
        pytest.param("npu", "answers", "not ready", id="npu"),
        pytest.param("mlu", "answers", "not ready", id="mlu"),
    ],
)
def test_a_board_that_does_not_answer(backend: str, name: str, value: str) -> None:
    found = seen(backend, "device.lost", health=health((name, HealthStatus.FAILED, value)))
    assert [finding.state for finding in found] == [FAIL]
    text = commands(found)
    assert "dmesg" in text
    assert "reseat" in text
    assert "reboot" in text
    assert not loud(seen(backend, "device.lost", health=SOUND))


@pytest.mark.parametrize(
    "line",
    [
        "Unable to determine the device handle for GPU 0000:02:00.0: Unknown Error",
        "Unable to determine the device handle for GPU1: GPU is lost. Reboot the system",
    ],
)
def test_tools_that_say_so(line: str) -> None:
    (found,) = loud(said("cuda", "device.lost", line))
    assert found.state is FAIL
    assert "reboot" in commands([found])


# ---- hw.ecc and hw.remap


def test_uncorrected_errors_since_load() -> None:
    found = seen("cuda", "hw.ecc", memory_errors=MemoryErrors(uncorrected=3))
    assert [finding.state for finding in found] == [FAIL]
    assert "nvidia-smi --gpu-reset -i 0" in commands(found)
    assert "drain" in commands(found)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("RuntimeError: CUDA error: uncorrectable ECC error encountered", id="NV-051"),
        "CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered",
    ],
)
def test_a_program_that_met_one(line: str) -> None:
    (found,) = loud(said("cuda", "hw.ecc", line))
    assert found.state is FAIL
    assert "reset" in commands([found])


@pytest.mark.parametrize(
    "errors",
    [
        pytest.param(MemoryErrors(uncorrected=0, uncorrected_total=4), id="NV-053"),
        MemoryErrors(corrected=900, uncorrected=0, corrected_total=10_000),
        MemoryErrors(reasons={"*": "the board has no error correction"}),
    ],
)
def test_errors_of_the_past_are_history(errors: MemoryErrors) -> None:
    assert not loud(seen("cuda", "hw.ecc", memory_errors=errors))


@pytest.mark.parametrize(
    ("backend", "errors", "state"),
    [
        ("cuda", MemoryErrors(repair_pending=True), WARN),
        ("cuda", MemoryErrors(repair_failed=True, repair_pending=True), FAIL),
        ("cuda", MemoryErrors(repaired=63), FAIL),
        ("cuda", MemoryErrors(repaired=62, repair_pending=False), OK),
        ("npu", MemoryErrors(repaired=15), OK),
        ("npu", MemoryErrors(repaired=16), WARN),
        ("npu", MemoryErrors(repaired=64), FAIL),
        ("mlu", MemoryErrors(repair_failed=True), FAIL),
    ],
)
def test_repairs_of_memory(backend: str, errors: MemoryErrors, state: FindingState) -> None:
    assert [f.state for f in seen(backend, "hw.remap", memory_errors=errors)] == [state]


# ---- the kernel log

STAMP = "[  812.345678] "


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(
            "NVRM: Xid (PCI:0000:02:00): 79, pid=1, GPU has fallen off the bus.", id="NV-055"
        ),
        pytest.param("NVRM: GPU at PCI:0000:02:00.0 has fallen off the bus.", id="NV-056"),
        "NVRM: GPU 0000:02:00.0: GPU has fallen off the bus.",
    ],
)
def test_a_board_off_the_bus(line: str) -> None:
    (found,) = loud(logged("cuda", "hw.xid", STAMP + line))
    assert (found.state, found.device, found.params["code"]) == (FAIL, "cuda board 1", "79")
    assert "reboot" in commands([found])


@pytest.mark.parametrize("code", [13, 31, 43, 45])
def test_faults_of_a_job_do_not_mark_the_board(code: int) -> None:
    line = f"{STAMP}NVRM: Xid (PCI:0000:02:00): {code}, pid=77, name=python"
    found = logged("cuda", "hw.xid", line)
    assert [finding.state for finding in found] == [INFO]


def test_a_fault_that_came_back_after_restarts() -> None:
    start, fault = "[    0.000000] Linux version 6.8", "NVRM: Xid (PCI:0000:02:00): 79, lost"
    (found,) = loud(logged("cuda", "hw.xid", *[start, STAMP + fault] * 3))
    assert found.code == "log.returns"


def test_a_log_from_before_the_last_start_is_history() -> None:
    lines = (f"{STAMP}NVRM: Xid (PCI:0000:02:00): 79, lost", "[    0.000000] Linux version 6.8")
    assert not loud(logged("cuda", "hw.xid", *lines))


def test_switch_faults_and_the_other_vendors_numbers() -> None:
    sxid = "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"
    assert loud(logged("cuda", "hw.sxid", STAMP + sxid))
    assert not loud(logged("cuda", "hw.xid", STAMP + sxid))
    assert [f.state for f in logged("mlu", "hw.xid", f"{STAMP}unrelated")] == [OK]


def test_a_log_that_was_not_seen_is_unknown() -> None:
    for check in ("hw.xid", "kernel.log"):
        found = judged(snapshot("cuda", boards("cuda", 1)), check)
        assert {finding.state for finding in found} == {UNKNOWN}
        assert "dmesg" in commands(found)


@pytest.mark.parametrize(
    ("line", "code", "state"),
    [
        pytest.param(
            "cma: cma_alloc: reserved: alloc failed, req-size: 512 pages, ret: -12",
            "kernel.contiguous",
            WARN,
            id="AS-102",
        ),
        ("pcieport 0000:00:01.0: AER: Multiple Corrected error received", None, OK),
        (
            "0000:02:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer",
            "kernel.pcie",
            WARN,
        ),
        ("PCIe Bus Error: severity=Corrected, type=Physical Layer", "kernel.pcie_corrected", INFO),
        (
            "Out of memory: Killed process 412 (python3) total-vm:9000kB",
            "kernel.oom",
            WARN,
        ),
    ],
)
def test_what_else_the_log_says(line: str, code: str | None, state: FindingState) -> None:
    (found,) = logged("npu", "kernel.log", STAMP + line)
    assert (found.code, found.state) == (code or "kernel.quiet", state)


@pytest.mark.parametrize(
    ("module", "named"),
    [
        pytest.param("cambricon_drv", "cambricon", id="CB-109"),
        pytest.param("ipmi_si", "none of the boards' drivers", id="another module"),
    ],
)
def test_a_lockup_names_the_drivers_module_in_its_trace(module: str, named: str) -> None:
    trace = (
        f"{STAMP}watchdog: BUG: soft lockup - CPU#12 stuck for 26s! [python:4711]",
        f"{STAMP} wait_for_it+0x12/0x40 [{module}]",
    )
    (found,) = logged("mlu", "kernel.log", *trace)
    assert (found.state, found.code) == (WARN, "kernel.lockup")
    assert named in str(found.params["module"])
    assert "soft lockup" in commands([found])
    assert not loud(logged("mlu", "kernel.log", f"{STAMP}{module}: loaded"))


# ---- faults that drivers report


def test_codes_are_looked_up_in_the_vendors_table() -> None:
    report = health(
        ("device", HealthStatus.FAILED, "major alarm"),
        ("fault", HealthStatus.FAILED, "0x80E18402"),
    )
    (found,) = loud(seen("npu", "hw.fault_codes", health=report))
    assert found.code == "codes.listed"
    assert found.refs, "a row has a source"
    incident = health(("memory", HealthStatus.DEGRADED, "PENDING_ROW_REMAP"))
    assert loud(seen("mlu", "hw.fault_codes", health=incident))


def test_a_code_that_no_table_has_is_reported_as_it_is() -> None:
    report = health(("fault", HealthStatus.DEGRADED, "0xFFFF0001"))
    (found,) = loud(seen("npu", "hw.fault_codes", health=report))
    assert (found.state, found.params["value"]) == (WARN, "0xFFFF0001")
    assert not loud(seen("npu", "hw.fault_codes", health=SOUND))


def test_an_action_that_the_driver_asks_for() -> None:
    asked = health(("recovery", HealthStatus.FAILED, "reset the board"))
    (found,) = seen("cuda", "hw.inforom", health=asked)
    assert found.state is FAIL
    assert "gpu-reset" in commands([found])
    calm = health(("recovery", HealthStatus.OK, "none"))
    assert not loud(seen("cuda", "hw.inforom", health=calm))


# ---- links and fabric


@pytest.mark.parametrize(
    ("backend", "check"), [("cuda", "link.nvlink"), ("npu", "link.hccs"), ("mlu", "link.mlulink")]
)
def test_a_link_that_is_down_on_one_board_alone(backend: str, check: str) -> None:
    up = tuple(Link("Link", None, True, number=n) for n in range(4))
    down = (*up[:3], Link("Link", None, False, number=3))
    readings = boards(backend, 3, links=up)
    sick = (*readings[:2], replace(readings[2], links=down))
    (found,) = loud(judged(snapshot(backend, sick), check))
    assert (found.state, found.device) == (FAIL, f"{backend} board 2")
    assert not loud(judged(snapshot(backend, readings), check))
    unconnected = tuple(Link("Link", None, False, number=n) for n in range(4))
    assert not loud(seen(backend, check, count=2, links=unconnected)), "boards without a bridge"


@pytest.mark.parametrize(
    ("details", "lines"),
    [
        pytest.param(BoardDetails(fabric="in progress"), (), id="NV-016"),
        pytest.param(
            None,
            (
                "fabric manager NVIDIA GPU driver interface version 535.86.10 don't match with "
                "driver version 535.104.05. Please update with matching NVIDIA driver package.",
            ),
            id="NV-017",
        ),
        pytest.param(
            None, ("cudaGetDeviceCount: error 802: system not yet initialized",), id="NV-018"
        ),
        pytest.param(BoardDetails(fabric="not started"), (), id="not started"),
    ],
)
def test_boards_that_have_not_joined_their_fabric(
    details: BoardDetails | None, lines: tuple[str, ...]
) -> None:
    shown = snapshot(
        "cuda",
        boards("cuda", 8, details=details),
        messages=lines,
        services={"nvidia-fabricmanager.service": "inactive"},
    )
    found = loud(judged(shown, "fabric.state"))
    assert [finding.state for finding in found] == [FAIL]
    assert "nvidia-fabricmanager" in commands(found)


@pytest.mark.parametrize("state", ["completed", None])
def test_boards_that_have_joined_or_need_not(state: str | None) -> None:
    assert not loud(seen("cuda", "fabric.state", count=8, details=BoardDetails(fabric=state)))


# ---- PCIe


@pytest.mark.parametrize(
    ("utilization", "link", "state"),
    [
        pytest.param(0.0, PcieLink(1, 4, 16, 16), OK, id="NV-027"),
        pytest.param(None, PcieLink(1, 3, 16, 16), OK, id="NV-028"),
        (98.0, PcieLink(1, 4, 16, 16), WARN),
        (98.0, PcieLink(4, 4, 16, 16), OK),
        (0.0, PcieLink(1, 4, 8, 16), WARN),
    ],
)
def test_links_to_the_host(utilization: float | None, link: PcieLink, state: FindingState) -> None:
    sensors = Telemetry(utilization=utilization)
    found = seen("cuda", "pcie.link", pcie=link, telemetry=sensors)
    assert [finding.state for finding in found] == [state]
    if state is WARN:
        assert "lspci" in commands(found)


def test_a_link_at_rest_within_a_busy_stretch() -> None:
    sensors = Telemetry(utilization=50.0, throttle_reasons=("idle",))
    found = seen("cuda", "pcie.link", pcie=PcieLink(1, 4, 16, 16), telemetry=sensors)
    assert [finding.state for finding in found] == [OK]


# ---- sensors, heat, power, clocks


@pytest.mark.parametrize(
    ("backend", "missing"),
    [
        pytest.param("cuda", "power", id="NV-049"),
        pytest.param("npu", "memory clock", id="npu"),
        pytest.param("mlu", "power limit", id="mlu"),
    ],
)
def test_a_figure_that_is_not_reported_is_unknown_and_no_fault(backend: str, missing: str) -> None:
    sensors = Telemetry(temperature=40.0, reasons={missing.replace(" ", "_"): "not supported"})
    (found,) = seen(backend, "sensor.read", telemetry=sensors)
    assert found.state is INFO
    assert missing in str(found.params["figures"])


@pytest.mark.parametrize(
    ("used", "lines"),
    [
        pytest.param((1 << 44) - 1, (), id="NV-068"),
        pytest.param(
            1 << 30,
            ("| N/A   32C    P0    69W / 300W | 17592186044134MiB / 16384MiB |",),
            id="line",
        ),
    ],
)
def test_more_memory_used_than_there_is(used: int, lines: tuple[str, ...]) -> None:
    sensors = Telemetry(memory_used=used, memory_total=1 << 34)
    shown = snapshot("cuda", boards("cuda", 1, telemetry=sensors), messages=lines)
    (found,) = loud(judged(shown, "sensor.read"))
    assert found.state is WARN
    assert "restart the container" in commands([found])


def test_full_memory_is_no_wrong_figure() -> None:
    sensors = Telemetry(memory_used=1 << 34, memory_total=1 << 34)
    line = "|  0%   30C    P8    16W / 300W |  81920MiB /  81920MiB |"
    shown = snapshot("cuda", boards("cuda", 1, telemetry=sensors), messages=(line,))
    assert not loud(judged(shown, "sensor.read"))


@pytest.mark.parametrize(
    ("reasons", "temperature", "state"),
    [
        pytest.param(("thermal",), 81.0, WARN, id="NV-043"),
        (("hardware_thermal",), 95.0, FAIL),
        ((), 88.0, WARN),
        ((), 70.0, OK),
        (("power_cap",), 70.0, OK),
        (("idle",), 30.0, OK),
    ],
)
def test_heat(reasons: tuple[str, ...], temperature: float, state: FindingState) -> None:
    found = seen(
        "cuda",
        "thermal.throttle",
        telemetry=Telemetry(temperature=temperature, throttle_reasons=reasons),
        details=BoardDetails(slowdown_temperature=90.0),
    )
    assert [finding.state for finding in found] == [state]
    if state in (WARN, FAIL):
        assert "filters" in commands(found)


@pytest.mark.parametrize(
    ("clock", "utilization", "reasons", "state", "command"),
    [
        pytest.param(500.0, 99.0, ("hardware_thermal",), FAIL, "filters", id="NV-044"),
        pytest.param(1155.0, 99.0, (), FAIL, "reboot", id="NV-046"),
        (
            1000.0,
            99.0,
            ("application_clocks",),
            WARN,
            "-rgc",
        ),
        (1155.0, 0.0, (), OK, ""),
        (210.0, 0.0, ("idle",), OK, ""),
        (345.0, 50.0, ("idle",), OK, ""),
        (1200.0, 99.0, ("power_cap",), OK, ""),
        (1400.0, 99.0, (), OK, ""),
        (1155.0, 99.0, None, OK, ""),
    ],
)
def test_clocks(
    clock: float,
    utilization: float,
    reasons: tuple[str, ...] | None,
    state: FindingState,
    command: str,
) -> None:
    found = seen(
        "cuda",
        "clock.low",
        telemetry=Telemetry(core_clock=clock, utilization=utilization, throttle_reasons=reasons),
        details=BoardDetails(max_core_clock=1410.0),
    )
    assert [finding.state for finding in found] == [state]
    assert command in commands(found)


@pytest.mark.parametrize(
    ("sensors", "state"),
    [
        (Telemetry(power_limit=250.0, power=200.0), WARN),
        (Telemetry(power_limit=400.0, power=390.0, throttle_reasons=("power_cap",)), OK),
        (Telemetry(power_limit=400.0, power=200.0, throttle_reasons=("power_cap",)), WARN),
        (Telemetry(power_limit=400.0, throttle_reasons=("power_brake",)), FAIL),
        (Telemetry(power_limit=400.0, power=60.0), OK),
    ],
)
def test_power(sensors: Telemetry, state: FindingState) -> None:
    details = BoardDetails(default_power_limit=400.0)
    found = seen("cuda", "power.limit", telemetry=sensors, details=details)
    assert [finding.state for finding in found] == [state]


@pytest.mark.parametrize(
    ("air", "codes"),
    [
        ((AirReading(inlet=22.0, outlet=34.0),), ["air.fine"]),
        ((AirReading(inlet=28.0, outlet=40.0),), ["air.warm"]),
        ((AirReading(inlet=22.0, outlet=37.0),), ["air.rise"]),
        ((AirReading(inlet=30.0, outlet=50.0),), ["air.warm", "air.rise"]),
        ((), ["air.none"]),
    ],
)
def test_air(air: tuple[AirReading, ...], codes: list[str]) -> None:
    shown = snapshot("cuda", boards("cuda", 1), air=air)
    facts = Facts(evidence=shown)
    from accelhal.doctor.checks.sensors import AIR

    assert [finding.code for finding in AIR.run(facts)] == codes


# ---- vgpu.license


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(
            "        License Status                    : Unlicensed (Unrestricted)", id="NV-062"
        ),
        pytest.param(
            "        License Status                    : Expired (Expiry: 2026-1-1)", id="NV-063"
        ),
        "nvidia-gridd: Failed to acquire license from server",
    ],
)
def test_a_virtual_board_without_a_licence(line: str) -> None:
    (found,) = loud(said("cuda", "vgpu.license", line))
    assert found.state is FAIL
    assert "nvidia-gridd" in commands([found])


def test_a_licensed_virtual_board() -> None:
    line = "        License Status                    : Licensed (Expiry: 2026-12-31 0:0:0 GMT)"
    assert not loud(said("cuda", "vgpu.license", line))
