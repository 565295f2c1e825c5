"""Installations of torch_mlu that are half there: each costs itself, and names what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from vendor_stacks.mlu.standin import call, environment, python

LOADER = "libcnrt.so: cannot open shared object file: No such file or directory"


def test_without_neuware_the_package_is_not_tried() -> None:
    found = call("open_mlu", environment())
    assert found["import"] == ["ImportError", LOADER]
    assert found["status"] == "library_broken"
    assert "libcnrt.so" in found["reason"]
    assert found["error"][0] == "BackendLoadError"
    assert "torch_mlu does not import without Neuware" in found["error"][1]
    assert found["cpu"] == {"total": 4.0}


def test_a_package_that_leaves_torch_without_the_device_is_named(neuware: Path) -> None:
    environ = environment(neuware, MLU_STANDIN_FORM="1.33")
    found = call("open_beside_another_accelerator", environ)
    assert found["has_module"] is False
    assert found["error"][0] == "BackendIncompatibleError"
    assert "has no torch.mlu although torch_mlu imported" in found["error"][1]
    assert found["environment_kept"]
    assert found["cpu"] == {"total": 4.0}


def test_boards_behind_torch_cuda_are_not_taken_for_nvidias(neuware: Path) -> None:
    environ = environment(
        neuware,
        MLU_STANDIN_FORM="1.33",
        TORCH_MLU_GPU_MIGRATION="1",
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    found = call("migrated", environ)
    assert found["variable"] == "0"  # the package drops it
    assert (found["torch_cuda_counts"], found["torch_cuda_available"]) == (2, True)
    assert found["cuda"][0] == "BackendIncompatibleError"
    assert found["mlu"] == "mlu:0"


def test_on_a_host_with_boards_they_are_chosen(neuware: Path, tmp_path: Path) -> None:
    environ = environment(neuware, MLU_STANDIN_FORM="1.33", TORCH_MLU_GPU_MIGRATION="1")
    found = call("choose_on_a_host_with_boards", environ, folder=str(tmp_path))
    assert (found["device"], found["status"]) == ("mlu:0", "available")


def test_boards_that_torch_does_not_count_are_passed_over(neuware: Path, tmp_path: Path) -> None:
    environ = environment(neuware, MLU_STANDIN_BOARDS="0")
    found = call("choose_on_a_host_with_boards", environ, folder=str(tmp_path))
    assert (found["device"], found["status"]) == ("cpu:0", "no_hardware")
    assert "counts no device" in found["reason"]
    assert any("mlu looked available but did not open" in text for text in found["warnings"])


def test_no_device_is_a_reason_that_names_the_variable(neuware: Path) -> None:
    found = call("open_mlu", environment(neuware, MLU_VISIBLE_DEVICES="0,0"))
    assert found["error"][0] == "DeviceNotFoundError"
    assert found["cpu"] == {"total": 4.0}
    assert "MLU_VISIBLE_DEVICES='0,0'" in found["error"][1]


# ---- loaded inside `import torch`


@pytest.fixture
def autoload_folder(tmp_path: Path) -> Path:
    """Metadata by which torch loads the package inside its own import."""
    metadata = tmp_path / "torch_mlu-1.33.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: torch_mlu\nVersion: 1.33.1\n")
    (metadata / "entry_points.txt").write_text("[torch.backends]\ntorch_mlu = torch_mlu:init\n")
    return tmp_path


def test_autoload_that_fails_breaks_torch_and_not_accelhal(autoload_folder: Path) -> None:
    environ = environment(None, autoload_folder, MLU_STANDIN_FORM="1.33")
    alone = python("import torch", environ)
    assert alone.returncode != 0
    assert "Failed to load the backend extension: torch_mlu" in alone.stderr
    found = call("open_mlu", environ)
    assert found["error"][0] == "BackendLoadError"
    assert found["cpu"] == {"total": 4.0}
    assert found["environment_kept"]
    assert any("torch_mlu was left out of torch" in text for text in found["warnings"])


def test_autoload_that_the_probe_cannot_foresee_is_guarded_too(
    autoload_folder: Path, neuware: Path
) -> None:
    environ = environment(None, autoload_folder, MLU_STANDIN_FORM="1.33", NEUWARE_HOME=str(neuware))
    found = call("open_mlu", environ)
    assert found["status"] == "no_hardware"
    assert found["error"][0] == "BackendLoadError"
    assert f"opening failed with ImportError: {LOADER}" in found["error"][1]
    assert found["environment_kept"]
    assert any(LOADER in text for text in found["warnings"])
    assert found["cpu"] == {"total": 4.0}


def test_autoload_that_works_is_used(autoload_folder: Path, neuware: Path) -> None:
    environ = environment(neuware, autoload_folder, MLU_STANDIN_FORM="1.33")
    assert call("autoloaded", environ) == {"by_torch": True, "device": "mlu:1"}
