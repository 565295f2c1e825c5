"""What a host with NVIDIA boards looks like to the doctor."""

from __future__ import annotations

import re

from accelhal.facts.faults import FaultAction
from accelhal.spi.doctor import VendorHost
from accelhal_cuda import installing, peer_memory_rule, persistence_rule
from accelhal_cuda.board_chips import chip_of
from accelhal_cuda.compat_library_rule import judge_libraries
from accelhal_cuda.debug_variables import DEBUG_VARIABLES
from accelhal_cuda.messages import MESSAGES
from accelhal_cuda.torch_wheels import install_torch
from accelhal_cuda.versions import MODULE_FILE, component_versions

HOST = VendorHost(
    modules=("nvidia",),
    foreign_drivers={"nouveau": installing.NO_NOUVEAU},
    libraries=("libcuda.so.1", "libnvidia-ml.so.1"),
    library_folders=("/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"),
    library_rule=judge_libraries,
    packages=("nvidia-nccl-cu12", "nvidia-nccl-cu13"),
    files=(MODULE_FILE, peer_memory_rule.CLIENTS),
    services=(persistence_rule.SERVICE, "nvidia-fabricmanager.service"),
    variables=("NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "CUDA_HOME", "CUDA_PATH"),
    mounts=("libcuda.so.1", "libnvidia-ml.so.1", "nvidia-smi"),
    container_flags=installing.CONTAINER_FLAGS,
    versions=component_versions,
    same_release=(("driver", "library"),),
    install=installing.INSTALL,
    reload=installing.RELOAD,
    mend=installing.mend,
    messages=MESSAGES,
    debug_variables=DEBUG_VARIABLES,
    torch_build="cuda",
    chip_of=chip_of,
    install_framework=install_torch,
    runtime_libraries=("libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"),
    slice_prefix="MIG-",
    one_slice=True,
    make_slices=(
        "sudo nvidia-smi mig -i {index} -lgip",
        "sudo nvidia-smi mig -i {index} -cgi <profile> -C",
    ),
    who_holds=("nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv",),
    share_board=("sudo nvidia-smi -i {index} -c DEFAULT",),
    hang_trials=("NCCL_DEBUG=INFO <command>", "NCCL_P2P_DISABLE=1 <command>"),
    allocator_settings=("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",),
    profilers=("dcgmi dmon -e 1002,1003,1004 -d 1000 -c 60", "ncu --set full <command>"),
    occupancy=re.compile(
        r'DCGM_FI_PROF_SM_OCCUPANCY\{[^}]*gpu="(?P<index>\d+)"[^}]*\} (?P<share>[01](?:\.\d+)?)\b'
    ),
    bandwidth_is_time=True,
    remedies={
        FaultAction.RESET: ("sudo nvidia-smi --gpu-reset -i {index}",),
        FaultAction.REBOOT: ("sudo reboot",),
        FaultAction.COLLECT: ("sudo nvidia-bug-report.sh",),
    },
    log_families=("xid", "sxid"),
    links="nvlink",
    repair_limits=(63, 63),
    power_resets=("sudo nvidia-smi -i {index} -pl {watts}",),
    clock_resets=("sudo nvidia-smi -i {index} -rgc", "sudo nvidia-smi -i {index} -rac"),
)
