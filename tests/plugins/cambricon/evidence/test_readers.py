"""The readers, as the backend's description names them."""

from __future__ import annotations

from accelhal_cambricon.evidence import READERS
from accelhal_cambricon.spec import SPEC

from accelhal.registry.extensions import load_extension
from accelhal.spi import EvidenceReader


def test_the_spec_names_them() -> None:
    assert load_extension(SPEC, "evidence_readers", tuple) is READERS
    assert all(isinstance(reader, EvidenceReader) for reader in READERS)
