"""The user's own models: what a factory may return, and one clear error for what it may not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from accelhal.bench.factory import check_name, load_workload
from accelhal.bench.workload import call
from accelhal.errors import UsageError

FACTORIES = """
import torch

linear = torch.nn.Linear(4, 2)

def with_make_batch():
    return linear, lambda size: torch.ones(size, 4)

def with_example():
    return linear, torch.ones(1, 4)

def with_two_inputs():
    return torch.nn.Bilinear(4, 3, 2), (torch.ones(1, 4), torch.ones(1, 3))

class Named(torch.nn.Module):
    def forward(self, *, left, right):
        return left + right

    @staticmethod
    def build():
        return Named(), {"left": torch.ones(1, 4), "right": torch.ones(1, 4)}

number = 3
def none(): return None
def module_alone(): return linear
def no_module(): return "linear", torch.ones(1, 4)
def no_input(): return linear, 4
def module_as_input(): return linear, linear
def wide_example(): return linear, torch.ones(8, 4)
def scalar_example(): return linear, torch.tensor(1.0)
def text_batch(): return linear, lambda size: "batch"
def failing_batch(): return linear, lambda size: {}["missing"]
def single_batch(): return linear, lambda size: torch.ones(1, 4)
def mute():
    class Mute(Exception):
        def __str__(self): raise ValueError
    raise Mute
def raising(): raise ValueError("no weights here")
def leaving(): raise SystemExit(3)
def needy(weights): return linear, torch.ones(1, 4)
"""


@pytest.fixture(autouse=True)
def own_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_models.py").write_text(FACTORIES)
    (tmp_path / "broken_models.py").write_text("import a_package_that_is_not_there")
    (tmp_path / "exiting_models.py").write_text("raise SystemExit(1)")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("own_models", "broken_models", "exiting_models"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.parametrize(
    "factory", ["with_make_batch", "with_example", "with_two_inputs", "Named.build"]
)
def test_a_good_factory_makes_batches_of_any_size(factory: str) -> None:
    workload = load_workload(f"own_models:{factory}")
    for size in (1, 5):
        assert call(workload.module, workload.make_batch(size)).shape[0] == size


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("own_models:number", "is <int>, not a function"),
        ("own_models:nothing", "own_models has no attribute 'nothing'"),
        ("own_models:none", "returned None, not a pair"),
        ("own_models:module_alone", "returned <Linear>, not a pair"),
        ("own_models:no_module", "returned <str> where a torch.nn.Module is due"),
        ("own_models:no_input", "returned <int> where make_batch or an example"),
        ("own_models:module_as_input", "returned <Linear> where make_batch or an example"),
        ("own_models:wide_example", r"shape \(8, 4\): one sample has a leading dimension of 1"),
        ("own_models:scalar_example", r"shape \(\): one sample"),
        ("own_models:text_batch", r"make_batch\(1\) returned <str>"),
        ("own_models:failing_batch", r"make_batch\(1\) raised KeyError: 'missing'"),
        ("own_models:single_batch", r"make_batch\(2\) returned no more than make_batch\(1\)"),
        ("own_models:mute", "raised Mute: \\(no message"),
        ("own_models:raising", "raised ValueError: no weights here"),
        ("own_models:leaving", "raised SystemExit: 3"),
        ("own_models:needy", "raised TypeError: .*weights"),
        ("no_such_module:build", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("broken_models:build", "No module named 'a_package_that_is_not_there'"),
        ("exiting_models:build", "importing exiting_models raised SystemExit: 1"),
    ],
)
def test_a_bad_factory_gets_one_error_naming_it_and_the_reason(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        load_workload(name)
    assert name in caught.value.message


def test_only_a_missing_module_of_the_users_own_is_sent_to_its_folder() -> None:
    with pytest.raises(UsageError) as own:
        load_workload("no_such_module:build")
    with pytest.raises(UsageError) as others:
        load_workload("broken_models:build")
    assert "folder" in str(own.value.hint)
    assert others.value.hint is None


@pytest.mark.parametrize(
    "name", ["resnet5", "", ":", "a:", ":b", "a:b:c", "my models:x", "a.py:b c", "../a:b"]
)
def test_a_name_that_is_no_model_is_told_without_importing(name: str) -> None:
    with pytest.raises(UsageError, match="no model is named") as caught:
        check_name(name)
    assert "package.module:factory" in str(caught.value.hint)


def test_a_misspelt_name_gets_a_guess() -> None:
    with pytest.raises(UsageError) as caught:
        check_name("resnet-50")
    assert "did you mean 'resnet50'?" in str(caught.value)


def test_an_example_is_repeated_not_reshaped() -> None:
    batch = load_workload("own_models:with_example").make_batch(3)
    assert torch.equal(batch, torch.ones(3, 4))
