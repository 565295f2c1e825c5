"""Whether a backend's hardware is here, and how grave it is when the backend cannot use it."""

from __future__ import annotations

from fnmatch import fnmatchcase

from accelhal.device_name import parse_device_name
from accelhal.doctor.facts import Facts
from accelhal.errors import UsageError
from accelhal.evidence.environment import ListedBackend
from accelhal.facts import FindingState
from accelhal.host.device_nodes import find_nodes
from accelhal.host.pci import PciDevice
from accelhal.registry.choosing import DEVICE_VARIABLE
from accelhal.registry.listing import Backend
from accelhal.spi import BackendSpec


def boards_of(spec: BackendSpec, facts: Facts) -> list[PciDevice]:
    """The backend's boards on the PCI bus."""
    return [board for board in facts.boards if board.vendor in spec.pci_vendor_ids]


def board_nodes(spec: BackendSpec, facts: Facts) -> list[str]:
    """The /dev nodes that its driver made, one for each board."""
    patterns = [nodes for nodes in spec.device_nodes if nodes.per_board]
    if facts.live:
        return [node.path for nodes in patterns for node in find_nodes(facts.host, nodes)]
    seen = facts.record.nodes or ()
    return [path for nodes in patterns for path in seen if fnmatchcase(path, nodes.pattern)]


def is_present(spec: BackendSpec, facts: Facts) -> bool:
    """Whether a board of the backend is here, by the bus or by its node (a bus may be hidden)."""
    return bool(boards_of(spec, facts) or board_nodes(spec, facts))


def unclaimed_boards(facts: Facts) -> list[PciDevice]:
    """Boards on the PCI bus that no loaded backend drives; none where nobody listed backends."""
    if not facts.live:
        shown = facts.snapshot.environment
        listed = shown is not None and shown.backends
        alone = {b.address for b in shown.boards if b.backend is None} if shown and listed else ()
        return [board for board in facts.boards if board.address in alone]
    claimed = {
        vendor_id
        for backend in facts.backends
        if backend.spec is not None
        for vendor_id in backend.spec.pci_vendor_ids
    }
    return [board for board in facts.boards if board.vendor not in claimed]


def named_backend(facts: Facts) -> str | None:
    """The backend that ACCELHAL_DEVICE names, or None."""
    try:
        return parse_device_name(facts.host.environ.get(DEVICE_VARIABLE, "")).backend
    except UsageError:
        return None


def impact(backend: Backend | ListedBackend, facts: Facts) -> FindingState:
    """FAIL where the backend is needed and cannot work, WARN where nothing depends on it.

    It is needed where its boards are here or the environment asks for it. A plugin that does not
    load does not say which boards are its own: any board without a backend may be.
    """
    if backend.name == named_backend(facts):
        return FindingState.FAIL
    if backend.api_version is None:
        return FindingState.FAIL if unclaimed_boards(facts) else FindingState.WARN
    return FindingState.FAIL if has_boards(backend, facts) else FindingState.WARN


def has_boards(backend: Backend | ListedBackend, facts: Facts) -> bool:
    """Whether a board of the backend is here; of evidence, whether the bus there had one."""
    if isinstance(backend, Backend):
        return backend.spec is not None and is_present(backend.spec, facts)
    shown = facts.snapshot.environment
    on_bus = () if shown is None else shown.boards
    spec = facts.spec(backend.name)
    return any(board.backend == backend.name for board in on_bus) or bool(
        spec is not None and board_nodes(spec, facts)
    )
