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
}
