"""Files that show boards, any mix of snapshots and captured output, made one Snapshot."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from accelhal.errors import BackendLoadError, UsageError, warn
from accelhal.evidence.captures import Unread, read_capture
from accelhal.evidence.contradictions import ContradictionError
from accelhal.evidence.document import SnapshotError, read_snapshot
from accelhal.evidence.host_pages import host_pages
from accelhal.evidence.merging import merged
from accelhal.evidence.messages import understood
from accelhal.evidence.records import joined_environments, joined_records, refuse_other_record
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts import Evidence
from accelhal.facts.host_record import HostRecord
from accelhal.registry import Backend
from accelhal.registry.extensions import load_extension
from accelhal.registry.vendor_hosts import vendor_host
from accelhal.spi import EvidenceReader
from accelhal.spi.doctor import VendorHost

STANDARD_INPUT = "-"

LARGEST = 64 << 20
"""Bytes of a file that is read: more than any page of a tool, and less than a machine's memory."""

_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""The first bytes of a file, where they name its encoding."""

_OURS = re.compile(r'\s*\{.*"schema"\s*:\s*"accelhal\.', re.DOTALL)
"""A document of accelhal's, whole or damaged."""


@dataclass(frozen=True)
class Collected:
    """What files show.

    Attributes:
        files: the files, in the order in which they were given.
        snapshot: what they show together.
        unread: what was not read, or contradicts the rest.
    """

    files: tuple[str, ...]
    snapshot: Snapshot
    unread: tuple[Unread, ...]


def evidence_readers(known: Iterable[Backend]) -> tuple[EvidenceReader, ...]:
    """The readers of all installed plugins; one that does not load is warned of."""
    found: list[EvidenceReader] = []
    for backend in known:
        if backend.spec is None:
            continue
        try:
            readers = load_extension(backend.spec, "evidence_readers", tuple) or ()
        except BackendLoadError as error:
            warn(str(error))
            continue
        found += [reader for reader in readers if isinstance(reader, EvidenceReader)]
        strange = [reader for reader in readers if not isinstance(reader, EvidenceReader)]
        if strange:
            warn(
                f"{backend.name}: its evidence_readers hold {strange[0]!r:.60}, which is no reader"
            )
    return tuple(found)


def vendor_hosts(known: Iterable[Backend]) -> tuple[VendorHost, ...]:
    """What the installed plugins say of hosts with their boards."""
    return tuple(vendor_host(backend.spec) for backend in known if backend.spec is not None)


def read_files(
    files: Sequence[str],
    readers: Sequence[EvidenceReader],
    vendors: Sequence[VendorHost] = (),
    log_needles: Sequence[str] = (),
) -> Collected:
    """What the files show together; on each thing the first that speaks of it stands.

    Args:
        files: paths of snapshots, of captured output of vendors' tools, kernel logs, environments,
            and what else shows a host; "-" is standard input.
        readers: the plugins'.
        vendors: what messages of programs to keep.
        log_needles: texts that tell a kernel log's lines without their stamp.

    Raises:
        UsageError: a file cannot be read, is no text or a damaged snapshot; or no file shows
            anything that is known.
    """
    names = tuple(dict.fromkeys(files))
    asked = [pattern for vendor in vendors for pattern in vendor.files]
    pages, is_message = host_pages(log_needles, asked), understood(vendors)
    whole = Snapshot()
    looks: list[_Look] = []
    unread: list[Unread] = []
    for file in names:
        text = _text(file)
        if _OURS.match(text):
            snapshot = _snapshot(file, text)
            if not _is_of_one_host(whole, snapshot):
                unread.append(Unread(file, 1, _lines(text), "it is of another host: refused"))
                continue
            refused = _other_record(file, 1, _lines(text), whole, snapshot)
            if refused is not None:
                unread.append(refused)
                continue
            whole = _joined(whole, snapshot)
            looks += [_Look(file, 1, _lines(text), evidence) for evidence in snapshot.evidence]
        else:
            capture = read_capture(file, text, readers, pages, is_message)
            looks += [_Look(s.file, s.line, s.count, s.evidence) for s in capture.sections]
            unread += capture.unread
            for page in capture.pages:
                refused = _other_record(file, page.line, page.count, whole, page.snapshot)
                if refused is None:
                    whole = _joined(whole, page.snapshot)
                else:
                    unread.append(refused)
            if capture.messages:
                said = Snapshot(record=HostRecord(messages=capture.messages))
                whole = _joined(whole, said)
    if whole == Snapshot() and not looks:
        raise _nothing_read(names, readers, unread)
    evidence, contradicting = _merged(looks)
    return Collected(names, replace(whole, evidence=evidence), (*unread, *contradicting))


@dataclass(frozen=True)
class _Look:
    """Evidence, and where it stands."""

    file: str
    line: int
    count: int
    evidence: Evidence


def _merged(looks: Iterable[_Look]) -> tuple[tuple[Evidence, ...], list[Unread]]:
    """One evidence for each backend, and the looks that contradict it.

    A look that shares no name with those before it may share one with a later: it is tried again.
    """
    found: dict[str, Evidence] = {}
    waiting = list(looks)
    while True:
        refused: list[tuple[_Look, ContradictionError]] = []
        for look in waiting:
            backend = look.evidence.backend
            try:
                known = found.get(backend)
                found[backend] = merged(known, look.evidence) if known else look.evidence
            except ContradictionError as error:
                refused.append((look, error))
        if len(refused) == len(waiting):
            break
        waiting = [look for look, _ in refused]
    return tuple(found.values()), [
        Unread(
            look.file,
            look.line,
            look.count,
            f"{look.evidence.source} contradicts what was read before: {error}",
        )
        for look, error in refused
    ]


def _is_of_one_host(one: Snapshot, other: Snapshot) -> bool:
    if one.host is None or other.host is None:
        return True
    return (one.host.machine, one.host.cpu_model) == (other.host.machine, other.host.cpu_model)


def _other_record(
    file: str, line: int, count: int, known: Snapshot, new: Snapshot
) -> Unread | None:
    """The look as not read, where it is of a host that runs something else."""
    try:
        refuse_other_record(known.record, new.record)
    except ContradictionError as error:
        return Unread(file, line, count, f"it contradicts what was read before: {error}")
    return None


def _joined(one: Snapshot, other: Snapshot) -> Snapshot:
    """All but the evidence; what the first has stands."""
    return Snapshot(
        taken=one.taken or other.taken,
        accelhal=one.accelhal or other.accelhal,
        redacted=one.redacted or other.redacted,
        host=one.host or other.host,
        environment=joined_environments(one.environment, other.environment),
        record=joined_records(one.record, other.record),
        relations=tuple(dict.fromkeys((*one.relations, *other.relations))),
        notes=tuple(dict.fromkeys((*one.notes, *other.notes))),
    )


# ---- one file


def _text(file: str) -> str:
    data = _bytes(file)
    encoding = next((name for mark, name in _ENCODINGS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _no_text(file, f"its byte {error.start} is not {encoding}") from error
    if "\0" in text:
        raise _no_text(file, "it holds zero bytes")
    return text


def _bytes(file: str) -> bytes:
    try:
        if file == STANDARD_INPUT:
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(LARGEST + 1)
    except IsADirectoryError as error:
        raise _unusable(file, "it is a folder", f"name its files: {file}/*") from error
    except FileNotFoundError as error:
        raise _unusable(file, "there is no such file", "check the path") from error
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise _unusable(file, reason, "check its path and rights") from error
    if len(data) > LARGEST:
        raise _unusable(
            file, f"it is larger than {LARGEST >> 20} MiB", "cut out the pages that show the boards"
        )
    return data


def _snapshot(file: str, text: str) -> Snapshot:
    try:
        return read_snapshot(text)
    except SnapshotError as error:
        raise _unusable(file, str(error), error.hint) from error


def _lines(text: str) -> int:
    return max(1, text.count("\n"))


def _no_text(file: str, reason: str) -> UsageError:
    return _unusable(
        file, f"it is no text: {reason}", "save it as UTF-8; iconv -f GB18030 -t UTF-8, for example"
    )


def _unusable(file: str, reason: str, hint: str) -> UsageError:
    shown = "standard input" if file == STANDARD_INPUT else file
    return UsageError(f"{shown} cannot be read: {reason}", operation="read evidence", hint=hint)


def _nothing_read(
    files: Sequence[str], readers: Sequence[EvidenceReader], unread: Sequence[Unread]
) -> UsageError:
    tools = "; ".join(dict.fromkeys(reader.tool for reader in readers)) or "none"
    said = "".join(f"\n  {line}" for line in unread[:3])
    return UsageError(
        f"nothing in {', '.join(files)} is known here{said}",
        operation="read evidence",
        hint=f"give a file of `accelhal snapshot`, or the output of one of: {tools}",
    )
