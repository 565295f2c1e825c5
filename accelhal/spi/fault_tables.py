"""The faults that a plugin knows by number: its extension "faults", and the file behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from accelhal.facts.faults import Fault, FaultAction, FaultSeverity
from accelhal.facts.sources import Source
from accelhal.spi.table_files import only_known, read_sources, read_table, text, texts

UNLISTED = "unlisted"
"""The class of a family that speaks for codes without a row."""

_NUMBER = re.compile(r"\s*([-+]?[0-9]{1,18})\s*")
_HEXADECIMAL = re.compile(r"\s*(?:0[xX])?([0-9a-fA-F]{1,16})\s*")


@dataclass(frozen=True)
class FaultFamily:
    """One of the vendor's numberings.

    Attributes:
        name: its name ("xid").
        hexadecimal: codes are written in hexadecimal, with or without 0x.
        classes: handling class -> a fault of that class, without code.
    """

    name: str
    hexadecimal: bool
    classes: Mapping[str, Fault]


@dataclass(frozen=True)
class LogPattern:
    """How a driver writes a fault into the kernel log.

    Attributes:
        pattern: searched in one line. Groups: "board" (PCI address), "code", and "class" (a class
            of the family, for codes without a row); all may be missing.
        needle: a text that every matching line has; lines without it are not searched.
        family: the family that the code belongs to.
        code: the code of lines that give none.
    """

    pattern: re.Pattern[str]
    needle: str
    family: str
    code: str | None = None


@dataclass(frozen=True)
class FaultTable:
    """All faults that a plugin knows.

    Attributes:
        faults: one for each code.
        families: by name.
        log_patterns: how they show in a kernel log.
    """

    faults: tuple[Fault, ...]
    families: Mapping[str, FaultFamily]
    log_patterns: tuple[LogPattern, ...] = ()

    def find(self, family: str, code: int | str, kind: str | None = None) -> Fault | None:
        """The fault of a code, in any spelling: 79, "79", "0x4f", or its name in any case.

        Args:
            family: name of the family.
            code: number or text.
            kind: the class that speaks for a code without a row; UNLISTED where that is None.

        Returns:
            None for an unknown family, and for a code without a row where no class speaks for it.
        """
        numbering = self.families.get(family)
        if numbering is None:
            return None
        found = next(
            (
                self._index[family, spelling]
                for spelling in _spellings(code, numbering.hexadecimal)
                if (family, spelling) in self._index
            ),
            None,
        )
        if found is not None:
            return found
        general = numbering.classes.get(UNLISTED if kind is None else kind)
        if general is None:
            return None
        written = f"0x{code:08X}" if numbering.hexadecimal and type(code) is int else str(code)
        return replace(general, code=written.strip(), listed=False)

    @cached_property
    def _index(self) -> Mapping[tuple[str, int | str], Fault]:
        index: dict[tuple[str, int | str], Fault] = {}
        for fault in self.faults:
            hexadecimal = self.families[fault.family].hexadecimal
            for spelling in (*_spellings(fault.code, hexadecimal), fault.name.lower()):
                if spelling != "":
                    index.setdefault((fault.family, spelling), fault)
        return index


@dataclass(frozen=True)
class FaultTables:
    """The value of the extension "faults".

    Attributes:
        read: reads the table.
    """

    read: Callable[[], FaultTable]


def read_faults(path: Path) -> FaultTable:
    """The faults in a JSON file.

    It has "sources" (short name -> attributes of Source), "families" (each with "family",
    "source", "faults", and where it needs them "hexadecimal" and "classes"), and may have
    "log_patterns" (attributes of LogPattern). A fault's row gives "code", or "codes" that share all
    the rest, and the attributes of Fault; "class" gives those that it leaves out.

    Raises:
        UsageError: the file cannot be read, or an attribute is missing, unknown, of the wrong type
            or given twice.
    """
    return read_table(path, "faults", _parsed)


def _spellings(code: int | str, hexadecimal: bool) -> Iterator[int | str]:
    """What a code may be found under, the likeliest first."""
    if isinstance(code, int):
        yield code
        return
    digits = _HEXADECIMAL.fullmatch(code)
    number = _NUMBER.fullmatch(code)
    if digits and (hexadecimal or "x" in code.lower()):
        yield int(digits[1], 16)
    elif number:
        yield int(number[1])
    yield code.strip().lower()


_SHARED = ("name", "meaning", "severity", "action", "follow_up", "source")


def _parsed(document: dict[str, Any]) -> FaultTable:
    only_known(document, ("sources", "families", "log_patterns"), "the file")
    sources = read_sources(document)
    faults: list[Fault] = []
    families: dict[str, FaultFamily] = {}
    for part in document["families"]:
        family, rows = _family(part, sources)
        if family.name in families:
            raise ValueError(f"family {family.name} is given twice")
        families[family.name] = family
        faults += rows
    _refuse_twice(faults, families)
    patterns = tuple(_pattern(row, families) for row in document.get("log_patterns", ()))
    return FaultTable(tuple(faults), families, patterns)


def _family(
    part: Mapping[str, Any], sources: Mapping[str, Source]
) -> tuple[FaultFamily, list[Fault]]:
    only_known(part, ("family", "source", "hexadecimal", "classes", "faults"), "a family")
    name, hexadecimal = text(part, "family"), part.get("hexadecimal", False)
    if type(hexadecimal) is not bool:
        raise TypeError(f"{name}: hexadecimal is {hexadecimal!r}")
    shared = _classes(part)
    classes = {
        kind: _fault(row, name, "", sources) for kind, row in shared.items() if "meaning" in row
    }
    faults = []
    for row in part["faults"]:
        only_known(row, (*_SHARED, "code", "codes", "class"), f"a fault of {name}")
        if "class" in row and row["class"] not in shared:
            raise ValueError(f"{name} has no class {row['class']!r}")
        whole = {"source": part["source"], **shared.get(row.get("class", ""), {}), **row}
        codes = texts(row["codes"] if "codes" in row else row["code"], "codes")
        faults += [_fault(whole, name, code, sources) for code in codes]
    return FaultFamily(name, hexadecimal, classes), faults


def _classes(part: Mapping[str, Any]) -> Mapping[str, dict[str, Any]]:
    for kind, row in part.get("classes", {}).items():
        only_known(row, _SHARED, f"class {kind}")
    return {
        kind: {"source": part["source"], **row} for kind, row in part.get("classes", {}).items()
    }


def _fault(row: Mapping[str, Any], family: str, code: str, sources: Mapping[str, Source]) -> Fault:
    try:
        return Fault(
            family=family,
            code=code,
            name=text(row, "name", ""),
            meaning=text(row, "meaning"),
            severity=FaultSeverity(row["severity"]),
            action=FaultAction(row["action"]),
            follow_up=text(row, "follow_up", ""),
            source=sources[row["source"]],
        )
    except (KeyError, ValueError, TypeError) as error:
        raise ValueError(f"{family} {code}: {error}") from error


def _refuse_twice(faults: list[Fault], families: Mapping[str, FaultFamily]) -> None:
    seen: set[tuple[str, int | str]] = set()
    for fault in faults:
        key = (fault.family, next(_spellings(fault.code, families[fault.family].hexadecimal)))
        if key in seen:
            raise ValueError(f"{fault.family} {fault.code} is given twice")
        seen.add(key)


def _pattern(row: Mapping[str, Any], families: Mapping[str, FaultFamily]) -> LogPattern:
    only_known(row, ("pattern", "needle", "family", "code"), "a log pattern")
    family = text(row, "family")
    if family not in families:
        raise ValueError(f"a log pattern is of {family!r}, which is no family")
    code = text(row, "code") if "code" in row else None
    try:
        pattern = re.compile(text(row, "pattern"))
    except re.error as error:
        raise ValueError(f"a log pattern of {family}: {error}") from error
    if code is None and "code" not in pattern.groupindex:
        raise ValueError(f"a log pattern of {family} finds no code")
    return LogPattern(pattern, text(row, "needle"), family, code)
