"""Specs that do at import, or in their probe, what they must not."""

from __future__ import annotations

from dataclasses import replace

from accelhal_mock.spec import SPEC

from accelhal.facts import Probe
from accelhal.host import Host


def _import_torch(host: Host) -> Probe:
    import torch

    return replace(SPEC.probe(host), count=torch.get_num_threads())


def _open_the_driver(host: Host) -> Probe:
    import ctypes

    ctypes.CDLL("libm.so.6")  # stands for the driver's library
    return SPEC.probe(host)


def _say_nothing(host: Host) -> Probe:
    return replace(SPEC.probe(host), reason="")


PROBE_IMPORTS = replace(SPEC, probe=_import_torch)
PROBE_OPENS = replace(SPEC, probe=_open_the_driver)
SILENT = replace(SPEC, probe=_say_nothing)
