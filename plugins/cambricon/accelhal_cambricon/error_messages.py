"""What the errors of torch_mlu, CNRT, the driver, CNNL and CNCL mean.

torch_mlu passes on texts, never codes: "CNRT error: invalid argument." Few of the libraries' texts
are public. Those that were seen come first; the rest go by the names of the codes in the headers,
and by the words that describe them there, after the library's own prefix.
"""

from __future__ import annotations

import re

from accelhal.errors import ErrorKind
from accelhal.runtimes.error_messages import MessageTable, classify_message

RUNTIME = r"\b(?:CNRT|CNDRV) error: [^\n]*?"
"""The prefix of exceptions.h, torch_mlu 1.25 and 1.33; from the latter on "(API: …)" follows."""

MESSAGES: MessageTable = (
    # caching_allocator.cpp, torch_mlu 1.25 (torch.OutOfMemoryError) and before
    (re.compile(r"\bMLU out of memory\."), ErrorKind.OUT_OF_MEMORY),
    # seen: cnGetErrorString of CN_MEMORY_ERROR_OUT_OF_MEMORY (PaddlePaddle's tests, 2022)
    (re.compile(r"\bdevice has no memory to alloc\b"), ErrorKind.OUT_OF_MEMORY),
    # seen: of CN_INVOKE_ERROR_ADDRESS_SPACE (a log of an MLU370-X8, 2022)
    (
        re.compile(RUNTIME + r"operation not supported on global/shared address space"),
        ErrorKind.ILLEGAL_ACCESS,
    ),
    # seen: CNRT's word for a kernel that did not end well, CNNL and MLU-OPS guides
    (re.compile(r"\bmlu unfinished\b", re.IGNORECASE), ErrorKind.LAUNCH_FAILURE),
    # seen: cnrtErrorArgsInvalid (MLU590, Neuware 4.4.3), cnrtErrorDeviceInvalid,
    # cnrtErrorMemcpyDirectionInvalid
    (
        re.compile(RUNTIME + r"invalid (argument|device ordinal|memcpy direction)\b"),
        ErrorKind.USAGE,
    ),
    # seen: CN_ERROR_NOT_INITIALIZED
    (re.compile(RUNTIME + r"initialization error\b"), ErrorKind.DEVICE_UNAVAILABLE),
    # device.cpp, torch_mlu 1.25 and 1.33
    (re.compile(r"\bNo MLU devices are available\b"), ErrorKind.DEVICE_UNAVAILABLE),
    # CNNL and MLU-OPS name their status: cnnl.h (2021), tests of torch_mlu 1.25
    (re.compile(r"\b(CNNL|MLUOP)_STATUS_ALLOC_FAILED\b"), ErrorKind.OUT_OF_MEMORY),
    (
        re.compile(r"\b(CNNL|MLUOP)_STATUS_(NOT_SUPPORTED|ARCH_MISMATCH)\b"),
        ErrorKind.UNSUPPORTED,
    ),
    (re.compile(r"\b(CNNL|MLUOP)_STATUS_BAD_PARAM\b"), ErrorKind.USAGE),
    (re.compile(r"\b(CNNL|MLUOP)_STATUS_EXECUTION_FAILED\b"), ErrorKind.LAUNCH_FAILURE),
    (re.compile(r"\b(CNNL|MLUOP)_STATUS_NOT_INITIALIZED\b"), ErrorKind.DEVICE_UNAVAILABLE),
    # Names of the driver's codes, cn_api.h 2.15, which reports quote: "Return value is 100124,
    # CN_INVOKE_ERROR_ADDRESS_SPACE"
    (re.compile(r"\bCN_ERROR_ECC_UNCORRECTABLE\b"), ErrorKind.MEMORY_FAULT),
    (re.compile(r"\bCN_NCS_ACK_LINK_(UNCORR_)?ERR\b"), ErrorKind.LINK_FAULT),
    (re.compile(r"\bCN_(NCS|TCDP)_ACK_\w+"), ErrorKind.COMMUNICATION),
    (
        re.compile(r"\bCN_MEMORY_ERROR_OUT_OF_(PROCESS_MAX_)?MEMORY\b"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        re.compile(r"\bCN_(OPS|QUEUE|NOTIFIER|CONTEXT)_ERROR_OUT_OF_RESOURCES\b"),
        ErrorKind.RESOURCE_EXHAUSTED,
    ),
    (re.compile(r"\bCN_INVOKE_ERROR_OUT_OF_RESOURCES\b"), ErrorKind.UNSUPPORTED),
    (re.compile(r"\bCN_(INVOKE|OPS)_ERROR_(EXECUTED_)?TIMEOUT\b"), ErrorKind.TIMEOUT),
    (
        re.compile(r"\bCN_INVOKE_ERROR_(ADDRESS_SPACE|OUT_OF_RANGE_ADDRESS|MEMORY_\w+_ADDRESS)\b"),
        ErrorKind.ILLEGAL_ACCESS,
    ),
    (re.compile(r"\bCN_INVOKE_ERROR(_\w+)?\b"), ErrorKind.LAUNCH_FAILURE),
    (
        re.compile(r"\bCN_(MEMORY_ERROR_INVALID_ADDRESS|ERROR_INVALID_(VALUE|DEVICE|HANDLE))\b"),
        ErrorKind.USAGE,
    ),
    (re.compile(r"\bCN_ERROR_DEINITIALIZED\b"), ErrorKind.DRIVER_SHUTDOWN),
    (
        re.compile(r"\bCN_ERROR_(NO_DEVICE|SYSTEM_NOT_READY|SYSTEM_DRIVER_MISMATCH)\b"),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (re.compile(r"\bCN_(OPS_ERROR_NOT_SUPPORTED|FATBIN_\w+)\b"), ErrorKind.UNSUPPORTED),
    # Names of CNRT's codes: cnrt.h 6.14 (cnrtError…) and 4.7 (CNRT_RET_ERR_…)
    (re.compile(r"\b(cnrtErrorNoMem|CNRT_RET_ERR_NOMEM)\b"), ErrorKind.OUT_OF_MEMORY),
    (re.compile(r"\bCNRT_RET_ERR_NORES\b"), ErrorKind.RESOURCE_EXHAUSTED),
    (re.compile(r"\bCNRT_RET_ERR_TIMEOUT\b"), ErrorKind.TIMEOUT),
    (
        re.compile(r"\b(cnrtError(Assert|Kernel(User)?Trap)|CNRT_RET_ERR_(MLU|ONCHIP_CORE))\b"),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (
        re.compile(r"\b(cnrtError(NoDevice|Init|Busy)|CNRT_RET_ERR_(NODEV|INIT|BUSY|ACCES))\b"),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        re.compile(
            r"\b(cnrtError(NotSupport|NoKernel|NoModule|UnsupportedKernelVersion)"
            r"|CNRT_RET_ERR_(UNSUPPORTED|NOSYS|KERNEL_VERSION_TOO_HIGH))\b"
        ),
        ErrorKind.UNSUPPORTED,
    ),
    (
        re.compile(
            r"\b(cnrtError((Args|Device)Invalid|InvalidResourceHandle|QueueCapture\w+)"
            r"|CNRT_RET_ERR_INVALID)\b"
        ),
        ErrorKind.USAGE,
    ),
    # ProcessGroupCNCL.cpp and cncl_utils.h, torch_mlu 1.25 and 1.33
    (re.compile(r"\bCNCL_RET_ERR_UNSUPPORTED\b"), ErrorKind.UNSUPPORTED),
    (re.compile(r"\bCNCL (error|communicator)\b"), ErrorKind.COMMUNICATION),
    # Words of the descriptions in cnrt.h and cn_api.h, after the runtime's prefix only
    (
        re.compile(RUNTIME + r"\b(out of memory|no (device )?memory|insufficient \w* ?memory)"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (re.compile(RUNTIME + r"\buncorrectable ECC\b"), ErrorKind.MEMORY_FAULT),
    (re.compile(RUNTIME + r"\blink error\b"), ErrorKind.LINK_FAULT),
    (re.compile(RUNTIME + r"\b(timeout|timed out)\b"), ErrorKind.TIMEOUT),
    (
        re.compile(RUNTIME + r"\b(illegal|misaligned) (\w+ )?(memory|address)\b"),
        ErrorKind.ILLEGAL_ACCESS,
    ),
    (
        re.compile(RUNTIME + r"\b(device-side assert|illegal instruction|trap)\b"),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (re.compile(RUNTIME + r"\bno (MLU )?device\b"), ErrorKind.DEVICE_UNAVAILABLE),
    (re.compile(RUNTIME + r"\bcaptur(e|ing)\b"), ErrorKind.USAGE),
    (re.compile(RUNTIME + r"\bnot support(ed)?\b"), ErrorKind.UNSUPPORTED),
)


def classify(error: BaseException) -> ErrorKind:
    """Kind of an error of torch_mlu."""
    return classify_message(error, MESSAGES)
