"""Files of board models: what is taken, and what is refused in words."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from accelhal.errors import UsageError
from accelhal.facts.models import BoardModel
from accelhal.spi.board_models import read_board_models

LEAST: dict[str, Any] = {
    "id": "one",
    "names": ["Example One"],
    "strength": "public report",
    "sources": ["a page"],
}


def read(folder: Path, **row: Any) -> BoardModel:
    path = folder / "models.json"
    path.write_text(json.dumps({"vendor": "Example", "models": [{**LEAST, **row}]}))
    [model] = read_board_models(path)
    return model


def test_figures_that_nobody_publishes_are_none(tmp_path: Path) -> None:
    model = read(tmp_path)
    assert (model.vendor, model.names, model.chips) == ("Example", ("Example One",), 1)
    assert (model.memory, model.power, model.peak_rates, model.link_kind) == (None, None, {}, None)


def test_figures_are_taken_as_they_stand(tmp_path: Path) -> None:
    model = read(tmp_path, bandwidth=2e12, peak_rates={"float16": 3e14}, slices=["1g.10gb"])
    assert (model.bandwidth, model.peak_rates) == (2e12, {"float16": 3e14})
    assert model.slices == ("1g.10gb",)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"memory": "80 GB"}, "one: memory is '80 GB'"),
        ({"power": -1}, "one: power is -1"),
        ({"chips": 0}, "one: chips is 0"),
        ({"chips": None}, "one: chips is None"),
        ({"names": "Example One"}, "one: names is 'Example One'"),
        ({"names": [1]}, r"one: names is \(1,\)"),
        ({"peak_rates": {"float16": None}}, "one: peak_rates is"),
        ({"pcie_lanes": True}, "one: pcie_lanes is True"),
        ({"wattage": 300}, "wattage"),
        ({"unverified": ["wattage"]}, "one: unverified names 'wattage'"),
    ],
)
def test_a_wrong_attribute_is_named(tmp_path: Path, row: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=f"models.json is no file of board models: .*{says}"):
        read(tmp_path, **row)


@pytest.mark.parametrize("missing", LEAST)
def test_a_missing_attribute_is_named(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "models.json"
    row = {name: value for name, value in LEAST.items() if name != missing}
    path.write_text(json.dumps({"vendor": "Example", "models": [row]}))
    with pytest.raises(UsageError, match=missing):
        read_board_models(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none.json is no file of board models"):
        read_board_models(tmp_path / "none.json")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(document=anything | st.fixed_dictionaries({"vendor": anything, "models": anything}))
def test_any_other_document_is_refused(
    tmp_path_factory: pytest.TempPathFactory, document: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(document))
    found: Any = ()
    with contextlib.suppress(UsageError):
        found = read_board_models(path)
    assert found == (), "no such document has a model"
