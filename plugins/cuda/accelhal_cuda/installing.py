"""Commands that install NVIDIA's driver, reload it, and give boards to containers."""

from __future__ import annotations

from accelhal.facts.compatibility import PairState, PairVerdict
from accelhal.spi.versions import version_key
from accelhal_cuda.compatibility import minimum_driver, rows

INSTALL = (
    "sudo apt install --reinstall linux-headers-{kernel}",
    "sudo dkms autoinstall -k {kernel}",
    "sudo modprobe nvidia && nvidia-smi",
    "sudo apt-mark hold 'nvidia-driver-*' 'linux-image-*'",
)

RELOAD = (
    "sudo reboot",
    "sudo rmmod nvidia_drm nvidia_modeset nvidia_uvm nvidia && sudo modprobe nvidia",
)

CONTAINER_FLAGS = (
    "--gpus all",
    "-e NVIDIA_DRIVER_CAPABILITIES=compute,utility",
    "--device /dev/nvidiactl",
    "--device /dev/nvidia-uvm",
    "--device /dev/nvidia{index}",
)
"""The nodes are named too: then the rights on them survive `systemctl daemon-reload`."""

RUN = "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility <image> <command>"

CDI = (
    "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
    "docker run --device nvidia.com/gpu=all <image> <command>",
)

NO_NOUVEAU = (
    "printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' "
    "| sudo tee /etc/modprobe.d/blacklist-nouveau.conf "
    "&& sudo update-initramfs -u && sudo reboot"
)


def mend(verdict: PairVerdict) -> tuple[str, ...]:
    """A driver for the toolkit, and a torch for the driver."""
    if verdict.state is not PairState.TOO_OLD or verdict.change != "driver":
        return ()
    wanted = min((one.lstrip(">=") for one in verdict.wanted), key=version_key)
    branch = wanted.partition(".")[0]
    update = f"sudo apt install nvidia-driver-{branch} && sudo reboot  # {wanted} or newer"
    build = _build_for(verdict.found["driver"])
    if build is None:
        return (update,)
    index = f"https://download.pytorch.org/whl/{build}"
    return (update, f"pip install --force-reinstall torch --index-url {index}")


def _build_for(driver: str) -> str | None:
    """The newest build of torch for a toolkit that the driver runs."""
    minimum = {
        row.build: minimum_driver(f"{row.build[2:-1]}.{row.build[-1]}") for row in rows().builds
    }
    runs = [
        build
        for build, oldest in minimum.items()
        if oldest is not None and version_key(oldest) <= version_key(driver)
    ]
    return max(runs, key=lambda build: int(build[2:]), default=None)
