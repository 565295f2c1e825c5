"""What the doctor says of the engine itself."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

TEXTS: Mapping[str, Text] = {
    "engine.because": Text(
        "{device} not judged: {because} went wrong first",
        several="{devices} not judged: a lower layer went wrong first",
    ),
    "engine.needs_option": Text("not run without {option}"),
    "engine.not_seen": Text("cannot be told here: {what}: {reason}"),
    "engine.not_shown": Text("the evidence does not show {what}"),
    "engine.nothing": Text("nothing here to judge"),
    "engine.crashed": Text(
        "the check itself failed: {error}: {message}",
        "This is an error in the check, not in the host; please report it.",
    ),
}
