"""The package's README against what the package has."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import accelhal_mock
import pytest
from accelhal_mock import installation
from accelhal_mock.profiles import load_profile
from accelhal_mock.simulation import FaultKind

README = (Path(__file__).parents[3] / "plugins" / "mock" / "README.md").read_text()


@pytest.mark.parametrize("kind", [kind.value for kind in FaultKind])
def test_every_fault_is_described(kind):
    assert f"`{kind}`" in README


def test_named_profiles_exist():
    named = README.partition("profiles/boards/`):")[2].partition("and others")[0]
    names = re.findall(r"`([^`]+)`", named)
    assert len(names) > 10
    for name in names:
        assert load_profile(name).name == name


def test_the_own_profile_of_the_readme_is_accepted():
    code = README.rpartition("```python")[2].partition("```")[0]
    code = code.replace("install(", "install(mode='plain', ")
    with installation.preserved():
        exec(code, {"accelhal_mock": accelhal_mock})
        assert accelhal_mock.machine().board(0).profile.name == "half"


@pytest.mark.parametrize("name", inspect.signature(accelhal_mock.install).parameters)
def test_every_argument_of_install_is_mentioned(name):
    assert name in README
