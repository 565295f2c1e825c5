"""Nominal figures of Cambricon's boards, with their sources: board_models.json."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from accelhal.spi.board_models import BoardModels, read_board_models

MODELS = BoardModels(partial(read_board_models, Path(__file__).with_suffix(".json")))
