"""libdcmi.so: found, started in the generation its chips speak, and called by board address."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from accelhal.drivers.library import Code, DriverLibrary, Outcome, roomy
from accelhal.drivers.readings import NotReportedError
from accelhal.errors import AccelhalError, BackendLoadError, message_of
from accelhal_ascend.driver_library import LIBRARY

SOURCE = "DCMI"

CODES: Mapping[int, Code] = {
    -8001: Code("INVALID_PARAMETER", Outcome.NO_VALUE),
    -8002: Code("OPER_NOT_PERMITTED", Outcome.NO_PERMISSION),
    -8003: Code("MEM_OPERATE_FAIL", Outcome.NO_VALUE),
    -8004: Code("SECURE_FUN_FAIL", Outcome.NO_VALUE),
    # What the library answers for an error of a lower layer that it has no code for.
    -8005: Code("INNER_ERR", Outcome.NO_VALUE),
    -8006: Code("TIME_OUT", Outcome.RETRY),
    -8007: Code("INVALID_DEVICE_ID", Outcome.ABSENT),
    -8008: Code("DEVICE_NOT_EXIST", Outcome.ABSENT),
    -8009: Code("IOCTL_FAIL", Outcome.UNHEALTHY),
    -8010: Code("SEND_MSG_FAIL", Outcome.UNHEALTHY),
    -8011: Code("RECV_MSG_FAIL", Outcome.UNHEALTHY),
    # Of a board that starts, and of one that fell off the bus.
    -8012: Code("NOT_READY", Outcome.RETRY),
    -8013: Code("NOT_SUPPORT_IN_CONTAINER", Outcome.NO_PERMISSION),
    -8014: Code("FILE_OPERATE_FAIL", Outcome.NO_VALUE),
    -8015: Code("RESET_FAIL", Outcome.UNHEALTHY),
    -8016: Code("ABORT_OPERATE", Outcome.RETRY),
    -8017: Code("IS_UPGRADING", Outcome.RETRY),
    -8020: Code("RESOURCE_OCCUPIED", Outcome.NO_VALUE),
    -8022: Code("PARTITION_NOT_RIGHT", Outcome.NO_VALUE),
    -8023: Code("CONFIG_INFO_NOT_EXIST", Outcome.NO_VALUE),
    -8255: Code("NOT_SUPPORT", Outcome.NO_VALUE),
}
"""DCMI_ERR_CODE_* of dcmi_interface_api.h."""

NO_NUMBER = 0xFFFFFFFF
"""What a 32-bit number reads where there is none."""

Structure = TypeVar("Structure")


class Address(NamedTuple):
    """A chip as DCMI numbers it; Ascend 950 has one number for all, in `chip`."""

    card: int
    chip: int


class Function(NamedTuple):
    """A call under both of its names; None where the generation lacks it."""

    v1: str | None
    v2: str | None


def _both(name: str) -> Function:
    return Function(f"dcmi_{name}", f"dcmiv2_{name}")


DCMI_VERSION = _both("get_dcmi_version")
DRIVER_VERSION = _both("get_driver_version")
DRIVER_HEALTH = _both("get_driver_health")
DEVICE_TYPE = _both("get_device_type")
BOARD_INFO = _both("get_device_board_info")
LABEL = _both("get_device_elabel_info")
HEALTH = _both("get_device_health")
TEMPERATURE = _both("get_device_temperature")
SENSOR = _both("get_device_sensor_info")
POWER = _both("get_device_power_info")
FREQUENCY = _both("get_device_frequency")
UTILIZATION = _both("get_device_utilization_rate")
ALL_UTILIZATION = _both("get_device_multi_utilization_rate")
HBM = _both("get_device_hbm_info")
ECC = _both("get_device_ecc_info")
INFO = _both("get_device_info")
DDR = Function("dcmi_get_device_memory_info_v3", None)
DIE = Function("dcmi_get_device_die_v2", "dcmiv2_get_device_die_id")
CHIP = Function("dcmi_get_device_chip_info_v2", "dcmiv2_get_device_chip_info")
OLD_CHIP = Function("dcmi_get_device_chip_info", None)
PCI = Function("dcmi_get_device_pcie_info_v2", "dcmiv2_get_device_pcie_info")
OLD_PCI = Function("dcmi_get_device_pcie_info", None)
FAULTS = Function("dcmi_get_device_errorcode_v2", "dcmiv2_get_device_error_code_list")
FAULT_TEXT = Function("dcmi_get_device_errorcode_string", "dcmiv2_get_device_error_info")
PROCESSES = Function("dcmi_get_device_resource_info", "dcmiv2_get_device_proc_mem_info")
RELATION = _both("get_topo_info_by_device_id")
CPUS = Function("dcmi_get_affinity_cpu_info_by_device_id", "dcmiv2_get_affinity_cpu_info_by_dev_id")
UB_PORTS = Function(None, "dcmiv2_get_ub_port_link_status")


class Dcmi:
    """The started library.

    Attributes:
        v2: whether its boards are Ascend 950, which answer only the dcmiv2_ calls.

    Raises:
        BackendLoadError: the library does not load, or does not start.
    """

    def __init__(self) -> None:
        self.library = DriverLibrary("npu", LIBRARY, CODES)
        self.v2 = self._start()

    def _start(self) -> bool:
        """Each generation's start answers "not supported" where the boards are of the other."""
        refused = []
        for name in ("dcmi_init", "dcmiv2_init"):
            try:
                self.library.call(name)
                return name == "dcmiv2_init"
            except NotReportedError as error:
                refused.append(str(error))
            except AccelhalError as error:
                raise _not_started(message_of(error)) from error
        raise _not_started("; ".join(refused))

    def ask(self, function: Function, *arguments: Any) -> None:
        """Call a function of no board.

        Raises:
            NotReportedError: it has no value, needs more rights, or is not in this release.
            AccelhalError: by code.
        """
        name = function.v2 if self.v2 else function.v1
        if name is None:
            other = function.v1 or function.v2
            raise NotReportedError(f"boards of this generation have no {other}")
        self.library.call(name, *arguments)

    def ask_board(self, function: Function, address: Address, *arguments: Any) -> None:
        """Call a function that begins with a board's address."""
        self.ask(function, *self.numbers(address), *arguments)

    def numbers(self, address: Address) -> tuple[int, ...]:
        """The address as this generation's calls take it."""
        return (address.chip,) if self.v2 else address

    def read(
        self, function: Function, address: Address, kind: type[Structure], *inputs: Any
    ) -> Structure:
        """The structure that a board's call fills in, after `inputs`."""
        found = roomy(kind)
        self.ask_board(function, address, *inputs, found)
        return found[0]  # type: ignore[no-any-return]

    def number(
        self, function: Function, address: Address, *inputs: Any, kind: type[Any] = ctypes.c_uint
    ) -> int:
        """The number that a board's call fills in, after `inputs`.

        Raises:
            NotReportedError: also where it is all ones.
        """
        return known(int(self.read(function, address, kind, *inputs)))

    def info(self, address: Address, command: tuple[int, int], kind: type[Structure]) -> Structure:
        """What dcmi_get_device_info answers to a main and a sub command."""
        found = roomy(kind)
        self.fill(address, command, found)
        return found[0]  # type: ignore[no-any-return]

    def fill(self, address: Address, command: tuple[int, int], found: Any) -> None:
        """Have dcmi_get_device_info fill in a structure that carries the caller's part."""
        size = ctypes.c_uint(ctypes.sizeof(found))
        self.ask_board(INFO, address, *command, found, ctypes.byref(size))

    def text(self, function: Function) -> str:
        """A text of no board."""
        found = ctypes.create_string_buffer(_TEXT_BYTES)
        self.ask(function, found, ctypes.c_uint(_TEXT_BYTES))
        return text_of(found.raw)


_TEXT_BYTES = 256


def _not_started(why: str) -> BackendLoadError:
    return BackendLoadError(
        f"npu: libdcmi.so does not start: {why}",
        backend="npu",
        operation="open_management",
        hint="npu-smi info shows whether driver and boards are well; -8005 and -8020 also come "
        "where another container holds a board, or /dev/davinci_manager is not passed in",
    )


def text_of(raw: Any) -> str:
    """The text in a buffer of bytes, which fills it or ends at the first NUL.

    Raises:
        NotReportedError: there is none.
    """
    text = bytes(raw).partition(b"\0")[0].decode(errors="replace").strip()
    if text in ("", "NA", "N/A", "-") or not text.isprintable():
        raise NotReportedError("the driver's text is empty")
    return text


def known(number: int) -> int:
    """The number, unless its 32 bits are all ones.

    Raises:
        NotReportedError: it is: the driver has none.
    """
    if number & NO_NUMBER == NO_NUMBER:
        raise NotReportedError("the driver answered no number")
    return number
