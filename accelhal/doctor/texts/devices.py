"""What the doctor says of devices: masks, slices, who holds them."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

_ENDS_LIST = "The vendor's runtime ends the list at the first entry it does not understand."
_NO_DEVICE = "The vendor's runtime then shows no device at all."

TEXTS: Mapping[str, Text] = {
    "mask.unset": Text("no variable hides devices"),
    "mask.shows": Text("{device}: {variable}={value} shows {kept}"),
    "mask.empty": Text(
        "{device}: {variable} is set and empty, which hides every device",
        "An empty list is a valid way of hiding all devices, so nothing else complains.",
        "unset, or a list of devices",
    ),
    "mask.not_a_device": Text(
        "{device}: {variable}={value}: {entry!r} is no device; {kept} of {named} take effect",
        _ENDS_LIST,
        "integers, or the identifiers this variable takes",
    ),
    "mask.empty_entry": Text(
        "{device}: {variable}={value} has an empty entry; {kept} of {named} take effect",
        _ENDS_LIST,
        "entries separated by single commas",
    ),
    "mask.negative": Text(
        "{device}: {variable}={value}: {entry} is negative; {kept} of {named} take effect",
        _ENDS_LIST,
        "integers from 0",
    ),
    "mask.out_of_range": Text(
        "{device}: {variable}={value}: there is no device {entry}; {kept} of {named} take effect",
        _ENDS_LIST,
        "integers from 0 to {last}",
    ),
    "mask.duplicate": Text(
        "{device}: {variable}={value} names {entry} twice", _NO_DEVICE, "each device once"
    ),
    "mask.not_ascending": Text(
        "{device}: {variable}={value} is not in ascending order", _NO_DEVICE, "ascending integers"
    ),
    "mask.mixed": Text(
        "{device}: {variable}={value} mixes integers and identifiers; {kept} of {named} take "
        "effect",
        _ENDS_LIST,
        "integers only, or identifiers only",
    ),
    "mask.unknown": Text(
        "{device}: {variable}={value}: no board is called {entry!r}; {kept} of {named} take effect",
        _ENDS_LIST,
        "identifiers that the driver lists",
    ),
    "mask.ambiguous": Text(
        "{device}: {variable}={value}: several boards' identifiers begin with {entry!r}; {kept} of "
        "{named} take effect",
        _ENDS_LIST,
        "identifiers in full",
    ),
    "mask.differs": Text(
        "{device}: {variable} is {own} here and {theirs} for the workers of {daemon}",
        "Workers keep what the daemon was started with: they count other devices than the program "
        "that sends them work.",
        "the daemon started after the variable was set",
    ),
    # ---- device.count
    "count.no_board": Text("no board to count"),
    "count.agree": Text("{device}: {count} on every layer that is shown"),
    "count.fewer": Text(
        "{device}: {upper} has {expected}, {lower} lists {count} (lost: {lost})",
        "The board is in the host and did not come up in that layer: the kernel log says why.",
        "{expected} on both",
    ),
    "count.layers": Text(
        "{device}: bus {bus}, module {module}, nodes {nodes} ({rights}), driver {driver}, "
        "toolkit {toolkit}, mask {mask}, torch {framework}"
    ),
    "count.nothing_shown": Text(
        "a program saw no device; look at: board on the bus? driver? nodes? rights? mask?"
    ),
    # ---- device.partition
    "partition.whole": Text("{device}: whole boards"),
    "partition.cut": Text("{device}: slices: {count}"),
    "partition.no_slice": Text(
        "{device} is set up to be cut into slices and has none",
        "Programs see no device on it until a slice is made.",
        "slices, or the mode off",
    ),
    "partition.several": Text(
        "{device}: {variable} names {count} slices, and a process uses only {first}",
        "The runtime takes one slice in a process; the others stay hidden.",
        "a process for each slice",
    ),
    "partition.parent": Text(
        "{device}: {variable} names {board}, which is cut into {count} slices",
        "Programs run on slices alone: they get one that the driver picks, or none.",
        "the identifier of a slice",
    ),
    # ---- device.busy
    "busy.free": Text("{device}: free", several="free: {devices}"),
    "busy.held": Text("{device}: held by process {pids}", several="held: {devices}"),
    "busy.no_owner": Text(
        "{device}: memory is held and no process is seen",
        several="memory held, no process seen: {devices}",
    ),
    "busy.exclusive": Text(
        "{device}: mode {mode}, held by process {pids}",
        "The next process is refused while that one runs.",
        "the default mode, or one process on the board",
    ),
    "busy.prohibited": Text(
        "{device}: mode {mode} lets no process use it",
        "Someone set it so, to keep jobs off the board.",
        "the default mode",
    ),
    # ---- device.balance
    "balance.one_board": Text("{device}: no boards to compare"),
    "balance.even": Text("{device}: {idle} of {count} idle, no board crowded"),
    "balance.crowded": Text(
        "{device}: {processes} processes on {boards} while {idle} boards are idle",
        "A scheduler or a mask sends all work to the same board.",
        "the work spread over the boards",
    ),
    # ---- device.open
    "open.nothing": Text("torch counts no device to open"),
    "open.opened": Text("{device}: opened {indices}"),
    "open.failed": Text(
        "{device}:{index} does not open: {error}",
        "It is counted, and its driver refuses it: held by another, or in a bad state.",
        "it opens within seconds",
    ),
    "open.untried": Text("{device}: {count} not tried, for others hung"),
}
