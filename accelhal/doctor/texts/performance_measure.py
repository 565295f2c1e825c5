"""What the doctor says of measured boards."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

_SIBLING = "Boards of one model on one host differ by a few percent. Seen while it ran: {limits}."

TEXTS: Mapping[str, Text] = {
    "measure.no_board": Text("no board to measure"),
    "measure.fine": Text(
        "{device}: {figures}",
        several="{devices} do what their models and siblings do",
    ),
    "measure.slow_sibling": Text(
        "{device}: {figure} at {percent} of its siblings: {value}, they do {reference}{more}",
        _SIBLING,
        "about {reference}, as its siblings",
    ),
    "measure.slow_model": Text(
        "{device}: {figure} at {percent} of what its model should do: {value} of {reference}{more}",
        "Seen while it ran: {limits}.",
        "at least 80 % of {reference}",
    ),
    "measure.below_model": Text(
        "{device}: {figure} at {percent} of the published {reference}{more}",
        "Seen while it ran: {limits}. Published peaks are those of the highest clock; at its power "
        "limit a large board stays below.",
    ),
    "measure.in_use": Text(
        "{device} not measured: {detail}",
        several="{devices} not measured: they are in use",
    ),
    "measure.hidden": Text(
        "{device} not measured: this process may not use it, or torch does not tell which of its "
        "devices it is",
        several="{devices} not measured: this process may not use them",
    ),
    "measure.no_torch": Text("no board measured: torch is not installed"),
    "measure.not_opened": Text(
        "{device} not measured: the step {step!r} failed: {detail}",
        several="{devices} not measured: torch or the backend did not load",
    ),
    "measure.no_figures": Text("{device} has no figures: {detail}"),
    "measure.failed": Text(
        "{device} failed in the step {step!r}: {detail}",
        "A matrix product or a copy did not go through, so no job will.",
        "products and copies that end",
    ),
    "measure.hung": Text(
        "{device} did not end the step {step!r}: {detail}",
        "The board, its driver or torch hangs; the process was ended.",
        "an end within seconds",
    ),
    "copies.fine": Text(
        "{device}: {figures}",
        several="{devices} copy as their links and siblings do",
    ),
    "copies.slow_siblings": Text(
        "{device}: {figure} at {percent} of its siblings: {value}, they do {reference}{more}",
        _SIBLING,
        "about {reference}, as its siblings",
    ),
    "copies.slow_link": Text(
        "{device}: {figure} at {percent} of its link: {value} of {reference}{more}",
        "Seen while it ran: {limits}.",
        "75 % and more of the link",
    ),
    "copies.slow_pairs": Text(
        "{device}: {figure} at {percent} of other pairs just as near: {value}, they do "
        "{reference}{more}",
        "The link between the two is narrow, down or shared, or traffic is sent round by the root.",
        "about {reference}, as the other pairs",
    ),
}
