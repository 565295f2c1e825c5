"""A host made of files under tmp_path: what probes and scans read instead of this machine."""

from __future__ import annotations

from pathlib import Path

from accelhal.host import Host


class HostTree:
    """Files, PCI functions, packages and an environment, each added by one call."""

    def __init__(self, root: Path) -> None:
        self.root = root / "host"
        self.root.mkdir()
        (self.root / "sys/bus/pci/devices").mkdir(parents=True)
        self.environ: dict[str, str] = {}
        self.packages: dict[str, Path] = {}
        self.versions: dict[str, str] = {}
        self.host = Host(self.root, self.environ, self.packages.get, self.versions.get)

    def file(self, path: str, text: str = "") -> HostTree:
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return self

    def files(self, *paths: str) -> HostTree:
        for path in paths:
            self.file(path)
        return self

    def pci(
        self,
        address: str,
        vendor: str,
        pci_class: str,
        *,
        device: str = "1234",
        driver: str | None = None,
        numa_node: int = -1,
    ) -> HostTree:
        folder = f"/sys/bus/pci/devices/{address}"
        self.file(f"{folder}/vendor", f"0x{vendor}\n")
        self.file(f"{folder}/device", f"0x{device}\n")
        self.file(f"{folder}/class", f"0x{pci_class}00\n")
        self.file(f"{folder}/numa_node", f"{numa_node}\n")
        if driver is not None:
            link = self.root / folder.lstrip("/") / "driver"
            link.symlink_to(f"../../../bus/pci/drivers/{driver}")
        return self

    def package(self, name: str, version: str | None = None, **assigned: str | None) -> HostTree:
        folder = self.root / "site-packages" / name
        folder.mkdir(parents=True, exist_ok=True)
        if version is not None:
            lines = [f"__version__ = {version!r}"]
            lines += [f"{key}: str | None = {value!r}" for key, value in assigned.items()]
            (folder / "version.py").write_text("\n".join(lines) + "\n")
        self.packages[name] = folder
        return self

    def env(self, **variables: str) -> HostTree:
        self.environ.update(variables)
        return self
