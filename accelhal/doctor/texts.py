"""Every sentence the doctor says, by code, so that a translation replaces one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from accelhal.facts import Finding


@dataclass(frozen=True)
class Text:
    """Templates of one code; `{name}` is a parameter of the finding, `{device}` its device.

    Attributes:
        title: what was found, in one line.
        cause: why it is so, or what it leads to.
        expected: what would be right.
        several: title for several findings of the code at once; `{devices}` lists theirs.
    """

    title: str
    cause: str = ""
    expected: str = ""
    several: str = ""


_ENDS_LIST = "The vendor's runtime ends the list at the first entry it does not understand."
_NO_DEVICE = "The vendor's runtime then shows no device at all."
_FROM_DEVICE = "accelhal.device() raises an error while it is set so."

TEXTS: Mapping[str, Text] = {
    # ---- the engine itself
    "engine.because": Text(
        "{device} not judged: {because} went wrong first",
        several="{devices} not judged: a lower layer went wrong first",
    ),
    "engine.needs_deep": Text("not run: it starts child processes, which takes --deep"),
    "engine.crashed": Text(
        "the check itself failed: {error}: {message}",
        "This is an error in the check, not in the host; please report it.",
    ),
    # ---- host.pci
    "pci.none": Text("no accelerator board on the PCI bus"),
    "pci.boards": Text("{count} x {vendor} on the PCI bus"),
    "pci.no_plugin": Text(
        "{count} x {vendor} on the PCI bus, and no plugin for it",
        "accelhal finds its backends in installed plugins; none of them drives this vendor.",
        "the plugin {plugin} is installed and loads",
    ),
    "pci.unsupported": Text("{count} x {vendor} on the PCI bus; accelhal has no plugin for it"),
    "pci.unreadable": Text("the PCI bus cannot be seen: {path} is not there"),
    # ---- plugin.load
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
    # ---- driver.nodes
    "nodes.not_needed": Text("no board here that needs a node under /dev"),
    "nodes.open": Text("{device}: nodes open to this process: {count}"),
    "nodes.missing": Text(
        "{device}: no {patterns}",
        "The driver makes the nodes when it loads; it is not loaded, or did not start.",
        "the nodes exist, and this process may read and write them",
    ),
    "nodes.missing_in_container": Text(
        "{device}: no {patterns} in this container",
        "A container sees only the nodes it was started with; or the host's driver is not loaded.",
        "the container is started with the nodes, and this process may read and write them",
    ),
    "nodes.denied": Text(
        "{device}: no right to open {paths}",
        "The nodes exist, but this process may not both read and write them.",
        "read and write rights, by group or by the container's device list",
    ),
    "nodes.fewer": Text(
        "{device}: nodes for {nodes} of {boards} boards",
        "The others were not given to this container, or their driver did not start on them.",
        "a node for each board this process is to use",
    ),
    # ---- device.mask
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
    # ---- env.accelhal
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
    # ---- backend.probe
    "probe.available": Text("{device} available: {reason}", several="{devices} available"),
    "probe.simulated": Text(
        "{device} available (simulated)", several="{devices} available (simulated)"
    ),
    "probe.no_hardware": Text("{device}: {reason}", several="{devices}: no hardware"),
    "probe.no_driver": Text(
        "{device}: {reason}",
        "The boards' driver is not installed or not running.",
        "the driver is loaded",
        several="{devices}: no driver",
    ),
    "probe.not_installed": Text(
        "{device}: {reason}",
        "A package that the backend needs is not installed in this Python.",
        "the package is installed",
        several="{devices}: vendor package not installed",
    ),
    "probe.library_broken": Text(
        "{device}: {reason}",
        "A library that the backend needs is missing or cannot be used.",
        "every library loads; `accelhal doctor --deep` shows the loader's own words",
        several="{devices}: library broken",
    ),
    "probe.incompatible": Text(
        "{device}: {reason}",
        "What is installed does not work together.",
        "versions and builds that fit",
        several="{devices}: incompatible versions",
    ),
    "probe.hidden_by_env": Text(
        "{device}: {reason}",
        "The boards are there; a variable hides them from this process.",
        "the variable names the devices to use, or is not set",
        several="{devices}: hidden by the environment",
    ),
    "probe.disabled": Text("{device}: {reason}", several="{devices} left out on request"),
    # ---- framework.build
    "torch.installed": Text("torch {version}, built for {toolkits}"),
    "torch.missing": Text("torch is not installed: devices cannot be opened, boards can be listed"),
    "torch.unreadable": Text(
        "{path} answers to the name torch, but is not an installed torch",
        "A folder or file of that name hides the real package, or the installation is damaged.",
        "a torch with its version.py",
    ),
    "torch.old": Text(
        "torch {version} is older than accelhal supports",
        "Opening any device raises an error.",
        "torch {minimum} or newer",
    ),
    # ---- framework.autoload
    "autoload.none": Text("nothing is loaded inside `import torch`"),
    "autoload.on": Text("`import torch` also loads {names}"),
    "autoload.off": Text("{variable}={value}: `import torch` does not load {names}"),
    "autoload.unsupported": Text("{names} registered for autoload, which this torch does not do"),
    "autoload.missing": Text(
        "every `import torch` fails: it loads {package}, which is not there",
        "{distribution} registered it to be loaded inside `import torch`; {reason}. accelhal "
        "loads torch without it.",
        "the package is installed, or its distribution removed",
    ),
    "autoload.broken": Text(
        "`import torch` fails where it loads {package}: {reason}",
        "{distribution} registered it to be loaded inside `import torch`, where one failure fails "
        "the whole import. accelhal loads torch without it.",
        "the package loads, or autoload is off",
    ),
    # ---- framework.privateuse1
    "privateuse1.none": Text("torch's place for an out-of-tree device is free"),
    "privateuse1.one": Text("torch's place for an out-of-tree device goes to {packages}"),
    "privateuse1.several": Text(
        "several packages claim torch's one place for an out-of-tree device: {packages}",
        "The one loaded first gets it; the others fail in that process.",
        "one of them in each environment, or a process for each with autoload off",
    ),
    # ---- framework.sees
    "sees.no_torch": Text("nothing to import: torch is not installed"),
    "sees.loaded": Text("{package} {version} imports", several="{packages} import"),
    "sees.devices": Text("{device}: torch sees {count}"),
    "sees.no_device": Text(
        "{device}: torch sees no device, though a board is here",
        "The package imports, but its runtime finds nothing to use.",
        "as many devices as boards are visible to this process",
    ),
    "sees.fewer": Text(
        "{device}: torch sees {count} of {expected} devices",
        "The runtime leaves boards out: not healthy, in use, or of another kind.",
        "{expected} devices",
    ),
    "sees.count_failed": Text(
        "{device}: {package} imports, but its devices cannot be counted: {error}",
        "It happened at: torch.{device}.device_count().",
        "a number of devices",
    ),
    "sees.raised": Text(
        "{package} does not import: {detail}",
        "It happened at: {step}.",
        "the import ends without error",
    ),
    "sees.killed": Text(
        "{package} kills the process with {detail}",
        "It happened at: {step}. A program that imports it ends there, without a traceback.",
        "the import ends without error",
    ),
    "sees.exited": Text(
        "{package} ends the process: {detail}",
        "It happened at: {step}. A program that imports it ends there.",
        "the import ends without error",
    ),
    "sees.hung": Text(
        "{package} hangs: {detail}",
        "It happened at: {step}. The driver may not answer; its kernel log says more.",
        "the import ends within seconds",
    ),
}


@dataclass(frozen=True)
class Wording:
    """A finding in words."""

    title: str
    cause: str
    expected: str


def wording(finding: Finding) -> Wording:
    """The finding's text, its parameters filled in."""
    text = TEXTS[finding.code]
    params = {**finding.params, "device": finding.device or "the host"}
    return Wording(
        text.title.format_map(params),
        text.cause.format_map(params),
        text.expected.format_map(params),
    )


def summary(findings: list[Finding]) -> str:
    """One line for findings of one code."""
    text = TEXTS[findings[0].code]
    if len(findings) == 1 or not text.several:
        return "; ".join(wording(finding).title for finding in findings)
    lists = {
        "devices": ", ".join(finding.device or "the host" for finding in findings),
        "packages": ", ".join(str(finding.params.get("package", "")) for finding in findings),
    }
    return text.several.format_map({**findings[0].params, **lists})
