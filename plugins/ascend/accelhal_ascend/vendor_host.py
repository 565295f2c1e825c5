"""What a host with Ascend boards looks like to the doctor."""

from __future__ import annotations

from accelhal.facts.faults import FaultAction
from accelhal.spi.doctor import VendorHost
from accelhal_ascend import installing, versions
from accelhal_ascend.debug_variables import DEBUG_VARIABLES
from accelhal_ascend.framework_install import SETUP, install_framework
from accelhal_ascend.messages import MESSAGES

HOST = VendorHost(
    modules=("drv_davinci_intf_host", "drv_devmng_host", "drv_pcie_host", "drv_devmm_host"),
    libraries=("libascend_hal.so",),
    library_folders=(
        "/usr/local/Ascend/driver/lib64/driver",
        "/usr/local/Ascend/driver/lib64",
    ),
    packages=tuple(versions.PACKAGES.values()),
    files=(*versions.FILES, "/etc/hccn.conf"),
    variables=(
        "ASCEND_VISIBLE_DEVICES",
        "ASCEND_DOCKER_RUNTIME",
        "ASCEND_HOME_PATH",
        "ASCEND_TOOLKIT_HOME",
        "ASCEND_OPP_PATH",
    ),
    mounts=installing.MOUNTS,
    container_flags=installing.CONTAINER_FLAGS,
    versions=versions.component_versions,
    install=installing.INSTALL,
    mend=installing.mend,
    messages=MESSAGES,
    debug_variables=DEBUG_VARIABLES,
    install_framework=install_framework,
    toolkit_setup=SETUP,
    toolkit_libraries=("libhccl.so",),
    toolkit_folders=(
        "$ASCEND_HOME_PATH/lib64",
        "$ASCEND_TOOLKIT_HOME/lib64",
        "/usr/local/Ascend/ascend-toolkit/latest/lib64",
        "/usr/local/Ascend/cann/lib64",
    ),
    who_holds=("npu-smi info",),
    links="hccs",
    remedies={
        FaultAction.RESET: ("sudo npu-smi set -t reset -i {card} -c {chip}",),
        FaultAction.REBOOT: ("sudo reboot",),
    },
    repair_limits=(16, 64),
    profilers=("msprof --ai-core=on --output=profile <command>",),
    hang_trials=("HCCL_EXEC_TIMEOUT=300 <command>",),
    allocator_settings=("export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",),
)
