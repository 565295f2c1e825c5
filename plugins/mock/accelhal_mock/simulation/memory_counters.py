"""Counters of a board's allocator, given out under the names of torch's memory_stats()."""

from __future__ import annotations

from collections.abc import Iterator


class Tally:
    """A number of blocks, their bytes, and the bytes asked for: present, highest, and ever added.

    Plain attributes: each allocation and each free goes through here.
    """

    __slots__ = (
        "blocks",
        "blocks_added",
        "blocks_peak",
        "nbytes",
        "nbytes_added",
        "nbytes_peak",
        "requested",
        "requested_added",
        "requested_peak",
        "settled_blocks",
        "settled_nbytes",
        "settled_requested",
    )

    def __init__(self) -> None:
        self.blocks = self.blocks_peak = self.blocks_added = self.settled_blocks = 0
        self.nbytes = self.nbytes_peak = self.nbytes_added = self.settled_nbytes = 0
        self.requested = self.requested_peak = self.requested_added = self.settled_requested = 0

    def add(self, nbytes: int, requested: int = 0) -> None:
        """Count one block more."""
        self.blocks = blocks = self.blocks + 1
        self.nbytes = total = self.nbytes + nbytes
        self.requested = asked = self.requested + requested
        self.blocks_added += 1
        self.nbytes_added += nbytes
        self.requested_added += requested
        if blocks > self.blocks_peak:
            self.blocks_peak = blocks
        if total > self.nbytes_peak:
            self.nbytes_peak = total
        if asked > self.requested_peak:
            self.requested_peak = asked

    def remove(self, nbytes: int, requested: int = 0) -> None:
        """Count one block less."""
        self.blocks -= 1
        self.nbytes -= nbytes
        self.requested -= requested

    def change(self, blocks: int, nbytes: int) -> None:
        """Count `blocks` and `nbytes` more, or less where they are negative."""
        self.blocks = count = self.blocks + blocks
        self.nbytes = total = self.nbytes + nbytes
        if blocks > 0:
            self.blocks_added += blocks
            if count > self.blocks_peak:
                self.blocks_peak = count
        if nbytes > 0:
            self.nbytes_added += nbytes
            if total > self.nbytes_peak:
                self.nbytes_peak = total

    def reset_peaks(self) -> None:
        """Lower the peaks to the present figures."""
        self.blocks_peak = self.blocks
        self.nbytes_peak = self.nbytes
        self.requested_peak = self.requested

    def reset_accumulated(self) -> None:
        """Count what is added and freed from here."""
        self.blocks_added = self.nbytes_added = self.requested_added = 0
        self.settled_blocks = self.blocks
        self.settled_nbytes = self.nbytes
        self.settled_requested = self.requested

    def figures(self, attribute: str) -> tuple[int, int, int, int]:
        """(present, peak, ever added, ever freed) of "blocks", "nbytes" or "requested"."""
        present: int = getattr(self, attribute)
        peak: int = getattr(self, f"{attribute}_peak")
        added: int = getattr(self, f"{attribute}_added")
        settled: int = getattr(self, f"settled_{attribute}")
        return present, peak, added, added + settled - present


class PoolCounters:
    """The tallies of one pool of blocks, or of all of them.

    Attributes:
        allocated: blocks that allocations hold.
        held: freed blocks that wait for the streams they were recorded on.
        split: free blocks that share their segment with others; the driver cannot take them back.
        reserved: segments held from the driver.
    """

    __slots__ = (
        "_active_blocks_peak",
        "_active_nbytes_peak",
        "allocated",
        "held",
        "reserved",
        "split",
    )

    def __init__(self) -> None:
        self.allocated = Tally()
        self.held = Tally()
        self.split = Tally()
        self.reserved = Tally()
        self._active_blocks_peak = self._active_nbytes_peak = 0

    def note_active(self) -> None:
        """Note the peak of what is allocated or held; needed only while something is held."""
        self._active_blocks_peak = max(
            self._active_blocks_peak, self.allocated.blocks + self.held.blocks
        )
        self._active_nbytes_peak = max(
            self._active_nbytes_peak, self.allocated.nbytes + self.held.nbytes
        )

    def active_figures(self, attribute: str) -> tuple[int, int, int, int]:
        """As Tally.figures, of the blocks that are allocated or held."""
        present, peak, added, freed = self.allocated.figures(attribute)
        held: int = getattr(self.held, attribute)
        noted: int = getattr(self, f"_active_{attribute}_peak")
        return present + held, max(peak, noted), added, freed - held

    def reset_peaks(self) -> None:
        """Lower the peaks to the present figures."""
        for tally in (self.allocated, self.held, self.split, self.reserved):
            tally.reset_peaks()
        self._active_blocks_peak = self._active_nbytes_peak = 0
        self.note_active()

    def reset_accumulated(self) -> None:
        """Count what is added and freed from here."""
        for tally in (self.allocated, self.held, self.split, self.reserved):
            tally.reset_accumulated()

    def statistics(self, pool: str) -> Iterator[tuple[str, int]]:
        """The figures as torch names them ("allocated_bytes.all.current")."""
        for name, figures in (
            ("allocation", self.allocated.figures("blocks")),
            ("allocated_bytes", self.allocated.figures("nbytes")),
            ("requested_bytes", self.allocated.figures("requested")),
            ("active", self.active_figures("blocks")),
            ("active_bytes", self.active_figures("nbytes")),
            ("inactive_split", self.split.figures("blocks")),
            ("inactive_split_bytes", self.split.figures("nbytes")),
            ("segment", self.reserved.figures("blocks")),
            ("reserved_bytes", self.reserved.figures("nbytes")),
        ):
            for kind, figure in zip(_KINDS, figures, strict=True):
                yield f"{name}.{pool}.{kind}", figure


_KINDS = ("current", "peak", "allocated", "freed")
