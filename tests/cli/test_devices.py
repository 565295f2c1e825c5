"""`accelhal devices`: what is there, and a reason for what is not."""

from __future__ import annotations

import json

import pytest
from cli.commands import FakeSite
from click.testing import CliRunner

from accelhal.cli.main import cli


def test_an_absent_backend_is_listed_with_reason_and_next_step(site: FakeSite) -> None:
    site.plugin()
    ended = site.run("devices")
    assert ended.code == 0
    assert "no toy here" in ended.out
    assert "next: pip install 'toys[all]'" in ended.out


def test_json(site: FakeSite) -> None:
    site.plugin()
    ended = site.run("devices", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.document["schema"] == "accelhal.devices/1"
    toy = next(b for b in ended.document["backends"] if b["name"] == "toy")
    assert toy == {
        "name": "toy",
        "vendor": "Toymaker",
        "distribution": "accelhal-toy",
        "version": "1.0",
        "api_version": "1.0",
        "simulated": False,
        "status": "no_hardware",
        "count": 0,
        "reason": "no toy here",
        "hint": "pip install 'toys[all]'",
    }
    assert {"name": "cpu:0", "backend": "cpu", "index": 0} in ended.document["devices"]


@pytest.mark.parametrize(
    "code", ["raise OSError('libtoy.so')", "assert False, 'libtoy.so'", "exit('libtoy.so')"]
)
def test_a_broken_plugin_costs_only_itself(site: FakeSite, code: str) -> None:
    site.plugin(code)
    ended = site.run("devices", "--json")
    status = {backend["name"]: backend["status"] for backend in ended.document["backends"]}
    assert (status["toy"], status["cpu"]) == ("library_broken", "available")
    assert ended.code == 0


def test_two_distributions_with_one_name_are_both_named(site: FakeSite) -> None:
    site.plugin()
    site.plugin(distribution="other-toy")
    ended = site.run("devices")
    assert ended.code == 0
    assert "accelhal-toy 1.0 and other-toy 1.0" in ended.out


def test_reasons_are_whole_where_output_is_piped(site: FakeSite) -> None:
    reason = "the toy is missing " + "very " * 40 + "much"
    site.plugin(f"raise OSError({reason!r})")
    ended = site.run("devices")
    assert reason in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("NPU:0", "ACCELHAL_DEVICE='NPU:0' is not a device name\n  next: did you mean 'npu:0'?"),
        (
            "cqu:1",
            "ACCELHAL_DEVICE names 'cqu', and no backend has that name\n  next: did you mean",
        ),
    ],
)
def test_a_choice_that_names_nothing_is_warned_of(named: str, words: str) -> None:
    result = CliRunner().invoke(cli, ["devices", "--json"], env={"ACCELHAL_DEVICE": named})
    assert result.exit_code == 0
    assert result.stderr.startswith(f"accelhal: warning: {words}")
    assert json.loads(result.stdout)["schema"] == "accelhal.devices/1"


@pytest.mark.parametrize("named", ["cpu", "cpu:7", ""])
def test_a_choice_of_a_listed_backend_is_silent(named: str) -> None:
    result = CliRunner().invoke(cli, ["devices"], env={"ACCELHAL_DEVICE": named})
    assert (result.exit_code, result.stderr) == (0, "")


def test_named_limits_are_shown() -> None:
    result = CliRunner().invoke(cli, ["devices"], env={"ACCELHAL_BACKENDS": "cpu"})
    assert result.exit_code == 0
    assert "cpu:0" in result.output
