"""The vendors' kernel modules: are they loaded, and do they have the boards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from accelhal.doctor.facts import Facts
from accelhal.doctor.presence import bus_boards, driver_answers, of_each_vendor
from accelhal.facts import Finding, FindingState
from accelhal.host import pci
from accelhal.host.pci import PciDevice
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, NotShownError, VendorHost

_MODULE_ID = "driver.module"
_FOREIGN_ID = "driver.foreign"

PASS_THROUGH = ("vfio-pci", "pci-stub", "pciback")
"""Kernel drivers that keep a device for a virtual machine (KVM, Xen)."""


# ---- driver.foreign


def _foreign(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_FOREIGN_ID, facts, _judge_owner)


def _judge_owner(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    boards = bus_boards(spec, facts)
    if boards is None:
        raise NotShownError("the PCI bus", commands=("lspci -nnk", "accelhal snapshot FILE"))
    evidence = {board.address: board.driver or "no driver" for board in boards}
    passed = [board for board in boards if board.driver in PASS_THROUGH]
    foreign = [
        board for board in boards if board.driver in vendor.foreign_drivers and board not in passed
    ]
    unbound = _unbound(spec, vendor, boards, facts)
    if foreign:
        drivers = sorted({str(board.driver) for board in foreign})
        undo = (vendor.foreign_drivers[driver] for driver in drivers)
        yield Finding(
            _FOREIGN_ID,
            "foreign.bound",
            FindingState.FAIL,
            {"boards": _addresses(foreign), "drivers": ", ".join(drivers)},
            spec.name,
            evidence,
            commands=(*undo, *vendor.install),
            needs_root=True,
            disturbs=True,
        )
    if passed:
        every = len(passed) == len(boards)
        yield Finding(
            _FOREIGN_ID,
            "foreign.passed_through",
            FindingState.WARN if every else FindingState.INFO,
            {"boards": _addresses(passed), "driver": str(passed[0].driver)},
            spec.name,
            evidence,
            commands=tuple(_rebinding(board) for board in passed),
            needs_root=True,
            disturbs=True,
        )
    if unbound:
        yield Finding(
            _FOREIGN_ID,
            "foreign.unbound",
            FindingState.FAIL if len(unbound) == len(boards) else FindingState.WARN,
            {"boards": _addresses(unbound), "module": vendor.modules[0]},
            spec.name,
            evidence,
            commands=(
                f"sudo dmesg | grep {unbound[0].address}",
                *(
                    f"echo {board.address} | sudo tee /sys/bus/pci/drivers_probe"
                    for board in unbound
                ),
            ),
            needs_root=True,
        )
    if not (foreign or passed or unbound):
        yield Finding(_FOREIGN_ID, "foreign.none", FindingState.OK, device=spec.name)


def _unbound(
    spec: BackendSpec, vendor: VendorHost, boards: Sequence[PciDevice], facts: Facts
) -> list[PciDevice]:
    """The boards that the loaded module did not take, and that the driver does not list either."""
    if not any(module in (facts.record.modules or {}) for module in vendor.modules):
        return []
    evidence = facts.evidence(spec.name)
    listed = {
        reading.board.pci
        for reading in (() if evidence is None else evidence.boards)
        if reading.board.source != "pci"
    }
    return [
        board
        for board in boards
        if board.driver is None
        and board.driver_shown
        and board.address not in listed
        and not facts.host.exists(f"{pci.BUS}/{board.address}/physfn")  # a slice for a machine
    ]


def _rebinding(board: PciDevice) -> str:
    """Give the board to the driver that the kernel would choose."""
    folder = f"{pci.BUS}/{board.address}"
    return (
        f"echo {board.address} | sudo tee {folder}/driver/unbind; "
        f"echo | sudo tee {folder}/driver_override; "
        f"echo {board.address} | sudo tee /sys/bus/pci/drivers_probe"
    )


def _addresses(boards: Iterable[PciDevice]) -> str:
    return ", ".join(board.address for board in boards)


FOREIGN = Check(
    _FOREIGN_ID,
    "Driver",
    "which kernel driver has the boards",
    (pci.BUS,),
    _foreign,
    depends_on=("plugin.load",),
    explanation="A board works only while its vendor's kernel driver has it. Another driver that "
    "took it first is a failure: keep that one from loading, rebuild the initramfs, reboot. A "
    "board kept for virtual machines is a choice: a warning where all are, else a remark. A board "
    "that the loaded driver did not take has its reason in the kernel log: too old or too new "
    "for this driver, no power, or a fault.",
)


# ---- driver.module


def _module(facts: Facts) -> Iterator[Finding]:
    yield from of_each_vendor(_MODULE_ID, facts, _judge_module)


def _judge_module(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Iterator[Finding]:
    if not vendor.modules:
        return
    modules = facts.record.modules
    loaded = next((module for module in vendor.modules if module in (modules or {})), None)
    if modules is not None and loaded is not None:
        version = modules[loaded]
        code = "module.loaded" if version else "module.loaded_unversioned"
        params = {"module": loaded, "version": version}
        yield Finding(_MODULE_ID, code, FindingState.OK, params, spec.name)
        return
    boards = bus_boards(spec, facts) or []
    if driver_answers(spec, facts) or any(_is_driven(board, vendor) for board in boards):
        yield Finding(_MODULE_ID, "module.runs", FindingState.OK, device=spec.name)
    elif boards and all(board.driver in PASS_THROUGH for board in boards):
        yield Finding(_MODULE_ID, "module.not_needed", FindingState.INFO, device=spec.name)
    elif modules is None:
        raise NotShownError("the loaded kernel modules", commands=("lsmod",))
    else:
        yield _not_loaded(spec, vendor, facts)


def _is_driven(board: PciDevice, vendor: VendorHost) -> bool:
    return board.driver is not None and board.driver not in {*vendor.foreign_drivers, *PASS_THROUGH}


def _not_loaded(spec: BackendSpec, vendor: VendorHost, facts: Facts) -> Finding:
    built = facts.record.built_modules or {}
    seen = [module for module in vendor.modules if module in built]
    ready = next((module for module in seen if built[module]), None)
    if ready is not None:
        code = "module.not_loaded"
        commands: tuple[str, ...] = (f"sudo modprobe {ready}", "sudo dmesg | tail -50")
    else:
        code = "module.not_built" if seen else "module.missing"
        commands = vendor.install
    return Finding(
        _MODULE_ID,
        code,
        FindingState.FAIL,
        {
            "module": ready or vendor.modules[0],
            "kernel": facts.record.kernel or "the running kernel",
        },
        spec.name,
        {"/proc/modules": f"none of {', '.join(vendor.modules)}"},
        commands=commands,
        needs_root=True,
    )


MODULE = Check(
    _MODULE_ID,
    "Driver",
    "whether the vendor's kernel module is loaded",
    ("/proc/modules", "/lib/modules/*/modules.dep"),
    _module,
    depends_on=("driver.foreign",),
    explanation="Boards on the bus without their kernel module are a failure. The module is built "
    "for one kernel: after an upgrade of the kernel it has to be built again; DKMS does it where "
    "the kernel's headers are installed. Hold the driver's and the kernel's packages back, so that "
    "an automatic upgrade does not part them. In a container the module is the host's.",
)
