"""Whatever arrives: nothing but EvidenceError, nothing invented, and no longer than it takes."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from typing import NamedTuple

import accelhal_ascend.evidence
import accelhal_cambricon.evidence
import accelhal_cuda.evidence
import pytest
from captured_samples import cnmon, npu_smi, nvidia_smi
from captured_samples.reading import SUMS, CountedLines, damaged, sound
from hypothesis import given, strategies as st

from accelhal.evidence.captures import Capture
from accelhal.spi import EvidenceError, EvidenceReader


class Vendor(NamedTuple):
    """A vendor's readers, and what holds of them.

    Attributes:
        sums: fields that add up what the tool prints.
        looks: at a line, on average, and in all beside these.
    """

    readers: Sequence[EvidenceReader]
    samples: Sequence[str]
    sums: Collection[str] = SUMS
    looks: tuple[int, int] = (5, 0)

    def sound(self, text: str) -> Capture:
        """What is read of a text, after a look at whether it stands there."""
        return sound(self.readers, text, self.sums)


VENDORS = {
    "ascend": Vendor(accelhal_ascend.evidence.READERS, npu_smi.ALL),
    "cambricon": Vendor(accelhal_cambricon.evidence.READERS, cnmon.ALL),
    "cuda": Vendor(accelhal_cuda.evidence.READERS, nvidia_smi.ALL, nvidia_smi.SUMS, (8, 8)),
}
LINES = {
    name: sorted({line for text in vendor.samples for line in text.splitlines()})
    for name, vendor in VENDORS.items()
}
of_each_vendor = pytest.mark.parametrize("name", VENDORS)
of_each_sample = pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, vendor in VENDORS.items() for text in vendor.samples]
)


@of_each_sample
def test_every_sample_is_sound_and_read_whole(name: str, text: str) -> None:
    found = VENDORS[name].sound(text)
    assert len(found.sections) == 1
    assert not found.unread


@of_each_vendor
@given(data=st.data())
def test_damaged_pages(name: str, data: st.DataObject) -> None:
    VENDORS[name].sound(data.draw(damaged(VENDORS[name].samples)))


@of_each_vendor
@given(data=st.data())
def test_lines_in_any_order(name: str, data: st.DataObject) -> None:
    line = st.sampled_from(LINES[name]) | st.text(max_size=60)
    VENDORS[name].sound("\n".join(data.draw(st.lists(line, max_size=40))))


@of_each_vendor
@given(text=st.text())
def test_any_text(name: str, text: str) -> None:
    VENDORS[name].sound(text)


@of_each_sample
def test_a_long_text_takes_as_long_as_its_parts(name: str, text: str) -> None:
    """Counted, not timed: no reader looks at lines that it does not take more than a few times."""
    readers, (each, more) = VENDORS[name].readers, VENDORS[name].looks
    own = text.splitlines()
    start = next(n for n, line in enumerate(own) if any(r.begins(line) for r in readers))
    for reader in readers:
        lines = CountedLines([*own[start:], *["$ next"] * 1000])
        if reader.begins(own[start]):
            with contextlib.suppress(EvidenceError):
                reader.read(lines)
        assert lines.looks < each * len(own) + more
