"""Where the library of the management plane lies."""

from __future__ import annotations

from accelhal.host.library_search import LibraryFile

LIBRARY = LibraryFile(
    "libdcmi.so",
    "ACCELHAL_DCMI_LIBRARY",
    paths=("/usr/local/dcmi/libdcmi.so", "/usr/local/Ascend/driver/lib64/driver/libdcmi.so"),
)
