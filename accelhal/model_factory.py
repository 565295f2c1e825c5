"""A model of the user's, written "package.module:factory": importing and calling what it names."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, cast

from accelhal.errors import UsageError, described


def is_factory_name(text: str) -> bool:
    """Whether a text has the form "package.module:factory"; nothing is imported."""
    module, colon, attribute = text.partition(":")
    return bool(colon) and all(part.isidentifier() for part in f"{module}.{attribute}".split("."))


def import_factory(name: str, path: str, *, operation: str, contract: str) -> Callable[[], Any]:
    """What `path` names.

    Args:
        name: what the user wrote, for messages.
        path: "package.module:factory".
        operation: the operation that errors name.
        contract: what a factory must do, the hint of errors.

    Raises:
        UsageError: its module does not import, lacks it, or it cannot be called.
    """
    module_name, _, attribute = path.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # a script without a main guard may exit
        absent = error.name if isinstance(error, ModuleNotFoundError) else None
        ours = absent is not None and f"{module_name}.".startswith(f"{absent}.")
        raise UsageError(
            f"{name}: importing {module_name} raised {described(error)}",
            operation=operation,
            hint="run from the folder that holds it, or install it" if ours else None,
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UsageError(
                f"{name}: {module_name} has no attribute {attribute!r}",
                operation=operation,
                hint="write package.module:factory",
            )
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(
            f"{name} is {described_value(found)}, not a function",
            operation=operation,
            hint=contract,
        )
    return cast("Callable[[], Any]", found)


def call_user(
    what: str, function: Callable[..., Any], *args: object, operation: str, contract: str
) -> Any:
    """Call the user's function.

    Raises:
        UsageError: it raised; the message begins with `what`.
    """
    try:
        return function(*args)
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"{what} raised {described(error)}", operation=operation, hint=contract
        ) from error


def described_value(value: object) -> str:
    """A value by its type, as a message needs it."""
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return "None" if value is None else f"<{type(value).__name__}>"
