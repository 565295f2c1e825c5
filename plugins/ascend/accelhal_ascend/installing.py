"""Commands that install Huawei's driver and firmware, and give boards to containers."""

from __future__ import annotations

from accelhal.facts.compatibility import PairState, PairVerdict
from accelhal.spi.versions import version_key

_DRIVER = "Ascend-hdk-<chip>-npu-driver_{version}_linux-$(uname -m).run"
_FIRMWARE = "sudo ./Ascend-hdk-<chip>-npu-firmware_<version>.run --upgrade"

INSTALL = (
    "sudo apt install linux-headers-{kernel} dkms",
    f"sudo ./{_DRIVER.format(version='<version>')} --full --install-for-all",
    "sudo ./Ascend-hdk-<chip>-npu-firmware_<version>.run --full",
    "sudo reboot",
    "npu-smi info",
)

MOUNTS = (
    "/usr/local/Ascend/driver/lib64",
    "/usr/local/Ascend/driver/version.info",
    "/usr/local/dcmi",
    "/usr/local/bin/npu-smi",
    "/etc/ascend_install.info",
)

CONTAINER_FLAGS = (
    "--device /dev/davinci{index}",
    "--device /dev/davinci_manager",
    "--device /dev/devmm_svm",
    "--device /dev/hisi_hdc",
    *(f"-v {path}:{path}" for path in MOUNTS),
)
"""The documented options (docs of vllm-ascend); Ascend Docker Runtime gives the same."""

RUN = f"docker run {' '.join(CONTAINER_FLAGS).replace('{index}', '0')} <image> <command>"


def mend(verdict: PairVerdict) -> tuple[str, ...]:
    """The driver's package that is wanted, and its firmware."""
    if verdict.state is not PairState.TOO_OLD or verdict.change not in ("driver", "firmware"):
        return ()
    if verdict.change == "firmware":
        return (_FIRMWARE, "sudo reboot")
    wanted = min((one.lstrip(">=") for one in verdict.wanted), key=version_key, default="<version>")
    package = _DRIVER.format(version=wanted)
    return (f"sudo ./{package} --upgrade", _FIRMWARE, "sudo reboot")
