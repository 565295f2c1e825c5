"""Where the library of the management plane lies."""

from __future__ import annotations

from accelhal.host.library_search import LibraryFile

LIBRARY = LibraryFile(
    "libcndev.so",
    "ACCELHAL_CNDEV_LIBRARY",
    paths=("/usr/local/neuware/lib64/libcndev.so", "/usr/local/neuware/lib/libcndev.so"),
    homes=(("NEUWARE_HOME", "lib64/libcndev.so"), ("NEUWARE_HOME", "lib/libcndev.so")),
)
