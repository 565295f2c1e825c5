"""What each rank tells the others before they make a group, and whether the ranks fit together."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from accelhal.errors import DistributedError


@dataclass(frozen=True)
class Introduction:
    """One rank, as it introduces itself.

    Attributes:
        rank: its number in the world.
        host: name of its host.
        device: its device ("mock:0").
        backend: backend of the device ("mock").
        library: the collective library for tensors of that device.
        board: the board under the device, in a name that is the same in every process of the
            host; empty where it cannot be told, and for a processor.
        whole: the board that `board` is a slice of, in the same form; empty where it is none.
    """

    rank: int
    host: str
    device: str
    backend: str
    library: str
    board: str = ""
    whole: str = ""

    def to_json(self) -> str:
        """As it travels."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> Introduction:
        """Read what another rank sent; fields that a newer release added are left out."""
        fields = json.loads(text)
        return cls(**{name: fields[name] for name in cls.__dataclass_fields__ if name in fields})


def check_fit(ranks: Sequence[Introduction]) -> None:
    """Refuse ranks that no collective library can serve.

    Raises:
        DistributedError: their backends differ, two of them are on one board, or they are on
            slices of one board.
    """
    by_backend = _grouped(ranks, lambda rank: (rank.backend, rank.library))
    if len(by_backend) > 1:
        raise _misfit(
            "; ".join(
                f"{named(members)} on {backend} ({library})"
                for (backend, library), members in by_backend.items()
            )
            + ": collective libraries of different vendors do not talk to one another",
            "one group for each vendor. Between vendors split the batch instead, or let all ranks "
            'compute on processors: init("cpu")',
        )
    on_boards = [rank for rank in ranks if rank.board]
    for members in _grouped(on_boards, lambda rank: (rank.host, rank.board)).values():
        if len(members) > 1:
            raise _misfit(
                f"{named(members)} are on one board of {members[0].host}: {members[0].board}",
                "give each rank a board of its own; `accelhal launch` does, and "
                "`accelhal devices` shows how many there are",
            )
    wholes = _grouped(on_boards, lambda rank: (rank.host, rank.whole or rank.board))
    for (host, whole), members in wholes.items():
        if len(members) > 1:
            raise _misfit(
                f"{named(members)} are on slices of one board of {host}: {whole}. Slices do not "
                "reach one another as boards do, and collective libraries refuse them or hang",
                "use slices for independent processes, or one rank on the whole board",
            )


def named(ranks: Iterable[Introduction]) -> str:
    """The ranks in words: "ranks 0-2, 5"."""
    return rank_list(rank.rank for rank in ranks)


def rank_list(numbers: Iterable[int]) -> str:
    """Numbers of ranks in words: "rank 3", "ranks 0-2, 5"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    alone = len(runs) == 1 and len(runs[0]) == 1
    return f"rank{'' if alone else 's'} {', '.join(texts)}"


def _grouped(
    ranks: Iterable[Introduction], key: Callable[[Introduction], tuple[str, str]]
) -> dict[tuple[str, str], list[Introduction]]:
    groups: dict[tuple[str, str], list[Introduction]] = {}
    for rank in ranks:
        groups.setdefault(key(rank), []).append(rank)
    return groups


def _misfit(message: str, hint: str) -> DistributedError:
    return DistributedError(message, operation="distributed.init", hint=hint)
