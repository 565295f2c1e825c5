"""The vendors' tables of board models, and the simulated boards' use of them."""

from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import Path

import pytest
from accelhal_ascend.board_models import MODELS as ASCEND
from accelhal_cambricon.board_models import MODELS as CAMBRICON
from accelhal_cuda.board_models import MODELS as CUDA
from accelhal_mock.profiles.catalogue import MODELS as SIMULATED, load_profile

from accelhal.facts.models import BoardModel

PLUGINS = Path(__file__).parents[2] / "plugins"

VENDORS = {"NVIDIA": CUDA, "Huawei": ASCEND, "Cambricon": CAMBRICON}
EVERY = [model for vendor in VENDORS.values() for model in vendor.read()]

every_model = pytest.mark.parametrize("model", EVERY, ids=lambda model: model.id)


@pytest.mark.parametrize("vendor", VENDORS)
def test_each_plugin_has_its_own_vendors_boards(vendor: str) -> None:
    assert {model.vendor for model in VENDORS[vendor].read()} == {vendor}


def test_no_short_name_stands_for_two_models() -> None:
    names = Counter(name for model in EVERY for name in (model.id, *model.aliases))
    assert [name for name, count in names.items() if count > 1] == []


def test_models_of_one_name_differ_in_their_chips() -> None:
    """It is what tells them apart; see accelhal.management.models."""
    names = Counter((name, model.chips) for model in EVERY for name in model.names)
    assert [name for name, count in names.items() if count > 1] == []


@every_model
def test_figures_are_in_base_units(model: BoardModel) -> None:
    """Within what data-centre and desktop boards of these years have."""
    assert model.memory is None or 1 << 30 <= model.memory <= 1 << 40
    assert model.bandwidth is None or 1e10 <= model.bandwidth <= 1e14
    assert all(1e12 <= rate <= 1e17 for rate in model.peak_rates.values())
    assert model.power is None or 5 <= model.power <= 3000
    assert model.link_bandwidth is None or 1e9 <= model.link_bandwidth <= 1e13


@every_model
def test_a_driver_reports_a_little_less_than_is_sold(model: BoardModel) -> None:
    if model.memory is not None and model.memory_reported is not None:
        assert 0.8 <= model.memory_reported * model.chips / model.memory <= 1


@every_model
def test_every_figure_has_its_source_and_strength(model: BoardModel) -> None:
    strengths = {"vendor document", "public report", "from general knowledge, unverified"}
    assert model.strength in strengths
    assert model.sources


@every_model
def test_what_a_model_has_no_units_for_has_no_peak(model: BoardModel) -> None:
    assert not set(model.unsupported) & set(model.peak_rates)


def test_the_simulated_boards_know_the_same_models() -> None:
    assert list(SIMULATED.read()) == EVERY


@every_model
def test_every_model_can_be_simulated(model: BoardModel) -> None:
    assert load_profile(model.id).product == model.names[0]


@pytest.mark.parametrize("plugin", ["cuda", "ascend", "cambricon"])
def test_a_source_archive_of_the_simulation_has_the_tables_themselves(
    plugin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the tree they are links out of the package."""
    build = pytest.importorskip("hatchling.build")
    monkeypatch.chdir(PLUGINS / "mock")
    archive = tmp_path / build.build_sdist(str(tmp_path))
    with tarfile.open(archive) as members:
        [name] = [n for n in members.getnames() if n.endswith(f"/profiles/boards/{plugin}.json")]
        assert members.getmember(name).isfile()
        found = members.extractfile(name)
        assert found is not None
        content = found.read()
    assert content == (PLUGINS / plugin / f"accelhal_{plugin}" / "board_models.json").read_bytes()
