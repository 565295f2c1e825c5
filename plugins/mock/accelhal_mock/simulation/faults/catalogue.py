"""The closed list of faults, their fields, and the check of a fault that a user asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum

from accelhal.errors import UsageError, did_you_mean


class FaultKind(str, Enum):
    """What can go wrong with a board."""

    OOM = "oom"
    LOST = "lost"
    HANG = "hang"
    SLOW = "slow"
    WRONG_RESULT = "wrong_result"
    ECC_CORRECTED = "ecc_corrected"
    ECC_UNCORRECTED = "ecc_uncorrected"
    ROW_REMAP_PENDING = "row_remap_pending"
    THERMAL_THROTTLE = "thermal_throttle"
    POWER_CAP = "power_cap"
    LINK_DOWN = "link_down"
    PCIE_WIDTH_DROP = "pcie_width_drop"
    LIBRARY_MISSING = "library_missing"
    LIBRARY_BROKEN = "library_broken"
    PERMISSION_DENIED = "permission_denied"


_WIDEST_ELEMENT = 128
"""Bits of torch's widest element, complex128; a narrower one takes the bit modulo its own width."""


@dataclass(frozen=True)
class FaultTraits:
    """What is true of every fault of a kind.

    Attributes:
        summary: what the program sees.
        sticky: whether it stays, once it has struck, until it is cleared.
        counts: what `after` and `operations` count.
        fields: fields beside the common ones.
        scheduled: False where it stands for the whole machine from the start, and takes no field.
    """

    summary: str
    sticky: bool = False
    counts: str = "launches"
    fields: tuple[str, ...] = ()
    scheduled: bool = True


CATALOGUE: Mapping[FaultKind, FaultTraits] = {
    FaultKind.OOM: FaultTraits("an allocation is refused, whatever is free", counts="allocations"),
    FaultKind.LOST: FaultTraits("every call on the board fails: it fell off the bus", sticky=True),
    FaultKind.HANG: FaultTraits(
        "a launch never ends; waits fail after the watchdog's limit", sticky=True
    ),
    FaultKind.SLOW: FaultTraits("work takes `factor` times as long", fields=("factor",)),
    FaultKind.WRONG_RESULT: FaultTraits("one bit of a result is flipped", fields=("bit",)),
    FaultKind.ECC_CORRECTED: FaultTraits("health counts corrected memory errors"),
    FaultKind.ECC_UNCORRECTED: FaultTraits(
        "the call after the launch fails, and every later one", sticky=True
    ),
    FaultKind.ROW_REMAP_PENDING: FaultTraits("health asks for a reset to remap memory rows"),
    FaultKind.THERMAL_THROTTLE: FaultTraits(
        "hot: work takes `factor` times as long, sensors say why", fields=("factor",)
    ),
    FaultKind.POWER_CAP: FaultTraits(
        "at its power limit: work takes `factor` times as long, sensors say why",
        fields=("factor",),
    ),
    FaultKind.LINK_DOWN: FaultTraits(
        "copies to `peer` (any board when unset) over the link fail", fields=("peer",)
    ),
    FaultKind.PCIE_WIDTH_DROP: FaultTraits(
        "the host connection has `lanes` lanes: copies take longer", fields=("lanes",)
    ),
    FaultKind.LIBRARY_MISSING: FaultTraits("the driver library is not there", scheduled=False),
    FaultKind.LIBRARY_BROKEN: FaultTraits("the driver library does not load", scheduled=False),
    FaultKind.PERMISSION_DENIED: FaultTraits("the driver refuses this user", scheduled=False),
}

COMMON_FIELDS = ("after", "operations", "seconds", "probability", "seed")

DEFAULT_FACTOR = 2.0
"""Slowdown where `factor` is not given."""

DEFAULT_LANES = 1


@dataclass(frozen=True)
class Fault:
    """A fault to inject, and when it strikes.

    Attributes:
        kind: what goes wrong.
        device: index of the board; of no meaning for faults of the driver library.
        after: operations (launches; allocations for oom) that still go well.
        operations: how many operations it then lasts; None for no limit.
        seconds: how long it then lasts on the machine's clock; None for no limit.
        probability: chance of striking at each operation, 0 to 1; None for certainty.
        seed: makes the chances, and wrong bits, reproducible.
        factor: how many times as long work takes.
        bit: bit to flip, from the least significant; None for any.
        lanes: PCIe lanes left.
        peer: board at the other end of the broken link; None for all.
    """

    kind: FaultKind
    device: int = 0
    after: int = 0
    operations: int | None = None
    seconds: float | None = None
    probability: float | None = None
    seed: int = 0
    factor: float = DEFAULT_FACTOR
    bit: int | None = None
    lanes: int = DEFAULT_LANES
    peer: int | None = None

    def __post_init__(self) -> None:
        _check(self.device >= 0, "device", "a board's index", self.device)
        _check(self.after >= 0, "after", "0 or more operations", self.after)
        _check(
            self.operations is None or self.operations > 0,
            "operations",
            "1 or more",
            self.operations,
        )
        _check(self.seconds is None or self.seconds > 0, "seconds", "more than 0", self.seconds)
        _check(
            self.probability is None or 0 <= self.probability <= 1,
            "probability",
            "from 0 to 1",
            self.probability,
        )
        _check(1 <= self.factor < math.inf, "factor", "1 or more", self.factor)
        _check(self.bit is None or 0 <= self.bit < _WIDEST_ELEMENT, "bit", "0 to 127", self.bit)
        _check(self.lanes in (1, 2, 4, 8), "lanes", "1, 2, 4 or 8", self.lanes)

    @property
    def traits(self) -> FaultTraits:
        """What is true of its kind."""
        return CATALOGUE[self.kind]


def make_fault(kind: str | FaultKind, device: int = 0, **settings: object) -> Fault:
    """A checked fault.

    Args:
        kind: name of the fault ("lost").
        device: index of the board.
        **settings: fields of `Fault`.

    Raises:
        UsageError: no such fault, no such field, or a value out of range; the field is named.
    """
    found = _kind(kind)
    traits = CATALOGUE[found]
    allowed = (*COMMON_FIELDS, *traits.fields) if traits.scheduled else ()
    for name in settings:
        if name not in allowed:
            raise _no_field(found, name, allowed)
    if traits.sticky:
        for name in ("operations", "seconds"):
            if settings.get(name) is not None:
                raise UsageError(
                    f"fault {found.value!r} stays until it is cleared: field {name!r} "
                    "cannot limit it",
                    operation="inject",
                    hint=f"drop {name!r}, and call accelhal_mock.clear() to end the fault",
                )
    values = {name: _number(name, value) for name, value in settings.items()}
    return Fault(found, int(_number("device", device) or 0), **values)  # type: ignore[arg-type]


_FIELD_TYPES = {field.name: str(field.type) for field in fields(Fault)}


def _number(name: str, value: object) -> int | float | None:
    """A field's value: an integer, or a fraction where the field takes one."""
    wanted = _FIELD_TYPES[name]
    if value is None and "None" in wanted:
        return None
    fraction = "float" in wanted
    if isinstance(value, str):
        try:
            value = float(value) if fraction else int(value)
        except ValueError:
            value = None
    right = isinstance(value, (int, float) if fraction else int) and not isinstance(value, bool)
    if not right or (isinstance(value, float) and not math.isfinite(value)):
        raise UsageError(
            f"fault field {name!r} takes {'a number' if fraction else 'an integer'}",
            operation="inject",
            hint=f"{name}={'0.5' if fraction else '1'}, for example",
        )
    assert isinstance(value, (int, float))
    return value


def _kind(name: str | FaultKind) -> FaultKind:
    try:
        return FaultKind(name)
    except ValueError:
        known = [kind.value for kind in FaultKind]
        did = did_you_mean(str(name), known)
        raise UsageError(
            f"there is no fault {name!r}",
            operation="inject",
            hint=f"{did}known: {', '.join(known)}",
        ) from None


def _no_field(kind: FaultKind, name: str, allowed: tuple[str, ...]) -> UsageError:
    did = did_you_mean(name, allowed)
    takes = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
    return UsageError(
        f"fault {kind.value!r} has no field {name!r}", operation="inject", hint=f"{did}{takes}"
    )


def _check(good: bool, name: str, wanted: str, value: object) -> None:
    if not good:
        raise UsageError(
            f"fault field {name!r} must be {wanted}, not {value!r}",
            operation="inject",
            hint=f"give {name!r} a value in that range",
        )
