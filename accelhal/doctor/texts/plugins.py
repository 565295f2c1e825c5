"""What the doctor says of plugins."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

TEXTS: Mapping[str, Text] = {
    "plugin.loaded": Text(
        "{device} from {distribution} {version}, interface {interface}",
        several="{devices} loaded",
    ),
    "plugin.newer": Text(
        "{device} from {distribution} {version} is written for interface {interface}, this "
        "accelhal has {ours}",
        "Newer minor versions only add options; those are not used.",
    ),
    "plugin.left_out": Text(
        "{device} is left out by {variable}", several="{devices} left out by {variable}"
    ),
    "plugin.broken": Text(
        "the plugin of {device} does not load",
        "{reason}. Other backends are not affected.",
        "the plugin's module imports without error",
    ),
    "plugin.damaged": Text(
        "the metadata of an installed distribution cannot be read: {path}",
        "{reason}. If it has a plugin, that is not seen; and a plain `import torch` may fail where "
        "it reads what to load.",
        "metadata as pip writes it",
    ),
    "plugin.conflict": Text(
        "{device} is claimed by more than one distribution",
        "{reason}. accelhal does not choose between them.",
        "one distribution for each backend name",
    ),
    "plugin.incompatible": Text(
        "the plugin of {device} and this accelhal do not fit", "{reason}.", "one interface version"
    ),
}
