"""A vendor's tool that does not exist, its reader, and a backend that brings it."""

from __future__ import annotations

from collections.abc import Sequence

from fake_spec import fake_spec

from accelhal.facts import BoardInfo, BoardKey, BoardReading, Evidence, Telemetry
from accelhal.spi import BackendSpec, EvidenceError, EvidenceReader, Section

FIRST, LAST = "toy-smi 1.0", "end of toy-smi"


def page(*rows: str, first: str = FIRST, last: str = LAST) -> str:
    """What the tool prints: a row for each board, "number address uuid temperature" or "-"."""
    return "\n".join((first, *rows, last)) + "\n"


def rows(*numbers: int) -> list[str]:
    return [f"{n} 0000:{n + 16:02x}:00.0 {uuid(n)} {40 + n}" for n in numbers]


def uuid(number: int) -> str:
    return f"TOY-{number:08d}-0000-4000-8000-000000000000"


def _read(lines: Sequence[str]) -> Section:
    boards = []
    for place, line in enumerate(lines[1:], start=1):
        if line == LAST:
            return Section(Evidence("toy", "toy-smi", tuple(boards)), place + 1)
        cells = [None if cell == "-" else cell for cell in line.split()]
        if len(cells) != 4:
            raise EvidenceError(place, "a row has four cells")
        boards.append(_board(*cells))
    raise EvidenceError(len(lines), "it is cut off")


def _board(
    number: str | None, address: str | None, uuid: str | None, temperature: str | None
) -> BoardReading:
    names = (("uuid", uuid), ("pci", address), ("logic-id", number))
    source, value = next((source, name) for source, name in names if name is not None)
    return BoardReading(
        BoardInfo(
            BoardKey("toy", source, value),
            "Toymaker",
            "Toy 1",
            "toy",
            "toy-smi",
            index=None if number is None else int(number),
            uuid=uuid,
            pci=address,
            total_memory=16 << 30,
        ),
        telemetry=None if temperature is None else Telemetry(temperature=float(temperature)),
    )


READER = EvidenceReader("toy-smi", lambda line: line.startswith("toy-smi"), _read)


def _fail(lines: Sequence[str]) -> Section:
    raise ZeroDivisionError("a bug")


READERS = (READER,)
STRANGE_READERS = (READER, "toy-smi")
BROKEN = EvidenceReader("bug-smi", lambda line: line == "bug-smi", _fail)


def toy_backend(readers: str = "evidence.toy_tool:READERS", **fields: object) -> BackendSpec:
    return fake_spec("toy", extensions={"evidence_readers": readers}, **fields)
