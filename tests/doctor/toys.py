"""A host made of files, and a toy backend whose hardware may stand in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from accelhal.doctor.gather import Facts
from accelhal.facts import Finding, FindingState, Probe, ProbeStatus
from accelhal.host import Host
from accelhal.host.device_nodes import DeviceNodes
from accelhal.host.visible_devices import IdentifierList, VisibleDevices
from accelhal.spi import API_VERSION, BackendSpec, Runtime

TOY_VENDOR = "1e60"  # a vendor that pci_vendors.json knows and no plugin drives
TOY_VARIABLE = "TOY_VISIBLE_DEVICES"


class FakeHost:
    """A tree of files and an environment."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environ: dict[str, str] = {}
        self.packages: dict[str, Path] = {}
        (root / "sys/bus/pci/devices").mkdir(parents=True)

    def write(self, path: str, text: str = "") -> Path:
        where = self.root / path.lstrip("/")
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text)
        return where

    def board(self, address: str, vendor: str = TOY_VENDOR, pci_class: str = "0x120000") -> None:
        folder = f"/sys/bus/pci/devices/{address}"
        self.write(f"{folder}/vendor", f"0x{vendor}\n")
        self.write(f"{folder}/device", "0x1234\n")
        self.write(f"{folder}/class", f"{pci_class}\n")
        self.write(f"{folder}/numa_node", "1\n")

    def toys(self, count: int, nodes: int | None = None) -> None:
        """Boards of the toy's vendor, and the nodes that its driver made."""
        for index in range(count):
            self.board(f"0000:{index:02x}:00.0")
        for index in range(count if nodes is None else nodes):
            self.write(f"/dev/toy{index}")

    def package(self, name: str, version: str | None = None) -> None:
        folder = self.root / "site" / name
        folder.mkdir(parents=True)
        if version is not None:
            (folder / "version.py").write_text(f"__version__ = {version!r}\n")
        self.packages[name] = folder

    @property
    def host(self) -> Host:
        return Host(self.root, self.environ, self.packages.get)

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
