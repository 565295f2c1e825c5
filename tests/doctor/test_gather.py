"""The kind of machine, told from files."""

from __future__ import annotations

import pytest
from doctor.toys import FakeHost


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("/.dockerenv", "", "container"),
        ("/proc/cpuinfo", "flags\t\t: fpu vme hypervisor lahf_lm\n", "vm"),
        ("/sys/class/dmi/id/product_name", "KVM Virtual Machine\n", "vm"),
        ("/proc/cpuinfo", "flags\t\t: fpu vme\n", "bare"),
    ],
)
def test_host_kind(fake: FakeHost, path: str, text: str, kind: str) -> None:
    fake.write(path, text)
    assert fake.facts.host_kind == kind
