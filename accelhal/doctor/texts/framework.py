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
    "torch.cpu_build": Text(
        "{device}: torch {version} is a build for the CPU alone",
        "It has no code for these boards: programs fall back to the CPU without a word.",
        "a build for {needed}",
    ),
    "torch.other_build": Text(
        "{device}: torch {version} is built for {toolkits}, not for these boards",
        "It has no code for these boards: programs fall back to the CPU without a word.",
        "a build for {needed}",
    ),
    # ---- framework.arch
    "arch.compiled": Text("{device}: the build has code for {chip}"),
    "arch.portable": Text("{device}: the driver compiles the build's code for {chip}"),
    "arch.no_word": Text("{device}: nothing that is installed is known to leave {chip} out"),
    "arch.unlisted": Text(
        "{device}: it is not known whether {left} {other_version} has code for {chip}"
    ),
    "arch.no_code": Text(
        "{device}: {change} {version} has no code for {chip} ({boards})",
        "Its first kernel fails: neither compiled code nor code for the driver to compile fits.",
        "a build with code for {chip}: {wanted}",
    ),
    "arch.excluded": Text(
        "{device}: {change} {version} does not run on {chip} ({boards})",
        "That generation of chips is not supported by this release.",
        "{wanted}, or other boards",
    ),
    "arch.driver_old": Text(
        "{device}: {change} {version} is too old to compile the build's code for {chip}",
        "The build has code only for the driver to compile, of a newer toolkit than the driver.",
        "{change} {wanted}",
    ),
    # ---- framework.match
    "pair.none": Text("{device}: no two versions to hold against one another"),
    "pair.fits": Text("{device}: {other} {other_version} goes with {change} {version}"),
    "pair.unlisted": Text(
        "{device}: nobody lists {other} {other_version} with {change} {version} (known: {partners})"
    ),
    "pair.too_old": Text(
        "{device}: {change} {version} is too old for {other} {other_version}",
        "{left} is built against {right} {partners}: imports fail with undefined symbols, or "
        "operators do.",
        "{change} {wanted}, or {right} {partners}",
    ),
    "pair.mismatch": Text(
        "{device}: {change} {version} does not go with {other} {other_version}",
        "{left} is built against {right} {partners}: its import fails, or its first operator.",
        "{change} {wanted}",
    ),
    # ---- framework.libpath
    "libpath.sound": Text("{device}: the toolkit's libraries are as the framework needs them"),
    "libpath.not_set_up": Text(
        "{device}: {package} needs {libraries}, which the loader does not find in {folder}",
        "The toolkit is installed, and its script was not sourced in this shell: the import fails.",
        "the script sourced before Python starts",
    ),
    "libpath.no_toolkit": Text(
        "{device}: {package} needs {libraries}, which are not there",
        "The vendor's toolkit is not installed, or not in this container: the import fails.",
        "the toolkit installed and its script sourced",
    ),
    "libpath.older": Text(
        "{device}: {variable} puts {library} {release} before that of torch, built for {built}",
        "Folders on the variable come first; an older release lacks what torch calls.",
        "{folder} off the variable",
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
    "sees.devices": Text("{device}: torch sees {count} of {boards}"),
    "sees.no_device": Text(
        "{device}: torch sees 0 of {boards}",
        "The package imports, but its runtime finds nothing to use.",
        "as many devices as boards are visible to this process",
    ),
    "sees.fewer": Text(
        "{device}: torch sees {count} of {boards}",
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
