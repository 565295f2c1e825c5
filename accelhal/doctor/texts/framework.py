"""What the doctor says of torch and its vendor packages."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

TEXTS: Mapping[str, Text] = {
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
