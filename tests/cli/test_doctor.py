"""`accelhal doctor` as typed: bad installations end in findings and exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.commands import TOY_SPEC, FakeSite
from click.testing import CliRunner

from accelhal.cli.main import cli
from accelhal.doctor.catalogue import CHECKS, Catalogue, catalogue
from accelhal.doctor.engine import DEFAULT_SCENE
from accelhal.doctor.facts import Facts
from accelhal.doctor.texts import TEXTS
from accelhal.facts import Finding
from accelhal.spi.doctor import Check

PLUGINS = ("plugin.load", "backend.probe")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise OSError('libtoy.so: cannot open')", "OSError: libtoy.so: cannot open"),
        ("assert False, 'no toys'", "AssertionError: no toys"),
        ("raise SystemExit('go away')", "SystemExit: go away"),
        ("SPEC = 'not a spec'", "not a BackendSpec"),
        (TOY_SPEC.replace("(1, 0)", "(2, 0)"), "interface 2.0, not 1.1"),
        (TOY_SPEC.replace('name="toy"', 'name="doll"'), "calls itself 'doll'"),
        (TOY_SPEC.replace("return Probe", "raise RuntimeError('boo') or Probe"), "boo"),
    ],
)
def test_a_broken_plugin_is_a_warning_and_disturbs_nothing(
    site: FakeSite, code: str, words: str
) -> None:
    site.plugin(code)
    ended = site.run("doctor", "--json", *PLUGINS)
    broken = [f for f in ended.document["findings"] if f["device"] == "toy"]
    assert words in " ".join(f["title"] + f["cause"] for f in broken)
    assert [f["state"] for f in broken if f["state"] not in ("ok", "skip")] == ["warn"]
    assert ended.finding("backend.probe", "cpu")["state"] == "ok"
    assert ended.code == 0
    assert site.run("doctor", "--strict", *PLUGINS).code == 1


def test_a_broken_plugin_that_the_environment_names_is_a_failure(site: FakeSite) -> None:
    site.plugin("raise OSError('libtoy.so')")
    ended = site.run("doctor", *PLUGINS, ACCELHAL_DEVICE="toy:0")
    assert ended.code == 2
    assert "1 problem in 1 group" in ended.out
    assert "pip uninstall accelhal-toy" in ended.out


def test_two_distributions_with_one_name(site: FakeSite) -> None:
    site.plugin()
    site.plugin(distribution="other-toy")
    ended = site.run("doctor", "--json", *PLUGINS)
    finding = ended.finding("plugin.load", "toy")
    assert (finding["code"], finding["state"]) == ("plugin.conflict", "warn")
    assert "accelhal-toy 1.0 and other-toy 1.0" in finding["cause"]
    assert "toy@accelhal-toy:0" in finding["hint"][0]
    assert ended.finding("backend.probe", "toy")["state"] == "skip"
    assert ended.code == 0


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("0,first", "mask.not_a_device"),
        ("0,0", "mask.duplicate"),
        ("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "mask.not_a_device"),
        ("0,,1", "mask.empty_entry"),
        ("", "mask.empty"),
    ],
)
def test_visible_devices_variables(site: FakeSite, value: str, code: str) -> None:
    site.plugin()
    ended = site.run("doctor", "--json", "device.mask", TOY_VISIBLE_DEVICES=value)
    finding = ended.finding("device.mask", "toy")
    assert finding["code"] == code
    assert finding["title"].startswith("toy: TOY_VISIBLE_DEVICES")
    assert "8932f937" not in ended.out, "private by default where output is for sharing"
    assert ended.code == 0


def test_torch_missing_is_an_info(site: FakeSite) -> None:
    site.without_torch()
    ended = site.run("doctor", "--json")
    finding = ended.finding("framework.build")
    assert (finding["code"], finding["state"]) == ("torch.missing", "info")
    assert "accelhal[torch]" in finding["hint"][0]
    assert ended.code in (0, 2)  # 2 only where this very host has a real problem
    assert site.run("doctor", "framework.build").code == 0


def test_torch_missing_leaves_nothing_to_import(site: FakeSite) -> None:
    site.without_torch()
    ended = site.run("doctor", "--deep", "--json", "framework.sees")
    assert ended.finding("framework.sees")["code"] == "sees.no_torch"
    assert ended.code == 0


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import ctypes; ctypes.string_at(0)", "kills the process with SIGSEGV"),
        ("import os; os.abort()", "kills the process with SIGABRT"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise OSError('libtoydriver.so: cannot open shared object file')", "libtoydriver.so"),
        ("print('{' * 100_000); import os; os._exit(5)", "ends the process: exit status 5"),
        ("import time; time.sleep(600)", "hangs: no end within 3 s"),
    ],
)
def test_a_deep_look_survives_every_vendor_package(site: FakeSite, code: str, words: str) -> None:
    site.torch()
    site.plugin()
    site.vendor_package(code)
    ended = site.run("doctor", "--deep", "--json", "--timeout", "3", "framework.sees")
    finding = ended.finding("framework.sees", "toy")
    assert words in finding["title"]
    assert finding["state"] == "fail", "torch loads it inside its own import"
    assert finding["evidence"]["last step"] == "import torch_toy"
    assert ended.finding("framework.sees")["code"] == "sees.loaded"
    assert (ended.code, ended.err) == (2, "")


def test_an_autoloaded_package_that_is_gone(site: FakeSite) -> None:
    site.torch()
    site.vendor_package("")
    (Path(site.path[-1]) / "torch_toy.py").unlink()
    ended = site.run("doctor", "framework.autoload")
    assert ended.code == 2
    assert "every `import torch` fails" in ended.out
    assert "export TORCH_DEVICE_BACKEND_AUTOLOAD=0" in ended.out


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({"ACCELHAL_DEVICE": "toy::0"}, 2),
        ({"ACCELHAL_DEVICE": "no_such_backend"}, 2),
        ({"ACCELHAL_DEVICE": "cpu:9"}, 2),
        ({"ACCELHAL_BACKENDS": "no_such_backend"}, 2),
        ({"ACCELHAL_BACKENDS": "cpu,no_such_backend"}, 0),
    ],
)
def test_own_variables(site: FakeSite, variables: dict[str, str], code: int) -> None:
    ended = site.run("doctor", "env.accelhal", **variables)
    assert ended.code == code
    assert "unset ACCELHAL_" in ended.out


def test_the_closing_line_counts() -> None:
    quiet = CliRunner().invoke(cli, ["doctor", "env.accelhal"], env={"ACCELHAL_DEVICE": "cpu"})
    assert quiet.exit_code == 0
    assert "No issues found" in quiet.output


def test_checks_are_listed() -> None:
    result = CliRunner().invoke(cli, ["doctor", "--list-checks"])
    assert result.exit_code == 0
    assert all(check.id in result.output for check in CHECKS)


def test_checks_are_listed_as_json(site: FakeSite) -> None:
    ended = site.run("doctor", "--list-checks", "--json")
    assert ended.document["schema"] == "accelhal.doctor.checks/1"
    ids = [check["id"] for check in ended.document["checks"]]
    core = [check.id for check in catalogue().checks]
    assert [name for name in ids if name in core] == core, "plugins only add theirs"


def test_json_is_one_document_with_every_check(site: FakeSite) -> None:
    ended = site.run("doctor", "--json")
    assert ended.err == ""
    assert ended.document["schema"] == "accelhal.doctor/1"
    assert ended.document["redacted"] is True
    found = {finding["id"] for finding in ended.document["findings"]}
    core = {check.id: check.cost for check in CHECKS}
    assert found & core.keys() == {name for name in core if core[name] in DEFAULT_SCENE}


def test_redaction_can_be_chosen(site: FakeSite) -> None:
    site.plugin()
    private = "TOY-8932f937-d72c-4106-c12f-20bd9faed9f6"
    plain = site.run("doctor", "device.mask", TOY_VISIBLE_DEVICES=private)
    assert private in plain.out
    hidden = site.run("doctor", "--redact", "device.mask", TOY_VISIBLE_DEVICES=private)
    assert private not in hidden.out
    shown = site.run("doctor", "--no-redact", "--json", "device.mask", TOY_VISIBLE_DEVICES=private)
    assert private in shown.out
    assert shown.document["redacted"] is False


def test_verbose_shows_every_finding_with_its_evidence(site: FakeSite) -> None:
    site.torch()
    ended = site.run("doctor", "-v", "framework.build")
    assert "framework.build" in ended.out
    assert "version.py: 2.13.0" in ended.out.replace("\n", "")


def test_a_check_that_crashes_stops_nothing_and_a_run_of_crashes_could_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def crash(facts: Facts) -> list[Finding]:
        raise KeyError("lost")

    broken = Check("host.broken", "Host", "a broken check", (), crash)
    sound = next(check for check in CHECKS if check.id == "env.accelhal")

    def known(*checks: Check) -> None:
        def catalogue(specs: object) -> Catalogue:
            return Catalogue(checks, TEXTS)

        monkeypatch.setattr("accelhal.cli.doctor.catalogue", catalogue)

    known(broken, sound)
    result = CliRunner().invoke(cli, ["doctor"], env={"ACCELHAL_DEVICE": ""})
    assert result.exit_code == 0
    assert "KeyError" in result.output
    assert "are not set" in result.output
    known(broken)
    assert CliRunner().invoke(cli, ["doctor"]).exit_code == 3


def test_a_window_that_is_no_number_is_refused() -> None:
    result = CliRunner().invoke(cli, ["doctor", "--watch", "nan"])
    assert result.exit_code == 4
    assert "'--watch'" in result.output
