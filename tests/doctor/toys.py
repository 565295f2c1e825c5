"""A host made of files, and a toy backend whose hardware may stand in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from host_tree import HostTree

from accelhal.doctor.facts import Facts
from accelhal.facts import Finding, FindingState, Probe, ProbeStatus
from accelhal.host import Host
from accelhal.host.device_nodes import DeviceNodes
from accelhal.host.visible_devices import IdentifierList, VisibleDevices
from accelhal.spi import API_VERSION, BackendSpec, Runtime

TOY_VENDOR = "1e60"  # a vendor that pci_vendors.json knows and no plugin drives
TOY_VARIABLE = "TOY_VISIBLE_DEVICES"


class FakeHost(HostTree):
    """A tree of files in which boards of the toy's vendor may stand."""

    def toys(self, count: int, nodes: int | None = None) -> None:
        """Boards, and the nodes that their driver made: one for each unless told otherwise."""
        for index in range(count):
            self.pci(f"0000:{index:02x}:00.0", TOY_VENDOR, "1200", numa_node=1)
        for index in range(count if nodes is None else nodes):
            self.file(f"/dev/toy{index}")

    @property
    def facts(self) -> Facts:
        return Facts(self.host)


def _no_runtime() -> Runtime:
    raise OSError("the toy has no runtime")


def toy_spec(
    probe: Callable[[Host], Probe] = lambda host: Probe(ProbeStatus.AVAILABLE, None, "toys found"),
    name: str = "toy",
    torch_package: str | None = "torch_toy",
    ascending: bool = False,
) -> BackendSpec:
    return BackendSpec(
        name=name,
        vendor="Toymaker",
        api_version=API_VERSION,
        priority=5,
        probe=probe,
        open_runtime=_no_runtime,
        torch_package=torch_package,
        needs_privateuse1=True,
        visible_devices=(
            VisibleDevices(
                TOY_VARIABLE,
                identifiers=(IdentifierList(value="TOY-", entry="TOY-"),),
                ascending=ascending,
            ),
        ),
        device_nodes=(DeviceNodes("/dev/toy[0-9]*", per_board=True),),
        pci_vendor_ids=(TOY_VENDOR,),
    )


def answering(status: ProbeStatus, count: int | None = None) -> Callable[[Host], Probe]:
    return lambda host: Probe(status, count, f"it is {status.value}", "take the next step")


def states(findings: Iterable[Finding]) -> dict[str, FindingState]:
    return {finding.code: finding.state for finding in findings}
