"""Group: element types that are listed work, and the others fail without harm."""

from __future__ import annotations

import contextlib

import pytest
import torch

from accelhal.errors import UsageError
from accelhal.facade import Device
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import on_two_devices, requires

DTYPES: tuple[torch.dtype, ...] = (
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.uint16,
    torch.uint32,
    torch.uint64,
)
"""Every element type that a device may list: torch 2.4's, quantized ones left out."""

_ROWS = 16


class Dtypes(SuiteBase):
    """Products are compared with float64 on the host, within the type's own precision."""

    def test_listed_dtypes_are_known(self, device: Device) -> None:
        """What a device computes and autocasts in, it stores; float32 is among them."""
        found = device.supported_dtypes()
        assert found.compute <= found.storage, f"not stored: {found.compute - found.storage}"
        assert found.autocast <= found.compute, f"not computed: {found.autocast - found.compute}"
        assert torch.float32 in found.compute, "float32 is not listed"
        assert found.storage <= frozenset(DTYPES), f"unknown: {found.storage - set(DTYPES)}"

    @on_two_devices
    def test_stored_dtypes_keep_their_values(self, device: Device) -> None:
        """A listed storage dtype allocates, converts, and brings its values back."""
        values = torch.tensor([0, 1, 1, 0, 1])
        for dtype in _sorted(device.supported_dtypes().storage):
            there = self.put(values.to(dtype), device)
            assert there.dtype == dtype, f"{dtype} became {there.dtype}"
            assert torch.equal(self.get(there), values.to(dtype)), f"{dtype} does not come back"
            converted = self.get(self.put(values.float(), device).to(dtype))
            assert torch.equal(converted, values.to(dtype)), f"float32 does not become {dtype}"

    @on_two_devices
    def test_compute_dtypes_multiply(self, device: Device) -> None:
        """A listed compute dtype multiplies matrices within its precision."""
        generator = torch.Generator().manual_seed(0)
        for dtype in _sorted(device.supported_dtypes().compute):
            # Integers get 0 to 2: the sums fit every type.
            scale = 1 if dtype.is_floating_point or dtype.is_complex else 3
            left, right = (
                (torch.rand(_ROWS, _ROWS, generator=generator) * scale).to(dtype) for _ in "lr"
            )
            try:
                found = self.get(self.put(left, device) @ self.put(right, device))
            except Exception as error:
                pytest.fail(f"{dtype} is listed, but a product raises {error}")
            exact = left.to(torch.complex128) @ right.to(torch.complex128)
            if not (dtype.is_floating_point or dtype.is_complex):
                same = torch.equal(found.to(torch.complex128), exact)
                assert same, f"{dtype}: a product is not exact"
                continue
            worst = ((found.to(torch.complex128) - exact).abs() / exact.abs()).max().item()
            # Sums of n positive products: Higham, "Accuracy and Stability", 2nd ed., section 3.1.
            allowed = self._precision(dtype, device) * _ROWS
            assert worst <= allowed, f"{dtype}: off by {worst:.2g} of the value, not {allowed:.2g}"

    def test_unlisted_dtypes_do_no_harm(self, device: Device) -> None:
        """An unlisted dtype may work or raise; the device computes rightly after it."""
        for dtype in _sorted(frozenset(DTYPES) - device.supported_dtypes().compute):
            with contextlib.suppress(Exception):
                there = self.put(torch.ones(_ROWS, _ROWS).to(dtype), device)
                self.get(there @ there)
            ones = self.put(torch.ones(4, 4), device)
            assert self.get(ones @ ones).tolist() == [[4.0] * 4] * 4, f"wrong after {dtype}"

    @requires("autocast")
    def test_autocast_dtypes_are_used(self, device: Device) -> None:
        """Under autocast a product of float32 matrices has the listed dtype."""
        ones = self.put(torch.ones(16, 16), device)
        for dtype in _sorted(device.supported_dtypes().autocast):
            with device.autocast(dtype):
                found = ones @ ones
            assert found.dtype == dtype, f"under autocast in {dtype} a product is {found.dtype}"
            assert (ones @ ones).dtype == torch.float32, "autocast goes on after its context"

    @requires("autocast")
    def test_other_autocast_dtypes_are_refused(self, device: Device) -> None:
        """Autocast in an unlisted dtype raises UsageError."""
        for dtype in _sorted(frozenset(DTYPES) - device.supported_dtypes().autocast):
            with pytest.raises(UsageError):
                device.autocast(dtype)

    @requires("float32_precision")
    def test_float32_precision_is_read_as_it_was_set(self, device: Device) -> None:
        """A float32 precision that was set is read back; an unknown one is refused."""
        before = device.float32_precision
        try:
            device.float32_precision = "ieee"
            assert device.float32_precision == "ieee", f"it is {device.float32_precision}"
            with pytest.raises(UsageError):
                device.float32_precision = "guess"
            assert device.float32_precision == "ieee", "a refused precision changes the setting"
        finally:
            device.float32_precision = before

    @requires("float32_precision")
    def test_ieee_precision_is_kept(self, device: Device) -> None:
        """With the precision "ieee" a product of float32 matrices has float32's precision."""
        generator = torch.Generator().manual_seed(0)
        left, right = (torch.rand(_ROWS, _ROWS, generator=generator) for _ in "lr")
        before = device.float32_precision
        device.float32_precision = "ieee"
        try:
            found = self.get(self.put(left, device) @ self.put(right, device))
        finally:
            device.float32_precision = before
        exact = left.double() @ right.double()
        worst = ((found.double() - exact).abs() / exact).max().item()
        allowed = torch.finfo(torch.float32).eps * _ROWS
        assert worst <= allowed, f"off by {worst:.2g} of the value, not {allowed:.2g}"

    def _precision(self, dtype: torch.dtype, device: Device) -> float:
        """Relative error of one rounding; TF32's 10 bits unless float32 is known to be IEEE."""
        known = device.supports("float32_precision") is not None
        if dtype is torch.float32 and not (known and device.float32_precision == "ieee"):
            return 2.0**-10
        return torch.finfo(dtype).eps


def _sorted(dtypes: frozenset[torch.dtype]) -> list[torch.dtype]:
    return sorted(dtypes, key=str)
