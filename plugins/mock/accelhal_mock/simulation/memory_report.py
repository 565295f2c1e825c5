"""What torch says of a board's memory: the out-of-memory text, and the snapshot of segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accelhal_mock.simulation.memory_blocks import GIB, KIB, MIB, Block


@dataclass(frozen=True)
class MemoryShortage:
    """The figures at the moment a request was refused, all in bytes.

    Attributes:
        device_type: what the boards are called ("mock").
        index: the board.
        wanted: what was asked of the driver.
        capacity: the board's memory.
        free: what no process holds.
        others: held by other processes, by process id.
        allowed: this process's cap, or None.
        allocated: held by tensors.
        reserved: held by the caching allocator.
    """

    device_type: str
    index: int
    wanted: int
    capacity: int
    free: int
    others: tuple[tuple[int, int], ...]
    allowed: int | None
    allocated: int
    reserved: int

    def __str__(self) -> str:
        """As CUDACachingAllocator writes it (torch 2.1 and later)."""
        others = "".join(
            f"Process {pid} has {format_size(used)} memory in use. " for pid, used in self.others
        )
        allowed = f"{format_size(self.allowed)} allowed; " if self.allowed is not None else ""
        variable = f"PYTORCH_{self.device_type.upper()}_ALLOC_CONF"
        return (
            f"{self.device_type.upper()} out of memory. "
            f"Tried to allocate {format_size(self.wanted)}. "
            f"GPU {self.index} has a total capacity of {format_size(self.capacity)} "
            f"of which {format_size(self.free)} is free. {others}"
            f"Including non-PyTorch memory, this process has {format_size(self.reserved)} memory "
            f"in use. {allowed}"
            f"Of the allocated memory {format_size(self.allocated)} is allocated by PyTorch, and "
            f"{format_size(self.reserved - self.allocated)} is reserved by PyTorch but "
            "unallocated. If reserved but unallocated memory is large try setting "
            f"{variable}=expandable_segments:True to avoid fragmentation.  See documentation for "
            "Memory Management"
        )


def format_size(nbytes: int) -> str:
    """Bytes as torch writes them ("20.00 MiB")."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if nbytes > unit:
            return f"{nbytes / unit:.2f} {name}"
    return f"{nbytes} bytes"


def describe_segment(device: int, size: int, head: Block) -> dict[str, Any]:
    """A segment and its blocks from `head` on, as torch's memory_snapshot() shows them."""
    blocks = []
    block: Block | None = head
    while block is not None:
        waiting = "active_pending_free" if block.waits else "active_allocated"
        blocks.append(
            {
                "address": block.address,
                "size": block.size,
                "requested_size": block.requested if block.used else 0,
                "state": waiting if block.used else "inactive",
            }
        )
        block = block.after
    active = [piece for piece in blocks if piece["state"] != "inactive"]
    allocated = [piece for piece in active if piece["state"] == "active_allocated"]
    return {
        "device": device,
        "address": head.address,
        "total_size": size,
        "allocated_size": sum(piece["size"] for piece in allocated),
        "active_size": sum(piece["size"] for piece in active),
        "requested_size": sum(piece["requested_size"] for piece in active),
        "stream": head.pool.stream.number,
        "segment_type": "small" if head.pool.small else "large",
        "blocks": blocks,
    }
