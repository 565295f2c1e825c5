"""Commands that install Cambricon's driver and toolkit, and give boards to containers."""

from __future__ import annotations

from accelhal.facts.compatibility import PairState, PairVerdict
from accelhal.spi.versions import version_key

INSTALL = (
    "sudo apt install linux-headers-{kernel} dkms",
    "sudo dpkg -i cambricon-mlu-driver-<system>-dkms_<version>_<machine>.deb",
    "sudo dkms autoinstall -k {kernel}",
    "sudo modprobe cambricon-drv",
    "cnmon",
)

CONTAINER_FLAGS = (
    "--device /dev/cambricon_ctl",
    "--device /dev/cambricon_dev{index}",
    "-v /usr/bin/cnmon:/usr/bin/cnmon",
)

RUN = f"docker run {' '.join(CONTAINER_FLAGS).replace('{index}', '0')} <image> <command>"


def mend(verdict: PairVerdict) -> tuple[str, ...]:
    """The driver's package that is wanted."""
    if verdict.state is not PairState.TOO_OLD or verdict.change != "driver":
        return ()
    wanted = min((one.lstrip(">=") for one in verdict.wanted), key=version_key, default="<version>")
    return (
        f"sudo dpkg -i cambricon-mlu-driver-<system>-dkms_{wanted}_<machine>.deb",
        "sudo reboot",
    )
