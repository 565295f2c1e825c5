"""Each page is read for what it says, in any order and damaged anywhere; nothing is invented."""

from __future__ import annotations

import pytest
from evidence.toy_tool import READER, page, rows
from hypothesis import given, strategies as st

from accelhal.evidence.captures import Capture, read_capture
from accelhal.evidence.host_pages import host_pages
from accelhal.evidence.records import joined_records
from accelhal.facts.host_record import AirReading, HostRecord

PAGES = host_pages(["TOYFAULT"], ["/etc/toy*", "$TOY_HOME/version"])

SAMPLES: dict[str, tuple[str, dict[str, object]]] = {
    "dmesg": (
        "[   12.345678] toy 0000:03:00.0: TOYFAULT 7",
        {"kernel_log": ("[   12.345678] toy 0000:03:00.0: TOYFAULT 7",)},
    ),
    "dmesg -T": (
        "[Tue Mar  4 10:11:12 2025] toy: link down",
        {"kernel_log": ("[Tue Mar  4 10:11:12 2025] toy: link down",)},
    ),
    "journalctl": (
        "Mar 04 10:11:12 node7 kernel: toy: link down",
        {"kernel_log": ("Mar 04 10:11:12 kernel: toy: link down",)},
    ),
    "unstamped": ("toy: TOYFAULT 7", {"kernel_log": ("toy: TOYFAULT 7",)}),
    "uname": (
        "Linux node7 5.15.0-91-generic #101-Ubuntu SMP x86_64 GNU/Linux",
        {"kernel": "5.15.0-91-generic"},
    ),
    "cmdline": (
        "BOOT_IMAGE=/vmlinuz root=/dev/sda1 iommu=pt",
        {"command_line": "BOOT_IMAGE=/vmlinuz root=/dev/sda1 iommu=pt"},
    ),
    "lsmod": (
        "Module                  Size  Used by\ntoy                    16384  2 toy_peer",
        {"modules": {"toy": ""}},
    ),
    "proc modules": (
        "toy 16384 2 toy_peer, Live 0x0000000000000000",
        {"modules": {"toy": ""}},
    ),
    "ls -l": (
        "crw-rw-rw- 1 root root 195, 0 Mar  4 10:11 /dev/toy0",
        {"nodes": {"/dev/toy0": True}},
    ),
    "ls missing": ("ls: cannot access '/dev/toy*': No such file or directory", {"nodes": {}}),
    "df": (
        "Filesystem Size Used Avail Use% Mounted on\nshm 64M 0 64M 0% /dev/shm",
        {"shared_memory": 64 << 20},
    ),
    "df blocks": (
        "Filesystem 1K-blocks Used Available Use% Mounted on\nshm 65536 0 65536 0% /dev/shm",
        {"shared_memory": 64 << 20},
    ),
    "ipmitool": ("Inlet Temp       | 24 degrees C      | ok", {"air": (AirReading(inlet=24.0),)}),
    "pip list": (
        "Package Version\n------- -------\nToy_Torch 2.1.0",
        {"packages": {"toy-torch": "2.1.0"}},
    ),
    "pip freeze": ("toy_torch==2.1.0", {"packages": {"toy-torch": "2.1.0"}}),
    "collect_env": (
        "PyTorch version: 2.1.0\nTOY used to build PyTorch: 5.1",
        {"packages": {"torch": "2.1.0"}, "torch_builds": {"toy": "5.1"}},
    ),
    "env": ("TOY_VISIBLE=0,1", {"variables": {"TOY_VISIBLE": "0,1"}}),
    "export": ("export TOY_VISIBLE='0,1'", {"variables": {"TOY_VISIBLE": "0,1"}}),
    "cat": ("$ cat /etc/toy.conf\nlevel=3", {"files": {"/etc/toy.conf": "level=3\n"}}),
    "is-active": ("$ systemctl is-active toyd\nactive", {"services": {"toyd.service": "active"}}),
    "status": (
        "● toyd.service - Toy daemon\n   Active: failed (Result: exit-code)",
        {"services": {"toyd.service": "inactive"}},
    ),
    "status gone": (
        "Unit toyd.service could not be found.",
        {"services": {"toyd.service": "absent"}},
    ),
}


def captured(text: str) -> Capture:
    return read_capture("a.txt", text, [READER], PAGES)


def record(found: Capture) -> HostRecord | None:
    whole = None
    for one in found.pages:
        whole = joined_records(whole, one.snapshot.record)
    return whole


@pytest.mark.parametrize(("text", "shown"), SAMPLES.values(), ids=SAMPLES)
def test_a_page_shows_this_and_no_more(text: str, shown: dict[str, object]) -> None:
    found = captured(text)
    assert record(found) == HostRecord(**shown)
    assert found.unread == ()


@pytest.mark.parametrize(
    "text",
    [
        "Module names differ",
        "Package Version",
        "brw-rw---- 1 root disk 8, 0 Mar  4 10:11 /dev/sda",
        "$ systemctl is-active toyd\nbash: systemctl: command not found",
        "● toyd.service - Toy daemon",
        "$ cat /etc/toy.conf",
        "$ cat /etc/toy.conf\ncat: /etc/toy.conf: No such file or directory",
        "$ cat /etc/other.conf\nlevel=3",
        "Linux is a kernel",
        "lower=case",
    ],
)
def test_what_only_looks_like_a_page_shows_nothing(text: str) -> None:
    assert record(captured(text)) is None


@given(st.lists(st.sampled_from([*SAMPLES.values(), (page(*rows(0)), {})]), max_size=6))
def test_pages_in_any_order_lose_nothing(samples: list[tuple[str, dict[str, object]]]) -> None:
    # What `cat` prints ends where the next command is typed: nothing else tells.
    found = captured("\n$ next\n".join(text for text, _ in samples))
    whole = record(found) or HostRecord()
    wanted = {name for _, shown in samples for name in shown}
    blank = HostRecord()
    assert all(getattr(whole, name) is not None for name in wanted)
    assert all(getattr(whole, name) == getattr(blank, name) for name in vars(blank).keys() - wanted)


@given(
    st.lists(
        st.sampled_from([*(text for text, _ in SAMPLES.values()), page(*rows(0))]), max_size=5
    ),
    st.data(),
)
def test_damage_anywhere_gives_facts_or_words(texts: list[str], data: st.DataObject) -> None:
    whole = "\n".join(texts)
    at = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(at, min(len(whole), at + 20)))
    text = whole[:at] + data.draw(st.text(max_size=5)) + whole[end:]
    found = captured(text)
    spans = [(one.line, one.count) for one in (*found.pages, *found.sections)]
    taken = [n for line, count in spans for n in range(line, line + count)]
    assert len(taken) == len(set(taken))  # no line is read twice
    assert all(1 <= n <= len(text.splitlines()) for n in taken)
    for value in _texts(record(found)):
        assert all(word in text for word in value.split())


def _texts(shown: HostRecord | None) -> list[str]:
    """What stands in the record word for word."""
    if shown is None:
        return []
    told = [*(shown.kernel_log or ()), *(shown.variables or {}).values()]
    told += [*(shown.variables or {}), *(shown.nodes or {}), *(shown.modules or {})]
    return [*told, *filter(None, (shown.kernel, shown.command_line))]


class _Counted(list[str]):
    """Lines that count how often they are looked at."""

    looks = 0

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        type(self).looks += 1
        return super().__getitem__(place)


@pytest.mark.parametrize("text", [text for text, _ in SAMPLES.values()], ids=SAMPLES)
def test_a_page_looks_at_each_line_a_few_times(text: str) -> None:
    lines = _Counted(text.splitlines() * 200)
    _Counted.looks = 0
    for one in PAGES:
        if one.begins(str.__str__(list.__getitem__(lines, 0))):
            one.read(lines)
    assert _Counted.looks <= 4 * len(lines)
