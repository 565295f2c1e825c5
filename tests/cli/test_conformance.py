"""`accelhal conformance` as a command: choices, tables, documents, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.commands import FakeSite
from click.testing import CliRunner, Result

from accelhal.cli.exit_codes import ExitCode
from accelhal.cli.main import cli
from accelhal.testing import conformance_run
from accelhal.testing.conformance import ConformanceReport, Outcome, RuleResult


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["conformance", *arguments])


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> ConformanceReport:
    """What a run is made to find."""
    found = ConformanceReport("cpu", {"accelhal": "1.2"}, total=4)
    found.results += [
        RuleResult("events", "are_done", "Events are done.", Outcome.PASSED),
        RuleResult("events", "are_timed", "", Outcome.EXPECTED_FAILURE, "no clock"),
        RuleResult("events", "add_up", "Times add up.", Outcome.FAILED, "1 ms | 2 ms\nare <4> ms"),
        RuleResult("graphs", "repeat", "", Outcome.NOT_APPLICABLE, "cpu:0 has no graphs"),
    ]
    monkeypatch.setattr("accelhal.cli.conformance.run", lambda *args, **options: found)
    return found


def test_a_failure_is_shown_with_its_rule(report: ConformanceReport) -> None:
    result = invoke("cpu")
    assert result.exit_code == ExitCode.FAILURE
    assert "✗ events: add_up\n  rule: Times add up.\n  1 ms | 2 ms\n  are <4> ms\n" in result.stdout
    assert "no clock" in result.stdout
    assert "cpu:0 has no graphs" in result.stdout
    closing = "1 rules passed, 1 failed, 1 failed as expected, 1 not applicable.\n"
    assert result.stdout.endswith(closing)


def test_rules_that_hold_are_fine(report: ConformanceReport) -> None:
    del report.results[2]
    report.total = 3
    assert invoke("cpu").exit_code == ExitCode.FINE


def test_rules_that_were_not_tried_are_no_success(report: ConformanceReport) -> None:
    del report.results[2]
    report.stopped = "the time was over"
    result = invoke("cpu")
    assert result.exit_code == ExitCode.FAILURE
    assert result.stdout.endswith("1 not tried.\nStopped early: the time was over\n")


@pytest.mark.parametrize("form", [[], ["--json"], ["--markdown"]])
def test_where_no_rule_applies_nothing_was_judged(
    report: ConformanceReport, form: list[str]
) -> None:
    del report.results[:3]
    report.total = 1
    result = invoke("cpu", "--group", "graphs", *form)
    assert result.exit_code == ExitCode.COULD_NOT_RUN
    assert "nothing was judged: none of 1 rules applies to cpu" in result.stderr
    assert "name other groups" in result.stderr
    assert "cpu:0 has no graphs" in result.stdout
    if form == ["--json"]:
        found = json.loads(result.stdout)
        assert (found["complete"], found["passed"], found["judged"]) == (True, False, 0)


@pytest.mark.parametrize("columns", ["60", "80", "160"])
def test_headings_are_whole_on_a_narrow_terminal(
    report: ConformanceReport, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    shown = invoke("cpu").stdout
    assert "…" not in shown
    assert "cpu:0 has no graphs" in shown
    assert max(map(len, shown.splitlines())) <= int(columns)


def test_markdown_holds_tables(report: ConformanceReport) -> None:
    result = invoke("cpu", "--markdown")
    assert "| events | 1 | 1 | 1 | - | no clock |" in result.stdout
    assert "| events: add_up | Times add up. | 1 ms \\| 2 ms are \\<4\\> ms |" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cpu", "--group", "musik"], "there is no group 'musik'"),
        (["cpu", "--group", "musik"], "one of: loading, signatures, "),
        (["abacus"], "no backend is named 'abacus'"),
        (["cpu:0"], "'cpu:0' is a device"),
        (["c p u"], "is not a device name"),
        (["cqu"], "did you mean 'cpu'?"),
        (["cpu@elsewhere"], "elsewhere provides no backend 'cpu'"),
        (["cpu@accelhal:0"], "next: accelhal conformance cpu@accelhal\n"),
        (["cpu", "--rule-timeout", "0"], "'--rule-timeout'"),
        (["cpu", "--open-timeout", "never"], "'--open-timeout'"),
        (["cpu", "--json", "--markdown"], "exclude one another"),
        (["cpu", "--timeout", "0"], "'--timeout'"),
        (["cpu", "--timeout", "nan"], "'--timeout'"),
        ([], "BACKEND"),
    ],
)
def test_what_means_nothing_is_a_usage_error(arguments: list[str], words: str) -> None:
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")
    assert words in result.stderr


def test_without_pytest_the_next_step_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformance_run.importlib.util, "find_spec", lambda name: None)
    result = invoke("cpu")
    assert result.exit_code == ExitCode.COULD_NOT_RUN
    assert "needs pytest" in result.stderr
    assert "next: pip install 'accelhal[test]'" in result.stderr


def test_a_backend_that_does_not_open_cannot_be_tried(site: FakeSite) -> None:
    site.plugin()
    ended = site.run("conformance", "toy")
    assert ended.code == ExitCode.COULD_NOT_RUN
    assert "toy" in ended.err
    assert ended.out == ""


def test_a_name_claimed_twice_must_be_pinned(site: FakeSite) -> None:
    site.plugin()
    site.plugin(distribution="other-toy")
    ended = site.run("conformance", "toy")
    assert (ended.code, ended.out) == (ExitCode.COULD_NOT_RUN, "")
    assert "claimed by accelhal-toy and other-toy" in ended.err
    assert "accelhal conformance toy@accelhal-toy" in ended.err


@pytest.mark.parametrize("code", ["import os; os._exit(7)", "import os; os.abort()"])
def test_a_plugin_that_ends_its_process_ends_the_childs(site: FakeSite, code: str) -> None:
    site.plugin(code)
    ended = site.run("conformance", "toy")
    assert (ended.code, ended.out) == (ExitCode.COULD_NOT_RUN, "")
    assert "accelhal: opening toy did not succeed: the process" in ended.err


def test_what_a_plugin_prints_is_not_in_the_document(site: FakeSite) -> None:
    site.plugin(
        "import os\nfrom dataclasses import replace\nprint('noise')\nos.write(1, b'noise')\n"
        "from accelhal.runtimes.cpu_spec import SPEC as CPU\nSPEC = replace(CPU, name='toy')\n"
    )
    ended = site.run("conformance", "toy", "--group", "identity", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.document["backend"] == "toy"


def test_a_deleted_folder_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    result = invoke("cpu")
    assert result.exit_code == ExitCode.COULD_NOT_RUN
    assert "the current folder does not exist any more" in result.stderr


def test_a_run_is_one_document(site: FakeSite) -> None:
    ended = site.run("conformance", "cpu", "--group", "graphs", "--group", "events", "--json")
    assert (ended.code, ended.err) == (0, "")
    document = ended.document
    assert document["schema"] == "accelhal.conformance/1"
    assert (document["backend"], document["complete"], document["passed"]) == ("cpu", True, True)
    assert [group["name"] for group in document["groups"]] == ["events", "graphs"]
    rule = document["rules"][0]
    assert set(rule) == {"group", "rule", "statement", "outcome", "message"}
