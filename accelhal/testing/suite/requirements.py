"""What a rule needs of the backend; where it is missing the rule is not applicable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import pytest

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


def not_applicable(reason: str) -> NoReturn:
    """End a rule that says nothing of this backend; the reason is shown in the table."""
    pytest.skip(reason)
