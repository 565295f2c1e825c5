"""A simulated backend with one rule broken, and the suite that must find out.

A subclass of OnBrokenBackend says in its docstring what is wrong, and in `fails` which rules must
say so. Rules of other groups must hold, except in the groups named in `also`, where the same fault
shows too.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, ClassVar

import accelhal_mock
import pytest
from accelhal_mock.conformance import SimulatedBoards
from accelhal_mock.management import SimulatedManagement
from accelhal_mock.runtime import PythonRuntime
from accelhal_mock.spec import SPEC

import accelhal
from accelhal.facade import Device
from accelhal.spi import Management, Runtime
from accelhal.testing.child_process import ChildProcess
from accelhal.testing.suite import BackendSuite, not_applicable

BROKEN: dict[str, type[OnBrokenBackend]] = {}
"""Every broken backend, by the name of its class."""


class OnBrokenBackend(SimulatedBoards, BackendSuite):
    """The whole suite on one broken backend.

    Attributes:
        fails: rules that must fail.
        also: groups beside theirs in which the fault shows.
        tasks: child processes that may run; the fault is about them. The others take seconds each.
        spec_changes: fields of the mock's spec to replace.
        facade_changes: methods of accelhal.Device to replace, where the fault is the facade's.
    """

    backend = "mock"
    fails: ClassVar[frozenset[str]] = frozenset()
    also: ClassVar[frozenset[str]] = frozenset()
    tasks: ClassVar[frozenset[str]] = frozenset()
    spec_changes: ClassVar[Mapping[str, Any]] = {}
    facade_changes: ClassVar[Mapping[str, Any]] = {}
    work_rounds = 4
    matrix_size = 64
    allocation_bytes = 4 << 20

    Runtime: ClassVar[type[Runtime]] = PythonRuntime
    Management: ClassVar[type[Management]] = SimulatedManagement

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        BROKEN[cls.__name__] = cls

    registration: ClassVar[ExitStack]

    @classmethod
    def register(cls) -> ExitStack:
        """Put the broken backend in the mock's place, in this process."""

        def open_runtime() -> Runtime:
            return cls.Runtime("mock")  # type: ignore[call-arg]

        # A missing wait must be found by the rule, not by the simulation.
        accelhal_mock.install(count=2, memory="256MiB", mode="python", hazards="off")
        changes = {
            "open_runtime": open_runtime,
            "open_management": cls.Management,
            **cls.spec_changes,
        }
        return accelhal.register(replace(SPEC, **changes), override=True)

    @classmethod
    def setup_class(cls) -> None:
        cls.registration = cls.register()
        patched = pytest.MonkeyPatch()
        for name, method in cls.facade_changes.items():
            patched.setattr(Device, name, getattr(method, "__func__", method))
        cls.registration.callback(patched.undo)
        gc.collect()
        gc.freeze()  # the rules collect garbage, and thousands of tests lie in memory

    @classmethod
    def teardown_class(cls) -> None:
        cls.registration.close()

    def start_child(self, task: str, /, **arguments: Any) -> ChildProcess:
        if task not in self.tasks:
            not_applicable(f"the fault is not about {task}")
        return super().start_child(task, **arguments)
