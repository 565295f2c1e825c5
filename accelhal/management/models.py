"""The model of a board: what its vendor publishes of boards with that name."""

from __future__ import annotations

from collections.abc import Sequence

from accelhal.facts import BoardInfo
from accelhal.facts.models import BoardModel
from accelhal.registry import backends
from accelhal.registry.extensions import load_extension
from accelhal.spi.board_models import BoardModels

_LEAST_REPORTED = 0.8
"""Of a board's nominal memory, what drivers report at least; the least of those seen is 0.88."""


def board_model(board: BoardInfo) -> BoardModel | None:
    """The model whose name the board has, or None where its plugin knows none.

    Names are compared whole. Of models that share a name, it is one that has the board's memory a
    chip, and of these the one with fewest chips; None where that memory is not known.

    Raises:
        BackendLoadError: the plugin's table is broken.
    """
    for backend in backends():
        if backend.name == board.backend and backend.spec is not None:
            known = load_extension(backend.spec, "board_models", BoardModels)
            return None if known is None else matching(known.read(), board)
    return None


def matching(models: Sequence[BoardModel], board: BoardInfo) -> BoardModel | None:
    """The model among these that the board is."""
    named = [model for model in models if board.name in model.names]
    if len(named) > 1:
        named = [model for model in named if _has_memory(model, board.total_memory)]
    return min(named, key=lambda model: model.chips, default=None)


def _has_memory(model: BoardModel, total: int | None) -> bool:
    if model.memory is None or total is None:
        return False
    return _LEAST_REPORTED <= total * model.chips / model.memory <= 1
