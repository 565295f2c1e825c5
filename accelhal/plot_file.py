"""Whether a plot can be written, told before the work. Plots need the extra `plot`."""

from __future__ import annotations

import importlib
from pathlib import Path

from accelhal.errors import AccelhalError, UsageError


def check_plot_file(path: Path) -> None:
    """Find out before a long run whether its plot could be written.

    Raises:
        UsageError: the path cannot be written, or its ending is no image format.
        AccelhalError: matplotlib is not installed.
    """
    try:
        backend = importlib.import_module("matplotlib.backend_bases")
    except ImportError as error:
        raise AccelhalError(
            f"a plot needs matplotlib: {error}",
            operation="plot",
            hint="pip install 'accelhal[plot]'",
        ) from error
    formats = backend.FigureCanvasBase.get_supported_filetypes()
    if path.suffix[1:].lower() not in formats:
        raise _bad(path, "its name must end in an image format", f"such as {path.stem}.png")
    if path.is_dir():
        raise _bad(path, "it is a folder", "name a file")
    if not path.parent.is_dir():
        raise _bad(path, f"the folder {path.parent} does not exist", f"mkdir -p {path.parent}")
    existed = path.exists()
    if existed and not path.is_file():
        raise _bad(path, "it is no regular file", "name another file")
    try:
        path.open("ab").close()  # asking for rights is no answer: root has them where nothing fits
    except OSError as error:
        raise _bad(path, error.strerror or str(error), "choose another folder") from error
    if not existed:
        path.unlink()


def _bad(path: Path, reason: str, hint: str) -> UsageError:
    return UsageError(
        f"the plot cannot be written to {path}: {reason}", operation="plot", hint=hint
    )
