"""What a rule needs of the backend; where it is missing the rule is not applicable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import pytest

from accelhal.facts import ProbeStatus
from accelhal.host import Host
from accelhal.spi import BackendSpec
from accelhal.testing.pytest_plugin import MARKER

Target = TypeVar("Target", bound=Callable[..., Any])


def requires(*capabilities: str, devices: int = 1) -> Callable[[Target], Target]:
    """Decorates a rule, or all rules of a group, that need capabilities or several devices."""
    mark: pytest.MarkDecorator = getattr(pytest.mark, MARKER)(require=capabilities, devices=devices)

    def decorate(target: Target) -> Target:
        # A mark on a class would reach every group that a suite inherits beside it.
        rules = vars(target) if isinstance(target, type) else {target.__name__: target}
        for name, rule in rules.items():
            if name.startswith("test_"):
                mark(rule)
        return target

    return decorate


def on_two_devices(rule: Target) -> Target:
    """Decorates a rule about `device`: tried on the first one, and on the second if there is one.

    A runtime that answers for the first device, whichever is asked for, is found out there.
    """
    second = pytest.param(1, marks=getattr(pytest.mark, MARKER)(devices=2), id="second")
    first = pytest.param(0, id="first")
    decorate: Callable[[Target], Target] = pytest.mark.parametrize(
        "device", [first, second], indirect=True
    )
    return decorate(rule)


def not_applicable(reason: str) -> NoReturn:
    """End a rule that says nothing of this backend; the reason is shown in the table."""
    pytest.skip(reason)


def check_board_seen(spec: BackendSpec) -> None:
    """End a rule about what a probe says besides "no board", where that is all it can say here.

    A backend may open on such a host all the same: in a simulated stack, or a container.
    """
    if spec.probe(Host()).status is ProbeStatus.NO_HARDWARE:
        not_applicable("its probe sees no board on this host")
