"""Recording a backend's kernels where it works, to check models where it does not.

`python -m accelhal.operators.record DEVICE FILE [OPERATOR...]` writes the record; the operators
named are those whose kernel computes on the host in some cases, which the dispatcher does not know.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from accelhal.device_name import parse_device_name
from accelhal.errors import AccelhalError, BackendLoadError
from accelhal.operators.sources import find_backend_spec, live_key
from accelhal.runtimes.operator_record import OperatorRecord, record_text


def record(device: str, conditional: Sequence[str] = ()) -> OperatorRecord:
    """The kernels that the backend has registered in this process.

    Raises:
        AccelhalError: no such backend, or it does not load here.
    """
    name = parse_device_name(device)
    spec = find_backend_spec(name)
    key, why = live_key(name)
    if key is None:
        raise BackendLoadError(
            f"{spec.name} has no kernels in this process: {why}",
            backend=spec.name,
            operation="record",
            hint="record where the backend's torch package loads",
        )
    import torch

    package = spec.torch_package or "torch"
    registered = torch._C._dispatch_get_registrations_for_dispatch_key
    return OperatorRecord(
        package=package,
        version=_release(metadata.version(package)),
        torch=_release(torch.__version__),
        source=f"registrations for {key} in torch's dispatcher, {package} loaded",
        fallback=torch._C._dispatch_has_backend_fallback(torch._C._dispatch_key_parse(key)),
        kernels=frozenset([*registered(key), *registered(f"Autograd{key}")]),
        conditional=frozenset(conditional),
    )


def _release(version: str) -> str:
    return version.partition("+")[0]


def _main(arguments: Sequence[str]) -> int:
    if len(arguments) < 2:
        print("usage: python -m accelhal.operators.record DEVICE FILE [OPERATOR...]")
        return 4
    device, file, *conditional = arguments
    try:
        Path(file).write_text(record_text(record(device, conditional)), encoding="utf-8")
    except AccelhalError as error:
        print(f"accelhal: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    raise SystemExit(_main(sys.argv[1:]))
