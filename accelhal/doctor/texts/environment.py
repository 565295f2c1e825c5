"""What the doctor says of the environment."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

_FROM_DEVICE = "accelhal.device() raises an error while it is set so."

TEXTS: Mapping[str, Text] = {
    "own.unset": Text("{device_variable} and {limit_variable} are not set"),
    "own.device": Text("{variable}={value}"),
    "own.limit": Text("{variable}={value}"),
    "own.malformed": Text("{variable}={value} is not a device name", _FROM_DEVICE, "{hint}"),
    "own.not_installed": Text(
        "{variable}={value} names a backend that no plugin provides",
        _FROM_DEVICE,
        "one of: {installed}",
    ),
    "own.other_distribution": Text(
        "{variable}={value} names a distribution that does not provide the backend",
        _FROM_DEVICE,
        "one of: {providers}",
    ),
    "own.excluded": Text(
        "{variable}={value} names a backend that {limit} leaves out",
        _FROM_DEVICE,
        "the two variables agree",
    ),
    "own.no_such_index": Text(
        "{variable}={value}: there is no such device", _FROM_DEVICE, "an index from 0 to {last}"
    ),
    "own.limit_nothing": Text(
        "{variable}={value} names no installed backend, so none is left",
        _FROM_DEVICE,
        "some of: {installed}",
    ),
    "own.limit_unusable": Text(
        "{variable}={value} leaves no backend that can be used here",
        _FROM_DEVICE,
        "a list that ends in cpu",
    ),
    "own.limit_unknown": Text(
        "{variable}={value} names {unknown}, which no plugin provides",
        "The other names take effect.",
        "some of: {installed}",
    ),
    # ---- env.debug
    "debug.none": Text("no variable for finding errors is set"),
    "debug.set": Text(
        "{variable}={value} slows jobs down",
        "With it {effect}. It is for when {when}.",
        "unset while no such error is looked for",
    ),
    # ---- env.preload
    "preload.none": Text("nothing is preloaded"),
    "preload.loaded": Text("the loader puts {entries} into every program"),
    "preload.missing": Text(
        "{source} names {entry}, which the loader does not find",
        "Every program starts without it, with a complaint.",
        "the library at that place, or the entry removed",
    ),
    # ---- env.shm
    "shm.no_ranks": Text("no ranks on several boards that would share memory"),
    "shm.ample": Text("/dev/shm has {size} MiB"),
    "shm.tight": Text(
        "/dev/shm has {size} MiB for ranks on {ranks} boards",
        "Collectives and data loaders of large jobs may run out of it.",
        "{wanted} MiB",
    ),
    "shm.small": Text(
        "/dev/shm has {size} MiB for ranks on {ranks} boards",
        "Ranks exchange data through it: jobs on all boards end with a bus error or for lack of "
        "space.",
        "{wanted} MiB",
    ),
}
