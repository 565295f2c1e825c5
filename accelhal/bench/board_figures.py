"""Measuring one board for a second or two: matrix products, and copies within, in and out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from accelhal.bench.clock import Clock, Step, clock_for
from accelhal.bench.timing import time_steps
from accelhal.device_name import DeviceName
from accelhal.errors import described
from accelhal.facts import BoardKey, PcieLink
from accelhal.facts.measured import BoardFigures
from accelhal.management.planes import open_management
from accelhal.registry import find_spec

if TYPE_CHECKING:
    import torch

    from accelhal.facade import Device

SECONDS = 0.25
"""For one figure."""

HALF_TYPES = ("bfloat16", "float16")
"""Element types of two bytes, the preferred first: one of them is measured beside float32."""

MEMORY_SHARE = 8
"""A measurement takes at most this fraction of the board's memory."""

_SIDES = (256, 8192)
"""Smallest and largest side of the matrices: models' layers lie between."""

_COPY_BYTES = (16 << 20, 128 << 20)
"""Smallest and largest copy between memories; from 16 MiB on the launch no longer counts."""

_INNER_BYTES = (16 << 20, 512 << 20)
"""The same within a board: more than its caches hold."""

_LAUNCH_COUNTS_S = 5e-5
"""Of a step that takes less on the board, the launch (3 to 10 µs) is a part that shows."""

_ENOUGH_S = 0.01
"""A step that keeps the host waiting so long is not made larger, once the launch no longer shows:
the host's time alone says little where the board is simulated or the host busy."""

_TOO_LONG_S = 1.0
"""A step that keeps the host waiting so long is never made larger."""


def measure_board(
    device: Device,
    peers: Mapping[BoardKey, Device],
    *,
    seconds: float = SECONDS,
    on_step: Callable[[str], None] = lambda step: None,
) -> BoardFigures:
    """Measure a device that nobody else uses; what cannot be measured is left out with its reason.

    Args:
        device: the device.
        peers: others to copy to.
        seconds: for each figure.
        on_step: told of each step before it begins.

    Raises:
        Exception: what the product in float32 raises: a board without it is not in order.
    """
    import torch

    look = _Look(device, clock_for(device), seconds, on_step)
    with device, torch.inference_mode():
        look.product("float32")
        half = next((name for name in HALF_TYPES if look.multiplies(name)), None)
        if half is not None:
            look.attempt("product", look.product, half)
        look.attempt("copy within the board", look.inner_copy)
        for kind in ("pinned", "pageable"):
            look.attempt(f"{kind} copies", look.host_copies, kind)
        for key, peer in peers.items():
            look.attempt(f"copy to {peer}", look.peer_copy, key, peer)
    return BoardFigures(
        products=look.products,
        memory=look.memory,
        to_board=look.to_board,
        from_board=look.from_board,
        peers=look.peers,
        telemetry=look.telemetry,
        pcie=look.pcie,
        clock=look.clock.name,
        short=tuple(look.short),
        reasons=look.reasons,
    )


class _Look:
    """The measurements of one device, as they are made."""

    def __init__(
        self, device: Device, clock: Clock, seconds: float, on_step: Callable[[str], None]
    ) -> None:
        self.device = device
        self.clock = clock
        self.products: dict[str, float] = {}
        self.memory: float | None = None
        self.to_board: dict[str, float] = {}
        self.from_board: dict[str, float] = {}
        self.peers: dict[BoardKey, float] = {}
        self.telemetry = device.telemetry()
        self.pcie: PcieLink | None = None
        self.short: list[str] = []
        self.reasons: dict[str, str] = {}
        self._seconds = seconds
        self._on_step = on_step
        self._room = _total(device) // MEMORY_SHARE

    def attempt(self, what: str, measure: Callable[..., None], *arguments: object) -> None:
        """Measure; what it raises is the reason why the figure is missing."""
        try:
            measure(*arguments)
        except Exception as error:  # torch and its vendors raise what they like
            if self.device.classify_error(error).sticky:
                raise
            self.reasons[what] = described(error)

    def multiplies(self, dtype: str) -> bool:
        """Whether the device multiplies this element type."""
        import torch

        return getattr(torch, dtype) in self.device.supported_dtypes().compute

    def product(self, dtype: str) -> None:
        """A square matrix product, and the sensors while it runs."""
        import torch

        self._on_step(f"matrix product in {dtype}")
        element: torch.dtype = getattr(torch, dtype)

        def multiply(side: int) -> Step:
            left, right = (
                torch.ones(side, side, dtype=element, device=self.device.torch_device)
                for _ in range(2)
            )
            out = torch.empty_like(left)
            return lambda: torch.mm(left, right, out=out)

        side, step, taken = self._grown(_SIDES, multiply, 3 * element.itemsize, squared=True)
        self.products[dtype] = 2.0 * side**3 * self._per_second(step, dtype)
        self._submit(step, taken)
        self.telemetry = self.device.telemetry()
        self.device.synchronize()

    def inner_copy(self) -> None:
        """A copy from one place of the board's memory to another."""
        self._on_step("copy within the board")

        def copy(nbytes: int) -> Step:
            source, target = self._bytes(nbytes), self._bytes(nbytes)
            return lambda: target.copy_(source)

        nbytes, step, _ = self._grown(_INNER_BYTES, copy, 2)
        self.memory = 2.0 * nbytes * self._per_second(step, "memory")

    def host_copies(self, kind: str) -> None:
        """Copies from host memory and to it, and the link while they run."""
        self._on_step(f"copies from and to {kind} host memory")

        def memory(nbytes: int) -> torch.Tensor:
            import torch

            host = torch.zeros(nbytes, dtype=torch.uint8)
            return self.device.pin_memory(host) if kind == "pinned" else host

        def to_board(nbytes: int) -> Step:
            source, target = memory(nbytes), self._bytes(nbytes)
            return lambda: target.copy_(source, non_blocking=True)

        def from_board(nbytes: int) -> Step:
            source, target = self._bytes(nbytes), memory(nbytes)
            return lambda: target.copy_(source, non_blocking=True)

        nbytes, step, taken = self._grown(_COPY_BYTES, to_board, 1)
        self.to_board[kind] = nbytes * self._per_second(step)
        if kind == "pinned" or self.pcie is None:
            self._submit(step, taken)
            self.pcie = _pcie(self.device)
            self.device.synchronize()
        self.from_board[kind] = nbytes * self._per_second(from_board(nbytes))

    def peer_copy(self, key: BoardKey, peer: Device) -> None:
        """A copy to another device."""
        self._on_step(f"copy to {peer}")

        def copy(nbytes: int) -> Step:
            source = self._bytes(nbytes)
            target = source.new_empty(source.shape, device=peer.torch_device)
            return lambda: target.copy_(source, non_blocking=True)

        nbytes, step, _ = self._grown(_COPY_BYTES, copy, 1)
        self.peers[key] = nbytes * self._per_second(step)

    def _grown(
        self,
        sizes: tuple[int, int],
        make: Callable[[int], Step],
        unit_bytes: int,
        *,
        squared: bool = False,
    ) -> tuple[int, Step, float]:
        """The largest step neither too long nor too large; its size and the host's seconds."""
        size, largest = sizes
        while True:
            step = make(size)
            step()  # the first call chooses kernels
            self.device.synchronize()
            began = time.perf_counter()
            on_board = self.clock.time(step) / 1e3
            taken = time.perf_counter() - began
            enough = _ENOUGH_S if on_board > _LAUNCH_COUNTS_S else _TOO_LONG_S
            needs = unit_bytes * (4 * size * size if squared else 2 * size)
            if taken > enough or 2 * size > largest or needs > self._room:
                return size, step, taken
            size *= 2

    def _per_second(self, step: Step, figure: str = "") -> float:
        rate = time_steps(step, self.clock, self._seconds).batches_per_s
        if figure and 1 / rate < _LAUNCH_COUNTS_S:
            self.short.append(figure)
        return rate

    def _submit(self, step: Step, taken: float) -> None:
        """Work for as long as a figure takes, without waiting for it."""
        for _ in range(max(1, math.ceil(self._seconds / max(taken, 1e-6)))):
            step()

    def _bytes(self, nbytes: int) -> torch.Tensor:
        import torch

        return torch.zeros(nbytes, dtype=torch.uint8, device=self.device.torch_device)


def visible_boards(backend: str, keys: Sequence[BoardKey]) -> dict[BoardKey, Device]:
    """The boards with these keys that this process may use -> the device on each."""
    from accelhal.facade import devices

    found: dict[BoardKey, Device] = {}
    for device in devices(backend):
        board: Any = device.board
        if board is not None and board.key in keys:
            found[board.key] = device
    return found


def _total(device: Device) -> int:
    total = device.properties.total_memory
    if total is None and device.supports("memory_info"):
        total = device.mem_get_info()[1]
    return total if total is not None else MEMORY_SHARE * _INNER_BYTES[1]


def _pcie(device: Device) -> PcieLink | None:
    """Its link now; None where no driver library tells."""
    board = device.board
    if board is None or board.key is None:
        return None
    try:
        return open_management(find_spec(DeviceName(device.backend, None, None))).pcie(board.key)
    except Exception as error:  # a driver library and its wrapper raise what they like
        return PcieLink(reasons={"*": described(error)})
