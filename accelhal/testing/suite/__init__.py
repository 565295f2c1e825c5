"""The conformance suite: what accelhal expects of a backend, as tests that its author subclasses.

    from accelhal.testing.suite import BackendSuite

    class TestMine(BackendSuite):
        backend = "npu"

Each rule is one test, in the group whose module says what the group is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accelhal.registry.extensions import load_extension
from accelhal.spi import BackendSpec
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.capabilities import Capabilities
from accelhal.testing.suite.current_device import CurrentDevice
from accelhal.testing.suite.distributed import Distributed
from accelhal.testing.suite.dtypes import Dtypes
from accelhal.testing.suite.events import Events
from accelhal.testing.suite.graphs import Graphs
from accelhal.testing.suite.health import Health
from accelhal.testing.suite.identity import Identity
from accelhal.testing.suite.loading import Loading
from accelhal.testing.suite.memory import Memory
from accelhal.testing.suite.out_of_memory import OutOfMemory
from accelhal.testing.suite.processes import Processes
from accelhal.testing.suite.random_numbers import RandomNumbers
from accelhal.testing.suite.requirements import not_applicable, requires
from accelhal.testing.suite.signatures import Signatures
from accelhal.testing.suite.streams import Streams
from accelhal.testing.suite.visible_devices import Visibility

GROUPS: Mapping[str, type[SuiteBase]] = {
    "loading": Loading,
    "signatures": Signatures,
    "capabilities": Capabilities,
    "identity": Identity,
    "visible_devices": Visibility,
    "current_device": CurrentDevice,
    "streams": Streams,
    "events": Events,
    "memory": Memory,
    "out_of_memory": OutOfMemory,
    "random_numbers": RandomNumbers,
    "dtypes": Dtypes,
    "graphs": Graphs,
    "processes": Processes,
    "health": Health,
    "distributed": Distributed,
}
"""Name of a group -> its rules. `accelhal.testing.conformance.GROUPS` says what each is about."""


class BackendSuite(
    Distributed,
    Health,
    Processes,
    Graphs,
    Dtypes,
    RandomNumbers,
    OutOfMemory,
    Memory,
    Events,
    Streams,
    CurrentDevice,
    Visibility,
    Identity,
    Capabilities,
    Signatures,
    Loading,
):
    """Every group. Subclass it, name the backend, and let pytest collect the subclass.

    pytest runs the rules of the last base first.
    """


def compose(spec: BackendSpec, groups: Sequence[str] = ()) -> type[SuiteBase]:
    """The suite of a backend: the named groups (all when none is), with what its plugin brings.

    A plugin's extension "conformance" names a class that overrides attributes and methods of
    `SuiteBase`: how its tensors are made, faults injected, failures expected.
    """
    brought = load_extension(spec, "conformance", type)
    own = () if brought is None else (brought,)
    if brought is not None:
        replaced = [rule for rule in dir(brought) if _weakens(rule, brought)]
        if replaced:
            raise TypeError(
                f"{brought.__name__} replaces {', '.join(replaced)}: rules are the suite's; what "
                "the backend cannot do yet belongs in expected_failures, what cannot be tried in "
                "not_judged"
            )
    whole: type[SuiteBase] = type("TestBackend", (*own, BackendSuite), {"backend": spec.name})
    if not groups:
        return whole
    chosen = [GROUPS[name] for name in GROUPS if name in groups][::-1]
    rules = {rule for base in (*own, *chosen) for rule in dir(base)}
    attributes: dict[str, object] = {"backend": spec.name}
    for table in ("expected_failures", "not_judged"):
        reasons = getattr(whole, table)
        attributes[table] = {rule: why for rule, why in reasons.items() if rule in rules}
    return type("TestBackend", (*own, *chosen), attributes)


def _weakens(rule: str, own: type) -> bool:
    """Whether a plugin's part of the suite puts something in a rule's place."""
    group = group_of(rule) if rule.startswith("test_") else None
    return group is not None and getattr(own, rule) is not getattr(GROUPS[group], rule)


def group_of(rule: str) -> str | None:
    """The group that a rule belongs to; None for a test that is not the suite's."""
    return next((name for name, group in GROUPS.items() if rule in vars(group)), None)


__all__ = [
    "GROUPS",
    "BackendSuite",
    "SuiteBase",
    "compose",
    "group_of",
    "not_applicable",
    "requires",
]
