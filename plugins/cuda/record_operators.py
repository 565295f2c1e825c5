"""Writes the record of torch's CUDA kernels from the declarations that any build of torch carries.

    python plugins/cuda/record_operators.py FILE

torchgen, which every torch wheel holds, ships native_functions.yaml: the dispatch entries from
which torch's registrations are generated. Needs PyYAML. What torch registers by hand (a handful of
quantized operators) is not in it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import torch
import torchgen
from torchgen.gen import get_grouped_native_functions, parse_native_yaml
from torchgen.model import BackendIndex, DispatchKey, NativeFunction, NativeFunctionsGroup

from accelhal.runtimes.operator_record import OperatorRecord, record_text


def kernels(key: str) -> frozenset[str]:
    """The operators that torch declares a kernel of a dispatch key for."""
    folder = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    index = parsed.backend_indices[DispatchKey[key]]
    return frozenset(
        f"aten::{function.func.name}"
        for group in get_grouped_native_functions(parsed.native_functions)
        for function in _with_kernel(group, index)
    )


def _with_kernel(
    group: NativeFunction | NativeFunctionsGroup, index: BackendIndex
) -> Iterator[NativeFunction]:
    if isinstance(group, NativeFunction):
        if index.has_kernel(group):
            yield group
        return
    for function in group.functions():
        # The functional and in-place forms of a structured operator come with its out form.
        delegated = function.structured_delegate is not None and index.has_kernel(group.out)
        if delegated or index.has_kernel(function):
            yield function


def main(file: str) -> None:
    """Write the record."""
    release = torch.__version__.partition("+")[0]
    record = OperatorRecord(
        package="torch",
        version=release,
        torch=release,
        source="CUDA entries of torchgen's native_functions.yaml",
        fallback=False,  # an operator without a kernel raises NotImplementedError
        kernels=kernels("CUDA"),
    )
    Path(file).write_text(record_text(record), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
