"""rich's Console with a broken pipe left to the command line's own handling."""

from __future__ import annotations

from rich.console import Console


class CommandConsole(Console):
    """A Console that raises BrokenPipeError, where rich would end the process with status 1."""

    def on_broken_pipe(self) -> None:
        """Called by rich inside the handler of the BrokenPipeError."""
        raise BrokenPipeError
