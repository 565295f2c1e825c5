"""Where the knowledge of a backend's operators comes from: this process, or a record.

Nothing here imports torch before accelhal has loaded it with its guards.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from accelhal.device_name import DeviceName
from accelhal.errors import AccelhalError, BackendLoadError, UsageError, did_you_mean
from accelhal.host import Host
from accelhal.host.torch_install import minor_release
from accelhal.registry import open_backend
from accelhal.registry.extensions import load_extension
from accelhal.registry.listing import backends, find_backend
from accelhal.runtimes import cpu_spec
from accelhal.runtimes.operator_record import (
    OperatorRecord,
    OperatorSupport,
    read_record,
)
from accelhal.runtimes.torch_loading import privateuse1_owner
from accelhal.spi import BackendSpec

if TYPE_CHECKING:
    from accelhal.operators.coverage import OperatorTable

EXTENSION = "operators"
"""The key of BackendSpec.extensions under which a plugin names its OperatorSupport."""

_PROCESSOR_KEY = "CPU"

_EVERY_BACKEND_HAS = "aten::empty.memory_format"
"""An operator without which no tensor can be made on a device."""


@dataclass(frozen=True)
class Knowledge:
    """What is known of a backend's operators, and why not more.

    Attributes:
        table: judges operators.
        live: whether it is the dispatcher of this process, with the backend loaded.
        remark: what limits it; empty where nothing does.
    """

    table: OperatorTable
    live: bool
    remark: str = ""


def find_backend_spec(name: DeviceName) -> BackendSpec:
    """The spec of a backend, whether or not it can be used here.

    Raises:
        UsageError: no installed backend has that name.
        BackendError: its plugin does not load.
    """
    found = find_backend(name.backend, name.distribution, Host())
    if found is None:
        known = [backend.name for backend in backends()]
        raise UsageError(
            f"no backend is named {name.backend!r}",
            operation="device",
            hint=f"{did_you_mean(name.backend, known)}installed: {', '.join(known)}",
        )
    if found.error is not None:
        raise found.error
    if found.spec is None:
        raise BackendLoadError(f"{name.backend}: {found.probe.reason}", hint=found.probe.hint)
    return found.spec


def knowledge(name: DeviceName, record_file: Path | None = None) -> Knowledge:
    """What is known of the operators of a backend: a given record, this process, or its plugin's.

    Raises:
        AccelhalError: torch is not installed, or the plugin or the record cannot be read.
    """
    spec = find_backend_spec(name)
    support = load_extension(spec, EXTENSION, OperatorSupport)
    if record_file is not None:
        record = read_record(record_file)
        open_backend(DeviceName(cpu_spec.SPEC.name))
        return _recorded(record, support)
    key, why = live_key(name)
    from accelhal.operators.coverage import DispatcherTable, UnknownTable

    records = support.records() if support else ()
    if key is not None:
        source = f"torch's dispatcher in this process, with {spec.name} loaded"
        # Where the backend's tensors lie on the processor, its kernels are the processor's.
        own = None if key == _PROCESSOR_KEY else support
        return Knowledge(DispatcherTable(key, own, source, records), live=True)
    chosen = choose_record(records, spec.torch_package)
    if chosen is None:
        why = (
            "the plugin has no record of operators: make one with "
            f"`python -m accelhal.operators.record {spec.name} FILE` where {spec.name} works, and "
            f"pass it with --record. It does not load here: {why}"
        )
        return Knowledge(UnknownTable(), live=False, remark=why)
    return _recorded(chosen, support)


def live_key(name: DeviceName) -> tuple[str | None, str]:
    """The backend's dispatch key where its kernels are registered in this process, else None.

    Opens the backend where that is possible. The second answer says why there is no key.
    """
    open_backend(DeviceName(cpu_spec.SPEC.name))  # loads torch with its guards
    import torch

    from accelhal.operators.composites import has_kernel

    device_type, why = name.backend, "it registers no kernels"
    try:
        device_type = open_backend(name).runtime.torch_device(0).type
    except AccelhalError as error:
        why = error.message
    # The package may have registered its kernels though it finds no board.
    if device_type == privateuse1_owner():
        key = "PrivateUse1"
    elif hasattr(torch._C.DispatchKey, device_type.upper()):
        key = str(torch._C._dispatch_key_for_device(device_type))
    else:
        return None, why
    return (key, "") if has_kernel(_EVERY_BACKEND_HAS, key) else (None, why)


def choose_record(records: Sequence[OperatorRecord], package: str | None) -> OperatorRecord | None:
    """The record of the package's installed release; without one, that of this torch's release.

    Where neither is recorded, the newest record.
    """
    installed = _installed(package) if package else None
    running = minor_release(_torch_version())
    of_package = (
        record
        for record in records
        if installed and minor_release(record.version) == minor_release(installed)
    )
    of_torch = (record for record in records if minor_release(record.torch) == running)
    return next(chain(of_package, of_torch, records), None)


def _recorded(record: OperatorRecord, support: OperatorSupport | None) -> Knowledge:
    from accelhal.operators.coverage import RecordTable

    running = _torch_version()
    remark = ""
    if minor_release(record.torch) != minor_release(running):
        remark = f"recorded with torch {record.torch}; the model is traced with torch {running}"
    return Knowledge(RecordTable(record, support), live=False, remark=remark)


def _torch_version() -> str:
    version: str = sys.modules["torch"].__version__
    return version


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
