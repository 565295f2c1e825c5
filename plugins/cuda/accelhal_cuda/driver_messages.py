"""What lines of programs, the loader and NVIDIA's tools say of driver, libraries and containers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from accelhal.spi.doctor import MessageRule, Text
from accelhal_cuda.installing import CDI, INSTALL, RELOAD, RUN

TEXTS: Mapping[str, Text] = {
    "nvidia.no_driver": Text(
        "{device}: the tools do not reach a kernel driver",
        "No module of the driver is loaded: it was not built for the running kernel, an automatic "
        "upgrade parted kernel and driver, or it failed to start.",
        "the module nvidia is loaded",
    ),
    "nvidia.mismatch": Text(
        "{device}: the driver's libraries and its loaded module are of different releases",
        "An upgrade replaced the libraries, and the module before it is still loaded.",
        "both are of one release",
    ),
    "nvidia.compat": Text(
        "{device}: error 804: libcuda of cuda-compat was taken, and the board does not support it",
        "The image's cuda-compat comes before the driver's own library; forward compatibility is "
        "for data-centre boards.",
        "the driver's own libcuda, or a driver as new as the image's CUDA release",
    ),
    "nvidia.cgroup": Text(
        "{device}: NVML does not start: Unknown Error",
        "The nodes are there and this container lost the right to open them: a systemctl "
        "daemon-reload on the host rewrote its device rules.",
        "the container is started with its nodes by CDI or --device",
    ),
    "nvidia.no_right": Text(
        "{device}: no right to open the driver's nodes",
        "The process may not open /dev/nvidia*.",
        "read and write rights on the nodes",
    ),
    "nvidia.uvm": Text(
        "{device}: error 999, unknown: the module nvidia_uvm is in a bad state or has no node",
        "After the machine slept, or without /dev/nvidia-uvm, the first call of CUDA fails so, "
        "and nvidia-smi still works.",
        "nvidia_uvm is loaded anew, and /dev/nvidia-uvm is there",
    ),
    "nvidia.too_old": Text(
        "{device}: the driver is too old for the CUDA release of the program",
        "The program was built with a newer CUDA release than the driver runs.",
        "a driver as new as that release, or a build for the release that the driver runs",
    ),
    "nvidia.no_library": Text(
        "{device}: the driver's libraries are not found",
        "The driver's libraries are not installed, or were not given to the container.",
        "the loader finds libcuda.so.1 and libnvidia-ml.so.1",
    ),
    "nvidia.no_runtime": Text(
        "{device}: docker cannot give boards to containers",
        "NVIDIA's container toolkit is not installed, or docker was not told of it.",
        "the container toolkit is installed and docker's runtime is set up",
    ),
    "nvidia.symbol": Text(
        "{device}: the driver's library has no {symbol}",
        "The library is of another release than the program was built for.",
        "a driver that has the function, or a program that asks for each function by itself",
    ),
}

_LOST_LIBRARY = re.compile(
    r"lib(?:cuda|nvidia-ml)\.so\S*(?:: cannot open shared object|.*No such file)"
    r"|NVML Shared Library Not Found|couldn't find libnvidia-ml\.so",
    re.IGNORECASE,
)

MESSAGES: tuple[MessageRule, ...] = (
    MessageRule(
        pattern=re.compile(
            r"communicate with the NVIDIA driver|NVML: Driver Not Loaded"
            r"|NVML does not start: Driver Not Loaded|Module nvidia not found in directory"
        ),
        needle="",
        check="driver.module",
        code="nvidia.no_driver",
        commands=INSTALL,
        needs_root=True,
    ),
    MessageRule(
        pattern=re.compile(
            r"Driver/library version mismatch|unsupported display driver / cuda driver combination"
            r"|CUDA error 803|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
        ),
        needle="",
        check="driver.match",
        code="nvidia.mismatch",
        commands=RELOAD,
        needs_root=True,
        disturbs=True,
    ),
    MessageRule(
        pattern=re.compile(
            r"forward compatibility was attempted on non supported HW|\berror:? 804\b"
            r"|CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE|^804 forward compatibility"
        ),
        needle="",
        check="driver.userlib",
        code="nvidia.compat",
        commands=(
            "ldconfig -p | grep libcuda.so.1",
            'echo "$LD_LIBRARY_PATH" | tr : "\\n" | grep compat  # take that folder off the path',
        ),
    ),
    MessageRule(
        pattern=re.compile(r"NVML: Unknown Error|NVML does not start: Unknown Error"),
        needle="Unknown Error",
        check="container.cgroup",
        code="nvidia.cgroup",
        commands=("docker restart <container>", *CDI),
        disturbs=True,
    ),
    MessageRule(
        pattern=re.compile(r"NVML(?: does not start)?: Insufficient Permissions"),
        needle="Insufficient Permissions",
        check="driver.nodes",
        code="nvidia.no_right",
        commands=("ls -l /dev/nvidia*", "nvidia-smi"),
    ),
    MessageRule(
        pattern=re.compile(
            r"CUDA unknown error|CUDA error: unknown error|\berror(?: code)?:? 999\b"
            r"|CUDA_ERROR_UNKNOWN|cudaErrorUnknown|^999 unknown"
        ),
        needle="",
        check="driver.nodes",
        code="nvidia.uvm",
        commands=(
            "ls -l /dev/nvidia-uvm",
            "sudo nvidia-modprobe -u -c=0",
            "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm",
        ),
        needs_root=True,
        disturbs=True,
    ),
    MessageRule(
        pattern=re.compile(
            r"NVIDIA driver on your system is too old|CUDA driver version is insufficient"
            r"|unsatisfied condition: cuda>=|compiled with an unsupported toolchain"
        ),
        needle="",
        check="driver.toolkit",
        code="nvidia.too_old",
        commands=("nvidia-smi", "python -c 'import torch; print(torch.version.cuda)'"),
    ),
    MessageRule(
        pattern=_LOST_LIBRARY,
        needle="",
        check="container.mounts",
        code="nvidia.no_library",
        commands=(RUN,),
        disturbs=True,
        only_contained=True,
    ),
    MessageRule(
        pattern=_LOST_LIBRARY,
        needle="",
        check="driver.userlib",
        code="nvidia.no_library",
        commands=("ldconfig -p | grep -E 'libcuda|libnvidia-ml'", RUN),
        only_contained=False,
    ),
    MessageRule(
        pattern=re.compile(r"could not select device driver .*gpu"),
        needle="could not select device driver",
        check="container.mounts",
        code="nvidia.no_runtime",
        commands=(
            "sudo apt install nvidia-container-toolkit",
            "sudo nvidia-ctk runtime configure --runtime=docker",
            "sudo systemctl restart docker",
        ),
        needs_root=True,
        disturbs=True,
    ),
    MessageRule(
        pattern=re.compile(r"undefined symbol: (?P<symbol>nvml\w+)"),
        needle="undefined symbol: nvml",
        check="driver.userlib",
        code="nvidia.symbol",
        commands=("ldconfig -p | grep libnvidia-ml", "nvidia-smi"),
    ),
)
