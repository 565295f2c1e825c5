"""What every group stands on: the devices under test, and how a backend's tensors are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import pytest
import torch

from accelhal import facade
from accelhal.device_name import parse_device_name
from accelhal.errors import AccelhalError
from accelhal.facade import Device
from accelhal.host import Host
from accelhal.management.planes import open_management
from accelhal.registry import OpenBackend, is_open, open_backend
from accelhal.spi import BackendSpec, Management, Runtime
from accelhal.testing.child_process import ChildProcess
from accelhal.testing.pytest_plugin import MARKER, check_requirements
from accelhal.testing.suite.requirements import not_applicable


class SuiteBase:
    """Fixtures, and the places where a backend may differ. A plugin author overrides the latter.

    Attributes:
        backend: name of the backend ("npu").
        expected_failures: rule -> why this backend breaks it; one that holds after all fails.
        not_judged: rule -> why it cannot be tried where the suite runs, on a simulation that lacks
            what it needs. Shown as not applicable, with the reason.
        spec_location: "package.module:attribute" of the spec; the entry point's when None.
        child_setup: source that child processes run before they use the backend.
        child_limit_s: seconds after which a child process is ended and its rule failed.
        matrix_size: rows of the square matrices that the suite multiplies.
        work_rounds: products in the chain that is called slow work.
        allocation_bytes: what the memory rules allocate.
        memory_slack_bytes: by how much figures of an EMULATED device may be off: the kernel sums
            resident pages up lazily (proc_pid_status(5)).
        impossible_bytes: an allocation that no device can serve; more than 47 bits address.
        clock_slack_ms: by how much two streams' event times may disagree.
    """

    backend: ClassVar[str] = ""
    expected_failures: ClassVar[Mapping[str, str]] = {}
    not_judged: ClassVar[Mapping[str, str]] = {}
    spec_location: ClassVar[str | None] = None
    child_setup: ClassVar[str] = ""
    child_limit_s: ClassVar[float] = 120.0
    matrix_size: ClassVar[int] = 256
    work_rounds: ClassVar[int] = 32
    allocation_bytes: ClassVar[int] = 64 << 20
    memory_slack_bytes: ClassVar[int] = 4 << 20
    impossible_bytes: ClassVar[int] = 1 << 50
    clock_slack_ms: ClassVar[float] = 0.02

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        for table in ("expected_failures", "not_judged"):
            for name, reason in getattr(cls, table).items():
                if not hasattr(cls, name):
                    raise TypeError(f"{cls.__name__}.{table}: there is no rule {name!r}")
                if not reason:
                    raise TypeError(f"{cls.__name__}.{table}: {name} has no reason")

    # ---- where a backend may differ

    def put(self, tensor: torch.Tensor, device: Device) -> torch.Tensor:
        """A copy of a host tensor on the device."""
        return tensor.to(device.torch_device, copy=True)

    def get(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of a device's tensor on the host, complete when this returns."""
        return tensor.cpu()

    def allocate(self, nbytes: int, device: Device) -> torch.Tensor:
        """A tensor of that many bytes on the device."""
        return torch.empty(nbytes, dtype=torch.uint8, device=device.torch_device)

    def working(self) -> AbstractContextManager[Any]:
        """Context in which a rule's tensor work runs."""
        return nullcontext()

    def inject_fault(self, device: Device) -> AbstractContextManager[Any] | None:
        """Context in which the device's board is sick; None where that cannot be simulated."""
        return None

    # ---- fixtures

    @pytest.fixture(autouse=True)
    def _conditions(self, request: pytest.FixtureRequest) -> Iterator[None]:
        """Requirements checked, expected failures marked, the thread's device put back after."""
        if request.node.originalname in self.not_judged:
            not_applicable(self.not_judged[request.node.originalname])
        reason = self.expected_failures.get(request.node.originalname)
        if reason is not None:
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
        for marker in request.node.iter_markers(MARKER):
            found = self._open()
            first = min(_position(request), len(found) - 1)
            for device in found[first : max(first + 1, marker.kwargs.get("devices", 1))]:
                check_requirements(device, **marker.kwargs)
        with self.working():
            yield
        if is_open(parse_device_name(self.backend).backend) and self.runtime.current_device():
            self.runtime.set_device(0)

    @pytest.fixture
    def devices(self) -> list[Device]:
        """All devices of the backend."""
        return self._open()

    @pytest.fixture
    def device(self, request: pytest.FixtureRequest, devices: list[Device]) -> Device:
        """The first device; the second too for rules that are tried on both."""
        return devices[_position(request)]

    @pytest.fixture
    def other(self, devices: list[Device]) -> Device:
        """The second device; only for rules that require two."""
        return devices[1]

    # ---- the backend under test

    def _open(self) -> list[Device]:
        try:
            found = facade.devices(self.backend)
        except AccelhalError as error:
            pytest.fail(f"{self.backend!r} does not open: {error}", pytrace=False)
        if not found:
            pytest.fail(f"{self.backend!r} opens, but counts no device", pytrace=False)
        return found

    @property
    def opened(self) -> OpenBackend:
        """The backend as this process has opened it."""
        return open_backend(parse_device_name(self.backend))

    @property
    def runtime(self) -> Runtime:
        """The backend's runtime, below the facade."""
        return self.opened.runtime

    @property
    def management(self) -> Management:
        """The backend's management plane; a rule that asks is not applicable where none can be."""
        if self.spec.open_management is None:
            not_applicable("the backend has no management plane")
        library = self.spec.driver_library
        if library is not None and not library.is_there(Host()):
            not_applicable(f"the driver library {library.soname} is not on this host")
        return open_management(self.spec)

    @property
    def spec(self) -> BackendSpec:
        """The backend's spec."""
        return self.opened.spec

    def run_child(self, task: str, /, **arguments: Any) -> Any:
        """Run a task of `accelhal.testing.child_tasks` in a process of its own.

        Returns:
            What the task returned, as plain JSON values.
        """
        return self.start_child(task, **arguments).result(self.child_limit_s)

    def start_child(
        self,
        task: str,
        /,
        *,
        environ: Mapping[str, str] | None = None,
        path: Sequence[str] = (),
        with_setup: bool = True,
        **arguments: Any,
    ) -> ChildProcess:
        """Start a task in a process of its own; `result()` waits for it.

        Args:
            task: its name.
            environ: variables to set.
            path: folders to search for modules before all others.
            with_setup: whether `child_setup` runs first.
            **arguments: the task's, as plain JSON values.
        """
        setup = self.child_setup if with_setup else ""
        return ChildProcess(task, arguments, setup=setup, environ=environ or {}, path=path)


def _position(request: pytest.FixtureRequest) -> int:
    """Which of the devices the rule's parameter `device` names; the first without one."""
    call: Any = getattr(request.node, "callspec", None)
    position: int = 0 if call is None else call.params.get("device", 0)
    return position
