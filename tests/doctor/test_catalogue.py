"""The list of checks: unique ids, causes before symptoms, unknown names refused."""

from __future__ import annotations

import pytest

from accelhal.doctor.catalogue import CHECKS, catalogue
from accelhal.errors import UsageError
from accelhal.spi.doctor import Cost


def test_ids_are_unique() -> None:
    ids = [check.id for check in CHECKS]
    assert len(ids) == len(set(ids))


def test_every_check_comes_after_what_it_depends_on() -> None:
    seen: set[str] = set()
    for check in CHECKS:
        assert seen.issuperset(check.depends_on), check.id
        seen.add(check.id)


def test_without_ids_the_depth_chooses() -> None:
    assert all(check.cost is Cost.FILES for check in catalogue().select([]))
    assert catalogue().select([], set(Cost)) == catalogue().checks


def test_ids_are_run_in_causal_order() -> None:
    assert [c.id for c in catalogue().select(["device.mask", "host.pci"])] == [
        "host.pci",
        "device.mask",
    ]


def test_an_unknown_id_is_refused_with_a_guess() -> None:
    with pytest.raises(UsageError, match=r"device\.mask"):
        catalogue().select(["device.masc"])
