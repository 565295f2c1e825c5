"""What a host with Cambricon boards looks like to the doctor."""

from __future__ import annotations

from accelhal.facts.faults import FaultAction
from accelhal.spi.doctor import VendorHost
from accelhal_cambricon import installing, versions
from accelhal_cambricon.debug_variables import DEBUG_VARIABLES
from accelhal_cambricon.framework_install import SETUP, install_framework
from accelhal_cambricon.messages import MESSAGES

_FOLDERS = ("$NEUWARE_HOME/lib64", "/usr/local/neuware/lib64", "/usr/local/neuware/lib")
"""Where the toolkit puts its libraries."""

HOST = VendorHost(
    modules=("cambricon_drv",),
    libraries=("libcndev.so",),
    library_folders=_FOLDERS,
    packages=versions.PACKAGES,
    files=(versions.NEUWARE_FILE,),
    variables=("CAMBRICON_VISIBLE_DEVICES", "NEUWARE_HOME"),
    mounts=("/usr/bin/cnmon",),
    container_flags=installing.CONTAINER_FLAGS,
    versions=versions.component_versions,
    install=installing.INSTALL,
    mend=installing.mend,
    messages=MESSAGES,
    debug_variables=DEBUG_VARIABLES,
    install_framework=install_framework,
    toolkit_setup=SETUP,
    toolkit_libraries=("libcnrt.so",),
    toolkit_folders=_FOLDERS,
    who_holds=("cnmon",),
    share_board=("cnmon info -c {index}",),
    log_families=("xid",),
    links="mlulink",
    remedies={FaultAction.REBOOT: ("sudo reboot",)},
    profilers=("cnperf-cli record <command>",),
    allocator_settings=("export PYTORCH_MLU_ALLOC_CONF=expandable_segments:True",),
)
