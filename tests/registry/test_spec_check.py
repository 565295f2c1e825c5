"""A spec that does not keep its promises is refused by name, and costs only its plugin."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from fake_spec import fake_spec

import accelhal
from accelhal.errors import BackendIncompatibleError, BackendLoadError
from accelhal.registry.spec_check import check_spec
from accelhal.spi import API_VERSION, BackendSpec

SPEC = fake_spec("toy")
NEWER = (API_VERSION[0], API_VERSION[1] + 1)


def test_a_whole_spec_is_taken() -> None:
    assert check_spec(SPEC, "toy", "toy 1.0") is SPEC


WRONG_KINDS: list[tuple[str, object]] = [
    *[("name", value) for value in ("", "Toy", "to y", None, 5)],
    ("vendor", None),
    *[("api_version", value) for value in (1, 1.0, "1.0", None, (1,), ("1", "0"), [1, 0])],
    *[("priority", value) for value in ("5", None, 1.5, True)],
    *[(function, None) for function in ("probe", "open_runtime")],
    ("open_management", "accelhal"),
    ("locate", "by number"),
    ("driver_library", "libtoy.so"),
    ("torch_package", 5),
    ("needs_privateuse1", "yes"),
    *[("visible_devices", value) for value in ("TOY_VISIBLE_DEVICES", ("TOY",), None)],
    ("device_nodes", ("/dev/toy0",)),
    ("distributed_backend", None),
    *[("pci_vendor_ids", value) for value in ("10de", ("0x10de",), ("10DE",), (4318,))],
    ("simulated", None),
    *[("extensions", value) for value in (None, {"faults": None}, ("faults",))],
]


def test_every_field_is_checked() -> None:
    assert {field for field, _ in WRONG_KINDS} == {field.name for field in fields(BackendSpec)}


@pytest.mark.parametrize(("field", "value"), WRONG_KINDS)
@pytest.mark.usefixtures("fresh_registry")
def test_a_field_of_the_wrong_kind_is_named(field: str, value: object) -> None:
    broken = replace(SPEC, **{field: value})
    with pytest.raises(BackendLoadError, match=rf"the spec of toy 1.0 has {field}="):
        check_spec(broken, "toy", "toy 1.0")
    with pytest.raises(BackendLoadError, match=field):
        accelhal.register(broken)
    assert "cpu" in [backend.name for backend in accelhal.backends()]


@pytest.mark.parametrize("value", [None, "toy", object(), SPEC.probe])
def test_what_is_no_spec_is_refused(value: object) -> None:
    with pytest.raises(BackendLoadError, match="not a BackendSpec"):
        check_spec(value, "toy", "toy 1.0")


def test_the_name_must_be_the_one_it_is_installed_under() -> None:
    with pytest.raises(BackendLoadError, match="calls itself 'toy'"):
        check_spec(SPEC, "top", "toy 1.0")


def test_another_major_version_does_not_fit() -> None:
    with pytest.raises(BackendIncompatibleError, match=r"interface 9\.1, not"):
        check_spec(replace(SPEC, api_version=(9, 1)), "toy", "toy 1.0")


def test_extensions_outside_the_list_are_a_newer_versions_alone() -> None:
    unknown = replace(SPEC, extensions={"smoke_signals": "toy.smoke:SIGNALS"})
    with pytest.raises(BackendLoadError, match="unknown extensions: smoke_signals"):
        check_spec(unknown, "toy", "toy 1.0")
    newer = replace(unknown, api_version=NEWER)
    assert check_spec(newer, "toy", "toy 1.0") is newer
