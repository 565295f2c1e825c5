"""Reading a launcher's variables: every one that is missing or wrong is named."""

from __future__ import annotations

import pytest

from accelhal.distributed.environment import RankEnvironment, read_environment
from accelhal.errors import UsageError

GOOD = {
    "RANK": "3",
    "WORLD_SIZE": "4",
    "LOCAL_RANK": "1",
    "MASTER_ADDR": "node-0",
    "MASTER_PORT": "29500",
}


def test_torchruns_variables_are_read() -> None:
    assert read_environment(GOOD) == RankEnvironment(3, 4, 1, "node-0", 29500)


def test_all_that_is_missing_is_named() -> None:
    with pytest.raises(UsageError, match="RANK, WORLD_SIZE, LOCAL_RANK, MASTER_PORT are not set"):
        read_environment({"MASTER_ADDR": "node-0", "RANK": ""})
    with pytest.raises(UsageError, match=r"LOCAL_RANK is not set(.|\n)*accelhal launch"):
        read_environment({name: value for name, value in GOOD.items() if name != "LOCAL_RANK"})


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("RANK", "4", "RANK='4' is not a number from 0 to 3"),
        ("RANK", "-1", "RANK='-1' is not a number"),
        ("WORLD_SIZE", "0", "WORLD_SIZE='0' is not a number from 1"),
        ("LOCAL_RANK", "one", "LOCAL_RANK='one' is not a number from 0 to 3"),
        ("MASTER_PORT", "70000", "MASTER_PORT='70000' is not a number from 0 to 65535"),
    ],
)
def test_values_that_are_wrong_are_named(name: str, value: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_environment(GOOD | {name: value})
