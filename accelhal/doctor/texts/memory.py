"""What the doctor says of memory that ran out."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

_REFUSED = "{place} refused {request}: {free} free, {unused} held unused by torch"

TEXTS: Mapping[str, Text] = {
    "fragment.split": Text(
        _REFUSED,
        "Together they would do. What torch holds lies in pieces of segments that are partly used, "
        "so none of them is large enough, and it cannot be given back.",
        "segments that grow, or smaller requests (tiles, batches)",
    ),
    "fragment.cached": Text(
        _REFUSED,
        "A large part of the {total} is held for reuse and fits nothing: sizes vary from step to "
        "step.",
        "less than 30 % held unused",
    ),
    "fragment.held": Text(
        "{device}: torch holds {unused} of {total} unused, {split} of it in pieces",
        "Sizes vary from step to step; a large request may be refused although memory is free.",
        "less than 30 % held unused",
    ),
    "fragment.little": Text("{device}: torch holds {unused} of {total} unused"),
    "fragment.not_counted": Text("{device} does not count this process's memory"),
    "oom.capped": Text(
        "{place} refused {request} although {free} are free: the process may take {allowed}",
        "The process has set itself a cap (set_per_process_memory_fraction).",
        "a cap above what the job needs, or none",
    ),
    "oom.others": Text(
        "{place} refused {request}: {free} free of {total}, other processes hold {others}",
        "The board is shared with other processes; without them the request would have been met.",
        "a board of its own, or a request that fits beside them",
    ),
    "oom.window": Text(
        "{place} refused {request}: the process sees {total}, less than the board has",
        "It runs on a slice of the board, or a sharing layer shows it a window.",
        "a larger slice, or a smaller batch",
    ),
    "oom.full": Text(
        "{place} refused {request}: {free} free of {total}, {allocated} in its tensors",
        "The model and its batch need more than there is.",
        "a smaller batch, lower precision, or more boards",
    ),
}
