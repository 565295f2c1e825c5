"""Group: the spec and its probe are light, and what is broken costs only itself."""

from __future__ import annotations

import importlib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from accelhal.device_name import parse_device_name
from accelhal.facts import Probe, ProbeStatus
from accelhal.host import Host
from accelhal.registry.state import state as registry_state
from accelhal.spi import API_VERSION, ENTRY_POINT_GROUP, EXTENSIONS
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import check_board_seen, not_applicable

_imported: dict[str, dict[str, Any]] = {}
"""Location of a spec -> what came of importing it: three rules look at one child process."""


class Loading(SuiteBase):
    """Importing a spec takes neither torch nor the vendor; a probe looks and does not touch."""

    def test_spec_import_takes_neither_torch_nor_the_vendor(self) -> None:
        """Importing the spec's module imports neither torch nor the vendor's package."""
        found = self._import_spec()["imported"]
        assert not found, f"importing the spec imports {', '.join(found)}"

    def test_probe_imports_neither_torch_nor_the_vendor(self) -> None:
        """A probe imports neither torch nor the vendor's package."""
        found = self._import_spec()["imported_by_probe"]
        assert not found, f"the probe imports {', '.join(found)}"

    def test_probe_touches_nothing(self) -> None:
        """A probe loads no library, opens no device node and starts no process or thread."""
        found = self._import_spec()
        assert not found["touched"], f"importing and probing {'; '.join(found['touched'])}"
        assert found["threads"] == 0, "importing and probing leaves a thread running"
        assert not found["environment_changed"], "importing and probing changes os.environ"

    def test_probe_is_sound(self) -> None:
        """A probe answers a Probe with a reason; AVAILABLE counts None or more than 0."""
        _check(self.spec.probe(Host()))

    def test_probe_survives_an_empty_host(self, tmp_path: Path) -> None:
        """A probe of a host that shows nothing does not raise."""
        _check(self.spec.probe(Host(tmp_path, {}, lambda name: None)))

    def test_probe_finds_no_board_on_an_empty_host(self, tmp_path: Path) -> None:
        """A backend with hardware is not AVAILABLE on a host that shows none."""
        if not self.spec.pci_vendor_ids and not self.spec.device_nodes:
            not_applicable("the spec describes no hardware")
        found = self.spec.probe(Host(tmp_path, {}, lambda name: None))
        assert found.status is not ProbeStatus.AVAILABLE, "AVAILABLE on a host without any board"

    def test_probe_misses_the_vendor_package(self) -> None:
        """Without the vendor's package a probe answers NOT_INSTALLED, with the next step."""
        package = self._vendor_package()
        check_board_seen(self.spec)
        host = Host(find_package=lambda name: None if name == package else _found(name))
        found = self.spec.probe(host)
        assert found.status is ProbeStatus.NOT_INSTALLED, f"{found.status.value} without {package}"
        assert found.hint, f"no next step where {package} is missing"

    def test_spec_names_known_extensions(self) -> None:
        """The spec's extensions have known keys, and what they name exists."""
        unknown = sorted(set(self.spec.extensions) - set(EXTENSIONS))
        assert not unknown, f"unknown extensions: {', '.join(unknown)}"
        for key, location in self.spec.extensions.items():
            module, _, attribute = location.partition(":")
            assert hasattr(importlib.import_module(module), attribute), f"{key}: no {location}"

    def test_spec_fits_the_interface(self) -> None:
        """The spec's name is the backend's, and its interface version fits this accelhal."""
        name = parse_device_name(self.backend).backend
        assert self.spec.name == name, f"the spec of {name} calls itself {self.spec.name}"
        assert self.spec.api_version[0] == API_VERSION[0], f"interface {self.spec.api_version}"

    @pytest.mark.parametrize("error", ["OSError('libx.so.1')", "AssertionError", "SystemExit(1)"])
    def test_broken_vendor_package_costs_only_itself(self, error: str, tmp_path: Path) -> None:
        """A vendor package that raises at import gives one typed error; the process goes on."""
        package = self._vendor_package()
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(f"raise {error}\n")
        found = self.run_child("open_broken", path=[str(tmp_path)], backend=self.backend)
        assert found["typed"], f"opening raises {found['raised']}: {found['message']}"
        assert found["others_work"], "other backends no longer work"

    def test_two_distributions_of_one_name_conflict(self, tmp_path: Path) -> None:
        """A second distribution of the backend's name is an error that names both."""
        name = parse_device_name(self.backend).backend
        if name in registry_state.registered or self.child_setup:
            not_applicable("it is registered by code, before all distributions")
        folder = tmp_path / "accelhal_rival-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: accelhal-rival\nVersion: 1.0\n"
        )
        (folder / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\n{name} = rival:SPEC\n")
        found = self.run_child("open_broken", path=[str(tmp_path)], backend=name)
        assert found["raised"] == "BackendConflictError", f"opening raises {found['raised']}"
        assert "accelhal-rival" in found["message"], f"the rival is not named: {found['message']}"

    def _import_spec(self) -> dict[str, Any]:
        """What a process of its own saw when it imported the spec and probed this host."""
        location, package = self.spec_location or self._find_spec(), self.spec.torch_package
        if location not in _imported:
            _imported[location] = self.run_child(
                "import_spec",
                with_setup=False,
                location=location,
                packages=["torch", *([package] if package else [])],
            )
        return _imported[location]

    def _find_spec(self) -> str:
        """Where the spec lies: its entry point's value, or the module of its probe."""
        for entry in metadata.entry_points(group=ENTRY_POINT_GROUP, name=self.spec.name):
            return entry.value
        module = self.spec.probe.__module__
        attributes = vars(importlib.import_module(module)).items()
        found = next((name for name, value in attributes if value is self.spec), None)
        if found is None:
            not_applicable(f"the spec is no attribute of {module}: name it in spec_location")
        return f"{module}:{found}"

    def _vendor_package(self) -> str:
        if self.spec.torch_package is None:
            not_applicable("no package of the vendor's adds it to torch")
        return self.spec.torch_package


def _found(package: str) -> Path | None:
    return Host().find_package(package)


def _check(probe: object) -> None:
    assert isinstance(probe, Probe), f"the probe answers a {type(probe).__name__}"
    assert isinstance(probe.status, ProbeStatus), f"status is a {type(probe.status).__name__}"
    assert probe.reason, f"{probe.status.value} without a reason"
    if probe.status is ProbeStatus.AVAILABLE:
        assert probe.count is None or probe.count > 0, f"AVAILABLE with {probe.count} devices"
