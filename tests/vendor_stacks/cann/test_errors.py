"""torch_npu's own errors, raised by CANN's codes and by calls, and the kinds they are given."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from accelhal_ascend.error_messages import CODES
from vendor_stacks.cann.stack import CannStack

from accelhal.errors import ErrorKind

pytestmark = pytest.mark.slow

SWALLOWED = 207000
"""Not supported: torch_npu prints a warning and goes on."""

RUNTIME_CODES = sorted(code for code in CODES if code >= 100000 and code != SWALLOWED)

OTHER_CODES = {
    107000: ErrorKind.USAGE,
    107002: ErrorKind.USAGE,
    107003: ErrorKind.USAGE,
    107024: ErrorKind.USAGE,
    107030: ErrorKind.USAGE,
    507000: ErrorKind.UNKNOWN,
    500002: ErrorKind.UNKNOWN,
}
"""Codes that no row names: CANN keeps the first range for the caller's errors."""

CHILD = """
import ctypes, json, multiprocessing, os, time
import torch, torch_npu
from accelhal_ascend.runtime import AscendRuntime

runtime = AscendRuntime()
simulation = ctypes.CDLL("libascendcl.so")
kept = []

def attempt(name, failures, work):
    simulation.sim_cann_fail(failures.encode())
    try:
        work()
        found = {}
    except Exception as error:
        kind = runtime.classify_error(error)
        found = {"type": type(error).__name__, "kind": kind.name, "message": str(error)}
    simulation.sim_cann_fail(b"")
    print(json.dumps([name, found]), flush=True)

def capture():
    with torch.npu.graph(torch.npu.NPUGraph()):
        pass

def in_forked_child():
    attempt("fork", "", lambda: torch.npu.synchronize(0))

def queued_copy():
    kept.append(torch.zeros(4).pin_memory())
    kept.append(kept[0].to("npu:0", non_blocking=True))
    torch.npu.synchronize(0)

torch.npu.synchronize(0)
on_board = torch.arange(4.0).to("npu:0")
for code in CODES:
    failure = f"aclrtSynchronizeDeviceWithTimeout={code}"
    attempt(str(code), failure, lambda: torch.npu.synchronize(0))
everything = "aclrtMalloc=207001,aclrtMallocAlign32=207001,aclrtMallocWithCfg=207001"
attempt("more than there is", "", lambda: torch.empty(2**40, dtype=torch.uint8, device="npu:0"))
attempt("allocation", everything, lambda: torch.empty(2**26, device="npu:0"))
attempt("streams", "aclrtCreateStreamWithConfig=207008", torch.npu.Stream)
attempt("events", "aclrtCreateEventExWithFlag=207007", lambda: torch.npu.Event().record())
attempt("capture", "aclmdlRICaptureBegin=207008", capture)
attempt("copy", "aclrtMemcpy=507899", on_board.cpu)
attempt("operator", "aclnnAddGetWorkspaceSize=561003", lambda: on_board + on_board)
attempt("set_device", "", lambda: torch.npu.set_device(7))
attempt("get_device_name", "", lambda: torch.npu.get_device_name(9))
attempt("elapsed_time", "", lambda: torch.npu.Event(True).elapsed_time(torch.npu.Event(True)))
attempt("set_rng_state", "", lambda: torch.npu.set_rng_state(torch.zeros(3, dtype=torch.uint8)))
attempt("two devices", "", lambda: on_board + torch.zeros(4))
attempt("another vendor", "", on_board.cuda)
store = torch.distributed.HashStore()
torch.distributed.init_process_group("hccl", store=store, rank=0, world_size=1)
reduce = lambda: torch.distributed.all_reduce(on_board)
attempt("communicator", "HcclCommInitRootInfo=7,HcclCommInitRootInfoConfig=7", reduce)
attempt("communicator without memory", "HcclGetRootInfo=24", reduce)
child = multiprocessing.get_context("fork").Process(target=in_forked_child)
child.start()
child.join(60)
attempt("task queue", "aclrtMemcpyAsync=507015", queued_copy)
attempt("after the task queue", "", lambda: torch.npu.synchronize(0))
os._exit(0)  # the end of a process whose queue has stopped aborts
"""


@dataclass(frozen=True)
class Raised:
    """What the child raised, by name; {} where nothing was."""

    found: dict[str, dict[str, Any]]

    def kind(self, name: str) -> ErrorKind:
        return ErrorKind[self.found[name]["kind"]]


@pytest.fixture(scope="module")
def raised(cann_stack: CannStack) -> Raised:
    codes = [*RUNTIME_CODES, *OTHER_CODES, SWALLOWED]
    output = cann_stack.python(f"CODES = {codes}\n{CHILD}").stdout
    return Raised(dict(json.loads(line) for line in output.splitlines() if line.startswith('["')))


@pytest.mark.parametrize("code", RUNTIME_CODES)
def test_every_code_that_the_runtime_answers(raised: Raised, code: int) -> None:
    assert raised.kind(str(code)) is CODES[code], raised.found[str(code)]


@pytest.mark.parametrize(("code", "kind"), OTHER_CODES.items())
def test_codes_without_a_row(raised: Raised, code: int, kind: ErrorKind) -> None:
    assert raised.kind(str(code)) is kind


@pytest.mark.parametrize(
    ("code", "label"),
    [
        (107022, "FORCE STOP"),
        (507054, "HBM MULTI BIT ECC ERROR"),
        (507055, "SUSPECT MEM ERROR"),
        (507056, "HCCS LINK ERROR"),
        (507057, "SUSPECT REMOTE ERROR"),
        (507904, "HCCL OP RETRY FAILED"),
    ],
)
def test_the_labels_of_device_faults_are_torch_npus(raised: Raised, code: int, label: str) -> None:
    assert label in raised.found[str(code)]["message"]


def test_torch_npu_swallows_what_is_not_supported(raised: Raised) -> None:
    assert raised.found[str(SWALLOWED)] == {}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("more than there is", ErrorKind.OUT_OF_MEMORY),
        ("allocation", ErrorKind.OUT_OF_MEMORY),
        ("streams", ErrorKind.RESOURCE_EXHAUSTED),
        ("events", ErrorKind.RESOURCE_EXHAUSTED),
        ("capture", ErrorKind.RESOURCE_EXHAUSTED),
        ("copy", ErrorKind.DEVICE_LOST),
        ("operator", ErrorKind.UNSUPPORTED),
        ("set_device", ErrorKind.USAGE),
        ("get_device_name", ErrorKind.USAGE),
        ("elapsed_time", ErrorKind.USAGE),
        ("set_rng_state", ErrorKind.USAGE),
        ("two devices", ErrorKind.USAGE),
        ("another vendor", ErrorKind.USAGE),
        ("communicator", ErrorKind.COMMUNICATION),
        ("communicator without memory", ErrorKind.OUT_OF_MEMORY),
        ("fork", ErrorKind.BAD_FORK),
        ("task queue", ErrorKind.LAUNCH_FAILURE),
    ],
)
def test_what_calls_raise(raised: Raised, name: str, kind: ErrorKind) -> None:
    assert raised.kind(name) is kind, raised.found[name]


def test_out_of_memory_is_torchs_class(raised: Raised) -> None:
    assert raised.found["allocation"]["type"] == "OutOfMemoryError"


def test_after_its_queue_has_stopped_torch_npu_says_nothing_more(raised: Raised) -> None:
    # Why such an error spoils the process whatever its cause: no later call tells.
    assert raised.found["after the task queue"] == {}


def test_without_a_board_the_first_index_is_wrong(cann_stack: CannStack) -> None:
    code = """
import torch, torch_npu
from accelhal_ascend.error_messages import classify
try:
    torch.npu.current_device()
except RuntimeError as error:
    print(classify(error).name)
"""
    output = cann_stack.python(code, SIM_CANN_DEVICES="0").stdout
    assert output.splitlines()[-1] == ErrorKind.USAGE.name  # 107001, invalid device id
