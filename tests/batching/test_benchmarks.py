"""The benchmarks' own rules: who is compared with whom, and what the soak calls a fault."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch):
    """Imports a module of benchmarks/batching, which is no package of the project."""
    monkeypatch.syspath_prepend(str(ROOT))

    def imported(name: str) -> ModuleType:
        return importlib.import_module(f"benchmarks.batching.{name}")

    return imported


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


def test_one_round_of_ours_gives_figures_and_no_verdict_without_peers(tmp_path):
    out = tmp_path / "run.json"
    done = run(
        "benchmarks.batching",
        *("--contender", "accelhal", "--contender", "ideal", "--quick", "--seconds", "0.05"),
        *("--workload", "mlp", "--workload", "encoder", "--workload", "threads"),
        *("--json", str(out)),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert found["left_out"] == {}
    for name in ("mlp", "encoder", "threads"):
        rows = {row["contender"]: row for row in found["workloads"][name]}
        assert rows["accelhal"]["error"] is None
        assert rows["accelhal"]["median"]["cpu_us"] > 0
        assert rows["accelhal"]["median"]["stranded"] == 0
    met = {(one["workload"], one["target"]["against"]): one["met"] for one in found["targets"]}
    assert met["mlp", "peers"] is None
    assert met["encoder", "none"] is not None  # its padding efficiency stands by itself
    assert "load average" in done.stdout


def test_a_peer_that_is_not_installed_is_left_out_with_the_reason(module):
    rounds = module("rounds")

    class Nothing:
        def having(self, package: str | None) -> None:
            return None

    assert rounds.opened(["batched"], Nothing()) == ([], {"batched": "batched is not installed"})


def test_a_contender_that_cannot_be_imported_is_left_out_with_what_it_said(module, monkeypatch):
    rounds = module("rounds")
    monkeypatch.setitem(rounds.PEERS, "no_such_contender", "click")
    interpreters = module("interpreters").Interpreters([sys.executable])
    contenders, left_out = rounds.opened(["no_such_contender"], interpreters)
    assert contenders == []
    assert "no_such_contender" in left_out["no_such_contender"]


@pytest.fixture
def rows(module):
    """Rows of one workload from {contender or (contender, setting of lengths): figures}."""
    figures, rounds = module("figures").Figures, module("rounds")

    def made(seen: dict[str | tuple[str, str], dict[str, float]]):
        made = []
        for who, values in seen.items():
            name, setting = who if isinstance(who, tuple) else (who, "default")
            row = rounds.Row(name, setting, knows_lengths=isinstance(who, tuple))
            row.rounds.append(figures(**values))
            made.append(row)
        return made

    return made


def test_less_cpu_than_half_of_the_best_peer_meets_the_target(module, rows):
    workload = module("workloads").BY_NAME["noop"]
    seen = {"accelhal": {"cpu_us": 4.0}, "batched": {"cpu_us": 20.0}, "bentoml": {"cpu_us": 9.0}}
    verdict, *_ = module("verdicts").verdicts(workload, rows(seen))
    assert verdict.rival == "bentoml (default)"
    assert verdict.ratio == pytest.approx(4 / 9)
    assert verdict.met is True
    verdict, *_ = module("verdicts").verdicts(workload, rows(seen | {"ray_serve": {"cpu_us": 7.0}}))
    assert verdict.met is False


def test_a_peer_that_holds_the_callers_loop_is_told_of_and_not_judged_by(module, rows):
    workload = module("workloads").BY_NAME["lone"]
    seen = rows({"accelhal": {"p50_ms": 0.05}, "batched": {"p50_ms": 0.1}})
    held = rows({"bentoml": {"p50_ms": 0.02}})
    held[0].on_loop = True
    judged, told, _ = module("verdicts").verdicts(workload, seen + held)
    assert (judged.rival, judged.met) == ("batched (default)", True)
    assert (told.rival, told.ratio, told.met) == ("bentoml (default)", 2.5, None)


def test_peers_that_know_lengths_are_judged_apart(module, rows):
    workload = module("workloads").BY_NAME["encoder"]
    ours = {"tokens_per_second": 40e3, "efficiency": 0.9}
    seen = rows(
        {
            "accelhal": ours,
            "batched": {"tokens_per_second": 10e3},
            ("batched", "by length"): {"tokens_per_second": 50e3},
        }
    )
    against_fifo, against_all, efficiency = module("verdicts").verdicts(workload, seen)
    assert (against_fifo.ratio, against_fifo.met) == (4.0, True)
    assert (against_all.ratio, against_all.met) == (0.8, False)
    assert efficiency.met is True


def test_a_round_that_failed_leaves_no_verdict(module, rows):
    workload = module("workloads").BY_NAME["device"]
    found = module("verdicts").verdicts(workload, rows({"accelhal": {"per_second": 1.0}}))
    assert [verdict.met for verdict in found] == [None, None]


def test_the_bare_thread_is_told_of_and_is_no_peer(module, rows):
    workload = module("workloads").BY_NAME["few"]
    seen = {"accelhal": 30.0, "floor": 60.0, "batched": 20.0}
    found = module("verdicts").verdicts(
        workload, rows({name: {"per_second": value} for name, value in seen.items()})
    )
    assert [(one.rival, one.ratio, one.met) for one in found] == [
        ("batched (default)", 1.5, True),
        ("", None, None),
        ("floor (default)", 0.5, None),
    ]


def test_medians_pass_over_figures_that_a_round_lacks(module):
    figures = module("figures")
    rounds = [figures.Figures(cpu_us=value) for value in (3.0, None, 1.0, 8.0)]
    assert figures.medians(rounds).cpu_us == 3.0
    assert figures.medians(rounds).p50_ms is None


def test_the_ledger_tells_a_wrong_answer_a_second_answer_and_none(module):
    import torch

    soak = module("soak_ledger")
    ledger, text = soak.Ledger(), soak.Text.random(5)
    first, second, third = (ledger.ask(text) for _ in range(3))
    ledger.answered(first, torch.tensor([first.number, first.total]))
    assert ledger.faults == []
    ledger.answered(second, torch.tensor([third.number, third.total]))
    assert ledger.snapshot()["wrong answer"] == 1
    ledger.answered(first, torch.tensor([first.number, first.total]))
    assert [fault.split(":")[0] for fault in ledger.faults] == [
        f"request {second.number} was given {third.number}'s answer",
        f"request {first.number} was answered twice, the second time",
    ]
    assert ledger.unanswered == 1


def test_the_ledger_tells_an_error_that_its_request_did_not_earn(module):
    from accelhal.errors import DeadlineExceededError

    note, soak = module("soak_callers").note, module("soak_ledger")
    poison = module("soak_model").PoisonError("poison")
    ledger, text = soak.Ledger(), soak.Text.random(5)
    note(ledger, ledger.ask(text, poisoned=True), poison)
    note(ledger, ledger.ask(text), DeadlineExceededError("late"), may=("late",))
    assert ledger.faults == []
    note(ledger, ledger.ask(text), poison)
    note(ledger, ledger.ask(text), DeadlineExceededError("late"))
    note(ledger, ledger.ask(text), KeyError("lost"))
    assert len(ledger.faults) == 3


def test_a_short_soak_answers_every_request_through_a_lane_s_death():
    done = run("benchmarks.batching.soak", "--minutes", "1", "--seconds", "2", "--deaths", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 unanswered, 0 stuck" in done.stdout
    assert "1 batches run again elsewhere" in done.stdout
