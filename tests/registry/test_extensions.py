"""What a plugin names under its extensions is loaded, or its spec is to blame."""

from __future__ import annotations

import json

import pytest
from fake_spec import fake_spec

from accelhal.errors import BackendLoadError
from accelhal.registry.extensions import load_extension


def test_the_object_that_is_named() -> None:
    spec = fake_spec("fake", extensions={"faults": "json:JSONDecoder"})
    assert load_extension(spec, "faults", type) is json.JSONDecoder
    assert load_extension(spec, "operators", type) is None


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("no_such_module:X", "no_such_module"),
        ("json:no_such_name", "no_such_name"),
        ("json", "attribute"),
        ("json:dumps", "a function where type is due"),
    ],
)
def test_what_is_not_there_or_something_else(location: str, why: str) -> None:
    spec = fake_spec("fake", extensions={"faults": location})
    with pytest.raises(BackendLoadError, match=f"fake: its extension 'faults' raised .*{why}"):
        load_extension(spec, "faults", type)
