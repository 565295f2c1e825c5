"""Every name of the simulated binding is declared by torch, with the same parameters."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import torch
import torch.cuda
from vendor_stacks.cuda import binding, graphs, streams
from vendor_stacks.cuda.declaration import read_declaration
from vendor_stacks.cuda.process import run_python
from vendor_stacks.cuda.settings import Settings

DECLARED = read_declaration()
UNDECLARED = {"_cuda_isInBadFork"}
"""What torch.cuda uses although the declaration leaves it out."""

NOT_DECLARED_PARAMETERS = {"device_type"}
"""torch.cuda.current_stream passes it to the stream's base, whose declaration leaves it out."""

CLASSES = {
    "_CudaStreamBase": streams.make_stream_base(torch._C),
    "_CudaEventBase": streams.make_event_base(torch._C),
    "_CUDAGraph": graphs._CUDAGraph,
}


def parameters(function: object) -> list[str]:
    names = list(inspect.signature(function).parameters)  # type: ignore[arg-type]
    return [name for name in names if name not in ("self", "cls")]


@pytest.mark.parametrize("name", sorted(binding.FUNCTIONS.keys() - UNDECLARED))
def test_a_function_has_the_declared_parameters(name: str) -> None:
    assert parameters(binding.FUNCTIONS[name]) == DECLARED.functions[name]


@pytest.mark.parametrize("name", sorted(UNDECLARED))
def test_an_undeclared_function_is_one_that_torch_uses(name: str) -> None:
    assert f'"{name}"' in inspect.getsource(torch.cuda)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("_graph_pool_handle", graphs._graph_pool_handle),
        ("_cuda_isCurrentStreamCapturing", graphs._cuda_isCurrentStreamCapturing),
        ("_host_emptyCache", binding._host_emptyCache),
    ],
)
def test_a_function_of_a_graph_has_the_declared_parameters(name: str, function: object) -> None:
    assert parameters(function) == DECLARED.functions[name]


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_class_has_the_declared_methods(name: str) -> None:
    declared = DECLARED.methods[name]
    own = {
        method: value
        for method, value in vars(CLASSES[name]).items()
        if method in declared or not method.startswith("_")
    }
    for method, value in own.items():
        if isinstance(value, property):
            assert method in DECLARED.fields[name], f"{name}.{method} is no declared field"
        elif inspect.isroutine(getattr(CLASSES[name], method)):
            found = parameters(getattr(CLASSES[name], method))
            known = [each for each in found if each not in NOT_DECLARED_PARAMETERS]
            assert known == declared[method], f"{name}.{method}({', '.join(found)})"


def test_torch_cuda_is_torch_s_own(stack: Settings) -> None:
    """Nothing of torch.cuda is replaced: each function comes from torch's own files."""
    code = """
import inspect, torch
print(*vars(torch.cuda.get_device_properties(0)))
for name in torch.cuda.__all__:
    value = getattr(torch.cuda, name, None)
    if inspect.isroutine(value) or inspect.isclass(value):
        print(name, value.__module__.partition(".")[0])
"""
    properties, *lines = run_python(code, stack).splitlines()
    assert set(properties.split()) <= DECLARED.fields["_CudaDeviceProperties"]
    assert len(lines) > 50
    assert {line.split()[1] for line in lines} == {"torch"}


def test_this_process_is_left_alone() -> None:
    """The tests' own process has torch as it is installed."""
    built = Path(torch.__file__).parent / "lib" / "libtorch_cuda.so"
    assert hasattr(torch._C, "_cuda_init") is built.exists()
