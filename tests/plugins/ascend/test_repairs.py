from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from accelhal_ascend.repairs import repair


def test_a_forked_child_is_marked_and_its_parent_is_not() -> None:
    read, write = os.pipe()
    marks: list[object] = []
    repair(SimpleNamespace(_after_fork=marks.append))
    child = os.fork()
    if child == 0:
        os.write(write, str(len(marks)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert (os.read(read, 1), marks) == (b"1", [])
    os.close(read)
    os.close(write)


def test_a_deferred_call_fails_with_the_error_that_was_meant() -> None:
    module = SimpleNamespace(_DeferredNpuCallError=KeyError)
    repair(module)
    assert module.DeferredNpuCallError is KeyError


@pytest.mark.parametrize(
    "module", [SimpleNamespace(), SimpleNamespace(_DeferredNpuCallError=1, DeferredNpuCallError=2)]
)
def test_a_release_without_the_gaps_stays_as_it_is(module: SimpleNamespace) -> None:
    before = dict(vars(module))
    repair(module)
    assert vars(module) == before
