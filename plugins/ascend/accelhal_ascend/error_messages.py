"""What the errors of torch_npu, CANN's runtime and HCCL mean."""

from __future__ import annotations

import re
from collections.abc import Mapping

from accelhal.errors import ErrorKind, ErrorScope, message_of
from accelhal.runtimes.error_messages import MessageTable, classify_message, find_kind

CODES: Mapping[int, ErrorKind] = {
    # HcclResult: hccl_types.h as torch_npu 2.13 quotes it. After most of them, all ranks have to
    # start anew.
    **dict.fromkeys(range(1, 24), ErrorKind.COMMUNICATION),
    3: ErrorKind.OUT_OF_MEMORY,
    5: ErrorKind.UNSUPPORTED,
    24: ErrorKind.OUT_OF_MEMORY,
    # aclError: NPUErrorCodes.h, torch_npu 2.1 to 2.13
    100024: ErrorKind.UNSUPPORTED,  # operator not found
    100025: ErrorKind.UNSUPPORTED,  # operator not loaded
    100026: ErrorKind.UNSUPPORTED,  # data type
    100036: ErrorKind.TIMEOUT,
    100039: ErrorKind.DEVICE_UNAVAILABLE,  # the library is the compiler's stub
    200000: ErrorKind.OUT_OF_MEMORY,
    200001: ErrorKind.UNSUPPORTED,
    200002: ErrorKind.USAGE,  # invalid device
    200003: ErrorKind.USAGE,  # unaligned address
    200004: ErrorKind.USAGE,  # resources of different contexts
    200005: ErrorKind.USAGE,  # invalid resource handle
    200006: ErrorKind.UNSUPPORTED,
    # The runtime's own: rt_error_codes.h of CANN 7 and the list of return codes of CANN 8
    107019: ErrorKind.TIMEOUT,
    107020: ErrorKind.TIMEOUT,
    107022: ErrorKind.DEVICE_LOST,  # the device's tasks were aborted: "FORCE STOP"
    107023: ErrorKind.DEVICE_LOST,  # the stream's tasks were
    207000: ErrorKind.UNSUPPORTED,
    207001: ErrorKind.OUT_OF_MEMORY,
    207004: ErrorKind.DEVICE_UNAVAILABLE,
    207005: ErrorKind.RESOURCE_EXHAUSTED,
    207006: ErrorKind.DEVICE_UNAVAILABLE,  # no permission
    207007: ErrorKind.RESOURCE_EXHAUSTED,  # events
    207008: ErrorKind.RESOURCE_EXHAUSTED,  # streams
    207009: ErrorKind.RESOURCE_EXHAUSTED,  # notifies
    207010: ErrorKind.RESOURCE_EXHAUSTED,  # models, which captured graphs are
    207011: ErrorKind.RESOURCE_EXHAUSTED,
    207012: ErrorKind.RESOURCE_EXHAUSTED,  # queues
    207018: ErrorKind.OUT_OF_MEMORY,
    207019: ErrorKind.UNSUPPORTED,  # the driver is too old
    507001: ErrorKind.LAUNCH_FAILURE,  # task scheduler on the device
    507002: ErrorKind.RESOURCE_EXHAUSTED,  # tasks of a stream
    507008: ErrorKind.DEVICE_UNAVAILABLE,  # no SoC version: driver not reached or not matching
    507009: ErrorKind.UNSUPPORTED,
    507010: ErrorKind.DEVICE_LOST,  # no heartbeat of the task scheduler
    507011: ErrorKind.LAUNCH_FAILURE,  # a captured graph
    507012: ErrorKind.TIMEOUT,
    507013: ErrorKind.DEVICE_LOST,  # DMA hardware
    507014: ErrorKind.TIMEOUT,  # AI core
    507015: ErrorKind.LAUNCH_FAILURE,  # AI core
    507016: ErrorKind.LAUNCH_FAILURE,  # AI core, trap
    507017: ErrorKind.TIMEOUT,  # AI CPU
    507018: ErrorKind.LAUNCH_FAILURE,  # AI CPU
    507019: ErrorKind.LAUNCH_FAILURE,  # AI CPU did not answer
    507020: ErrorKind.LAUNCH_FAILURE,
    507022: ErrorKind.COMMUNICATION,  # between processes
    507027: ErrorKind.UNSUPPORTED,  # kernel not registered
    507032: ErrorKind.RESOURCE_EXHAUSTED,  # programs
    507033: ErrorKind.DEVICE_UNAVAILABLE,  # the device does not start
    507034: ErrorKind.TIMEOUT,  # vector core
    507035: ErrorKind.LAUNCH_FAILURE,  # vector core
    507036: ErrorKind.LAUNCH_FAILURE,  # vector core, trap
    507042: ErrorKind.ILLEGAL_ACCESS,  # AI core, read
    507043: ErrorKind.ILLEGAL_ACCESS,  # AI core, write
    507044: ErrorKind.ILLEGAL_ACCESS,  # vector core, read
    507045: ErrorKind.ILLEGAL_ACCESS,  # vector core, write
    507046: ErrorKind.TIMEOUT,  # stream synchronise
    507047: ErrorKind.TIMEOUT,  # event synchronise
    507048: ErrorKind.TIMEOUT,
    507049: ErrorKind.LAUNCH_FAILURE,
    507050: ErrorKind.LAUNCH_FAILURE,
    507053: ErrorKind.MEMORY_FAULT,  # "UCE ERROR"
    507054: ErrorKind.MEMORY_FAULT,  # "HBM MULTI BIT ECC ERROR"
    507055: ErrorKind.MEMORY_FAULT,  # "SUSPECT MEM ERROR"
    507056: ErrorKind.LINK_FAULT,  # "HCCS LINK ERROR"
    507057: ErrorKind.COMMUNICATION,  # "SUSPECT REMOTE ERROR": a peer's memory, or a wild address
    507899: ErrorKind.DEVICE_LOST,  # driver
    507900: ErrorKind.LAUNCH_FAILURE,  # AI CPU
    507901: ErrorKind.DEVICE_LOST,  # host and device do not talk
    507902: ErrorKind.LAUNCH_FAILURE,  # AI CPU
    507903: ErrorKind.USAGE,  # capture invalidated
    507904: ErrorKind.COMMUNICATION,  # "HCCL OP RETRY FAILED"
    # aclnn: its return codes in CANN 8. The operator has no kernel for this chip, type or shape.
    561003: ErrorKind.UNSUPPORTED,
    561103: ErrorKind.UNSUPPORTED,
    561107: ErrorKind.UNSUPPORTED,
    561112: ErrorKind.UNSUPPORTED,
}
"""By code. CANN keeps 1xxxxx for errors of the caller: one that is not listed there is USAGE."""

_HCCL_IDENTIFIER = re.compile(r"\bE[IJ]\d{4}\b")

DEVICE_LABELS: MessageTable = (
    # deviceErrorMap of NPUQueue.cpp and NPUException.cpp, torch_npu 2.5 to 2.13, some without
    # a code after them; "reason=[…]" is CANN's own, all that TORCH_NPU_COMPACT_ERROR_OUTPUT leaves
    (re.compile(r"\bFORCE STOP\b|\breason=\[?device task abort\b"), ErrorKind.DEVICE_LOST),
    (re.compile(r"\b(UCE|SUSPECT MEM) ERROR\b"), ErrorKind.MEMORY_FAULT),
    (re.compile(r"\bHBM MULTI BIT ECC ERROR\b"), ErrorKind.MEMORY_FAULT),
    (re.compile(r"\breason=\[?(suspect )?device mem error\b"), ErrorKind.MEMORY_FAULT),
    (re.compile(r"\breason=\[?hbm Multi-bit ECC error\b"), ErrorKind.MEMORY_FAULT),
    (re.compile(r"\bHCCS LINK ERROR\b|\breason=\[?link error\b"), ErrorKind.LINK_FAULT),
    (re.compile(r"\bHCCL OP RETRY FAILED\b"), ErrorKind.COMMUNICATION),
    (re.compile(r"\bSUSPECT REMOTE ERROR\b"), ErrorKind.COMMUNICATION),
    (re.compile(r"\breason=\[?(hccl op retry failed|suspect remote)"), ErrorKind.COMMUNICATION),
)

MESSAGES: MessageTable = (
    # NPUCachingAllocator.cpp and NPUWorkspaceAllocator.cpp: RuntimeError up to torch_npu 2.9.0,
    # torch.OutOfMemoryError from 2.9.0.post9 and 2.10 on
    (re.compile(r"\bNPU out of memory\."), ErrorKind.OUT_OF_MEMORY),
    (re.compile(r"\breason=\[?(driver error:out of memory|device oom)\b"), ErrorKind.OUT_OF_MEMORY),
    # npu/__init__.py and NPUFunctions.cpp
    (re.compile(r"\bNo NPUs are available\b"), ErrorKind.DEVICE_UNAVAILABLE),
    # reason=[…] without a code: errcode_manage.cc of CANN's runtime, 2025
    (re.compile(r"\breason=\[?[\w ]*\btimeout\b"), ErrorKind.TIMEOUT),
    (
        re.compile(r"\breason=\[?(aicore|aicpu|vector core|fftsplus) (trap )?exception"),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (re.compile(r"\breason=\[?(lost heartbeat|hdc disconnect)"), ErrorKind.DEVICE_LOST),
    (re.compile(r"\breason=\[?device retain error"), ErrorKind.DEVICE_UNAVAILABLE),
    # CANN 8's error identifiers, bare or "Text(EL0004)"
    (re.compile(r"\bEL00(04|18)\b"), ErrorKind.OUT_OF_MEMORY),
    (re.compile(r"\bEL0009\b"), ErrorKind.RESOURCE_EXHAUSTED),
    (re.compile(r"\bE3(0006|9007|9011)\b"), ErrorKind.DEVICE_UNAVAILABLE),
    (re.compile(r"\bEZ10(01|13)\b"), ErrorKind.UNSUPPORTED),
    (_HCCL_IDENTIFIER, ErrorKind.COMMUNICATION),
    # torch_npu's own, NPUException.h, 2.1 to 2.13: ERR, submodule, what
    (re.compile(r"\bERR\d\d00[123] [A-Z]+ invalid (parameter|type|value)"), ErrorKind.USAGE),
    (re.compile(r"\bERR\d\d007 [A-Z]+ feature not supported"), ErrorKind.UNSUPPORTED),
    (re.compile(r"\bERR02(200|011|005) DIST "), ErrorKind.COMMUNICATION),
    (re.compile(r"\bERR\d\d011 [A-Z]+ timeout error"), ErrorKind.TIMEOUT),
)

_CODE = re.compile(r"\berror code(?: is |: ?)(\d+)\b")
"""torch_npu: "NPU error, error code is 507033" (2.1), "NPU function error: f(x), error code is 7"
(2.5 on), "ACL stream synchronize failed, error code:507035" (`.cpu()`, 2.5 to 2.9)."""

_RESULT = re.compile(r"\bruntime result = (\d+)\b")
"""CANN 7 and 8: "wait for compute device to finish failed, runtime result = 507035"."""

_OF_A_COLLECTIVE = (ErrorKind.TIMEOUT, ErrorKind.LAUNCH_FAILURE)
"""What a collective that waits for a dead peer looks like; HCCL's identifier tells it apart."""

_QUEUE_STOPPED = "The process exits for this inner error"
"""NPUQueue.cpp, torch_npu 2.1 to 2.13: it drops in silence what is queued after this error, so that
whatever the cause, the process is spoilt."""


def classify(error: BaseException) -> ErrorKind:
    """Kind of an error of torch_npu."""
    return classify_message(error, MESSAGES, _kind_by_code)


def _kind_by_code(error: BaseException) -> ErrorKind | None:
    message = message_of(error)
    if isinstance(error, NameError) and "DeferredNpuCallError" in message and error.__context__:
        # torch_npu 2.1 to 2.14 raises a name that it does not define; what failed is the context.
        return classify(error.__context__)
    if not isinstance(error, RuntimeError):
        return None
    kind = find_kind(message, DEVICE_LABELS) or _first_known_code(message)
    if _QUEUE_STOPPED in message and (kind is None or kind.scope is ErrorScope.REQUEST):
        kind = ErrorKind.LAUNCH_FAILURE
    if kind in _OF_A_COLLECTIVE and _HCCL_IDENTIFIER.search(message):
        return ErrorKind.COMMUNICATION
    return kind


def _first_known_code(message: str) -> ErrorKind | None:
    """torch_npu's code before those of CANN's report, which may hold older errors too."""
    for pattern in (_CODE, _RESULT):
        for found in pattern.finditer(message):
            code = int(found[1])
            kind = CODES.get(code, ErrorKind.USAGE if 100000 <= code < 200000 else None)
            if kind is not None:
                return kind
    return None
