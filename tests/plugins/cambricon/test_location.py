from __future__ import annotations

import pytest
from accelhal_cambricon.location import locate
from accelhal_cambricon.probe import VISIBLE_DEVICES
from hypothesis import given, settings, strategies

from accelhal.facts import BoardKey
from accelhal.host.visible_devices import active_mask

UUIDS = [f"33033011-2157-0000-0000-00000000000{number}" for number in range(3)]


def where(index: int, **variables: str) -> BoardKey | str:
    found = locate(index, active_mask(VISIBLE_DEVICES, variables))
    return found.key or found.reason


def test_without_a_variable_torchs_index_is_the_drivers_number() -> None:
    assert where(5) == BoardKey("mlu", "visible-order", "5")


@settings(deadline=None)
@given(strategies.lists(strategies.integers(0, 99), min_size=1, unique=True))
def test_position_in_the_variable_is_torchs_index(numbers: list[int]) -> None:
    text = ",".join(map(str, numbers))
    for index, number in enumerate(numbers):
        found = where(index, MLU_VISIBLE_DEVICES=text)
        assert found == BoardKey("mlu", "visible-order", str(number))


def test_the_first_variable_that_is_set_counts() -> None:
    found = where(0, CN_VISIBLE_DEVICES="4", MLU_VISIBLE_DEVICES="2", CUDA_VISIBLE_DEVICES="1")
    assert found == BoardKey("mlu", "visible-order", "4")


def test_a_uuid_in_the_variable_names_the_board_itself() -> None:
    assert where(1, CN_VISIBLE_DEVICES=",".join(UUIDS)) == BoardKey("mlu", "uuid", UUIDS[1])


@pytest.mark.parametrize(
    ("index", "variables", "words"),
    [
        (0, {"CUDA_VISIBLE_DEVICES": "0"}, "whether Cambricon's driver follows it is not known"),
        (1, {"CN_VISIBLE_DEVICES": "3"}, "device 1 is none of them"),
        (0, {"CN_VISIBLE_DEVICES": ""}, "hides every device"),
        (0, {"CN_VISIBLE_DEVICES": f"33033011-21,{UUIDS[1]}"}, "no whole UUID"),
    ],
    ids=["of another vendor", "too few", "none", "part of a uuid"],
)
def test_what_would_be_a_guess_is_a_reason(
    index: int, variables: dict[str, str], words: str
) -> None:
    found = where(index, **variables)
    assert isinstance(found, str)
    assert words in found
    assert next(iter(variables)) in found
