"""Inputs written as text: "float32[8,128]", "input_ids=int64[1,128]"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accelhal.errors import UsageError, described, did_you_mean

if TYPE_CHECKING:
    import torch

DTYPES = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
"""Element types that an input may have, by torch's names."""

MAX_ELEMENTS = 2**40
"""Elements that an input may have: more is a slip of the keyboard."""

_FORM = re.compile(
    r"(?:(?P<name>[A-Za-z_]\w*)=)?(?P<dtype>\w+)\[(?P<shape>\s*(?:\d+\s*(?:,\s*\d+\s*)*)?)\]",
    re.ASCII,
)

_HINT = "write float32[8,128], or name=int64[1,128] for an argument by name"


@dataclass(frozen=True)
class InputSpec:
    """One input: its element type and shape, and its name where it is passed by name."""

    dtype: str
    shape: tuple[int, ...]
    name: str | None = None

    def __str__(self) -> str:
        prefix = "" if self.name is None else f"{self.name}="
        return f"{prefix}{self.dtype}[{','.join(map(str, self.shape))}]"


def parse_input(text: str) -> InputSpec:
    """Read one input.

    Raises:
        UsageError: it has another form, an unknown element type, or a size without sense.
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not an input", operation="input", hint=_HINT)
    dtype = match["dtype"]
    if dtype not in DTYPES:
        raise UsageError(
            f"{text!r}: {dtype!r} is not an element type",
            operation="input",
            hint=f"{did_you_mean(dtype, DTYPES)}one of: {', '.join(DTYPES)}",
        )
    digits = match["shape"].split(",") if match["shape"].strip() else []
    elements, shape = 1, []
    for part in digits:
        # Python refuses to read integers of more than 4300 digits.
        size = int(part) if len(part.strip()) <= 13 else MAX_ELEMENTS + 1
        shape.append(size)
        elements *= max(size, 1)
        if elements > MAX_ELEMENTS:
            raise UsageError(
                f"{text[:80]!r} has more than {MAX_ELEMENTS} elements", operation="input"
            )
    return InputSpec(dtype, tuple(shape), match["name"])


def make_input(spec: InputSpec) -> torch.Tensor:
    """A tensor on the host: random for floating point, ones for integers and booleans.

    Ones are indices that any vocabulary or number of classes of two or more has.

    Raises:
        UsageError: torch cannot make it; the host has not so much memory.
    """
    import torch

    dtype: torch.dtype = getattr(torch, spec.dtype)
    try:
        if dtype.is_floating_point or dtype.is_complex:
            return torch.randn(spec.shape, dtype=dtype)
        return torch.ones(spec.shape, dtype=dtype)
    except (RuntimeError, MemoryError) as error:
        raise UsageError(
            f"{spec} cannot be made: {described(error)}",
            operation="check-model",
            hint="--trace fake needs no memory for it",
        ) from error
