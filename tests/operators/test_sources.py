"""Where the knowledge of a backend's operators comes from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from fake_spec import fake_spec

import accelhal
from accelhal.device_name import DeviceName
from accelhal.errors import BackendLoadError, UsageError
from accelhal.operators.coverage import Coverage
from accelhal.operators.sources import choose_record, find_backend_spec, knowledge
from accelhal.runtimes.operator_record import OperatorRecord, OperatorSupport

pytestmark = pytest.mark.usefixtures("fresh_registry")


def record(version: str, built_for: str) -> OperatorRecord:
    return OperatorRecord("torch_fake", version, built_for, "a test", True, frozenset())


RECORDS = (record("9.2.0", "9.2.0"), record("9.1.0", torch.__version__), record("9.0.0", "9.0.0"))


def test_the_record_of_this_torch_is_taken() -> None:
    assert choose_record(RECORDS, "torch_fake") is RECORDS[1]


def test_the_record_of_the_installed_package_stands_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: "9.0.0.post2")
    assert choose_record(RECORDS, "torch_fake") is RECORDS[2]


def test_without_either_the_newest_is_taken() -> None:
    assert choose_record((RECORDS[0], RECORDS[2]), None) is RECORDS[0]
    assert choose_record((), None) is None


def test_the_processor_is_asked_itself() -> None:
    found = knowledge(DeviceName("cpu"))
    assert found.live
    assert found.table.judge("aten::histc").coverage is Coverage.NATIVE


def test_a_backend_that_does_not_open_and_has_no_record_is_unknown() -> None:
    def fail() -> None:
        raise OSError("libfake.so is not there")

    with accelhal.register(fake_spec("fake", fail)):
        found = knowledge(DeviceName("fake"))
    assert not found.live
    assert "libfake.so is not there" in found.remark
    assert "accelhal.operators.record fake FILE" in found.remark


def test_a_record_of_another_torch_is_remarked_on(tmp_path: Path) -> None:
    from accelhal.runtimes.operator_record import record_text

    (tmp_path / "old.json").write_text(record_text(RECORDS[2]))
    found = knowledge(DeviceName("cpu"), tmp_path / "old.json")
    assert "recorded with torch 9.0.0" in found.remark


def test_names_that_no_backend_has() -> None:
    with pytest.raises(UsageError, match="no backend is named 'cpx'") as caught:
        find_backend_spec(DeviceName("cpx"))
    assert "did you mean 'cpu'" in (caught.value.hint or "")


def test_an_extension_must_be_what_it_promises() -> None:
    spec = fake_spec("fake", extensions={"operators": "json:dumps"})
    with (
        accelhal.register(spec),
        pytest.raises(BackendLoadError, match="function where OperatorSupport is due"),
    ):
        knowledge(DeviceName("fake"))


def test_support_without_records_is_nothing_to_read() -> None:
    assert OperatorSupport().records() == ()


def test_recording_from_the_command_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "accelhal.operators.record"]
    file = tmp_path / "cpu.json"
    for arguments, code in (([], 4), (["nqu", str(file)], 3), (["cpu", str(file)], 0)):
        ended = subprocess.run([*command, *arguments], capture_output=True, timeout=120)
        assert ended.returncode == code, ended.stderr
    assert '"aten"' in file.read_text()
