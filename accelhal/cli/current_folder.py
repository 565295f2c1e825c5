"""The folder that a command runs in, for commands that import torch."""

from __future__ import annotations

import os

from accelhal.errors import AccelhalError


def current_folder(command: str) -> str:
    """Its path; raises AccelhalError where it was deleted: a library under torch would end us."""
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise AccelhalError(
            "the current folder does not exist any more", operation=command, hint="cd to another"
        ) from error
