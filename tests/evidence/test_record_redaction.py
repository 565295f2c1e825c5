"""What a shared snapshot holds of the host's record names nobody; equal details stay equal."""

from __future__ import annotations

import pytest

from accelhal.evidence.document import redacted, write_snapshot
from accelhal.evidence.snapshot import Snapshot
from accelhal.facts.host_record import HostRecord
from accelhal.redaction import PrivateNames

NAMES = PrivateNames(users=("annab",), hosts=("node7x",), homes=("/data/annab",))
PRIVATE = (
    *("annab", "node7x", "10.11.12.13", "fe80::42:acff:fe11:2", "0c:42:a1:b2:c3:d4"),
    *("8f6cd3ab-1111-2222-3333-444455556666", "1324521012345"),
)
LINE = (
    "Mar 04 10:11:12 node7x kernel: toy: /data/annab/job of annab at 10.11.12.13 "
    "fe80::42:acff:fe11:2 0c:42:a1:b2:c3:d4 TOY-8f6cd3ab-1111-2222-3333-444455556666 "
    "serial: 1324521012345"
)


@pytest.mark.parametrize(
    "record",
    [
        HostRecord(kernel_log=(LINE,)),
        HostRecord(messages=(LINE,)),
        HostRecord(command_line=LINE),
        HostRecord(variables={"TOY_PATH": LINE}),
        HostRecord(variables={"TOY_VERSION": LINE}),
        HostRecord(worker_variables={"worker 12": {"TOY_PATH": LINE}}),
        HostRecord(files={"/etc/toy.conf": LINE}),
        HostRecord(files={"/data/annab/toy/version.info": LINE}),
        HostRecord(libraries={"libtoy.so": "/data/annab/lib/libtoy.so.1"}),
        HostRecord(unlisted_libraries={"libtoy.so": "/home/annab/libtoy.so.1"}),
        HostRecord(reasons={"kernel_log": LINE}),
    ],
)
def test_a_record_names_nobody(record: HostRecord) -> None:
    text = write_snapshot(redacted(Snapshot(record=record), NAMES))
    assert [word for word in PRIVATE if word in text] == []


def test_equal_addresses_of_a_file_stay_equal() -> None:
    text = "address_0=10.11.12.13\naddress_1=10.11.12.14\naddress_2=10.11.12.13\n"
    record = redacted(Snapshot(record=HostRecord(files={"/etc/toy.conf": text})), NAMES).record
    assert record is not None
    first, second, third = (
        line.partition("=")[2] for line in record.files["/etc/toy.conf"].splitlines()
    )
    assert first == third != second
