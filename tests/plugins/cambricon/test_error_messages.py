"""torch_mlu's errors: real messages, each with where it was seen, and what none of them is."""

from __future__ import annotations

import pytest
import torch
from accelhal_cambricon.error_messages import classify
from accelhal_cambricon.runtime import CambriconRuntime
from error_samples import HOSTILE, USERS_OWN, anything, noise, with_lines
from hypothesis import given, strategies as st

from accelhal.errors import ErrorKind

DistBackendError = torch.distributed.DistBackendError

REAL: tuple[tuple[str, BaseException, ErrorKind], ...] = (
    (
        "torch_mlu 1.25, caching_allocator.cpp",
        torch.OutOfMemoryError("MLU out of memory. Tried to allocate 20.00 GiB. MLU 0 has a total"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "the older wording, quoted by a server in an error of its own",
        RuntimeError("request 7: MLU out of memory. Tried to allocate 2.00 GiB (MLU 0; 15.00 GiB"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "PaddlePaddle's tests of its MLU backend: CN_MEMORY_ERROR_OUT_OF_MEMORY",
        RuntimeError("CNDRV error: device has no memory to alloc"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "cnnl.h",
        RuntimeError("CNNL error: CNNL_STATUS_ALLOC_FAILED"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "torch_mlu on an MLU590, Neuware 4.4.3",
        RuntimeError("CNRT error: invalid argument."),
        ErrorKind.USAGE,
    ),
    (
        "torch_mlu 1.33 names the call",
        RuntimeError("CNRT error: invalid argument. (API: cnrtSetDevice(device))"),
        ErrorKind.USAGE,
    ),
    (
        "PaddlePaddle's tests: cnrtErrorDeviceInvalid",
        RuntimeError("CNRT error: invalid device ordinal"),
        ErrorKind.USAGE,
    ),
    (
        "torch_mlu's tests: a matrix too large",
        RuntimeError("CNNL error: CNNL_STATUS_BAD_PARAM"),
        ErrorKind.USAGE,
    ),
    (
        "torch_mlu's tests: a convolution too large",
        RuntimeError("CNNL error: CNNL_STATUS_NOT_SUPPORTED"),
        ErrorKind.UNSUPPORTED,
    ),
    (
        "torch_mlu 1.33",
        RuntimeError("MLUOPS error: MLUOP_STATUS_ARCH_MISMATCH (API: mluOpRoiAlign(handle))"),
        ErrorKind.UNSUPPORTED,
    ),
    (
        "an MLU370-X8 under Triton Inference Server, 2022",
        RuntimeError(
            "Error occurred during calling 'cnQueueSync' in CNDrv interface.\nReturn value is "
            '100124, CN_INVOKE_ERROR_ADDRESS_SPACE, means that "operation not supported on '
            'global/shared address space"\ncnrtQueueSync: MLU queue sync failed.'
        ),
        ErrorKind.ILLEGAL_ACCESS,
    ),
    (
        "the text of the same code after torch_mlu's prefix",
        RuntimeError("CNDRV error: operation not supported on global/shared address space"),
        ErrorKind.ILLEGAL_ACCESS,
    ),
    (
        "CNNL's guide: workspaces that overlap",
        RuntimeError("CNRT error: mlu unfinished error."),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (
        "a kernel that does not end, on an MLU370",
        RuntimeError(
            "CN_INVOKE_ERROR_EXECUTED_TIMEOUT\nCNRT error: failed to call the driver-api function."
        ),
        ErrorKind.TIMEOUT,
    ),
    (
        "an atomic addition on an MLU590",
        RuntimeError("cnQueueSync returned 100200, CN_INVOKE_ERROR"),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (
        "cn_api.h 2.15",
        RuntimeError("Return value is 100016, CN_ERROR_ECC_UNCORRECTABLE"),
        ErrorKind.MEMORY_FAULT,
    ),
    (
        "cn_api.h 2.15",
        RuntimeError("Return value is 101424, CN_NCS_ACK_LINK_ERR"),
        ErrorKind.LINK_FAULT,
    ),
    (
        "cn_api.h 2.15",
        RuntimeError("Return value is 101422, CN_NCS_ACK_REMOTE_ERR"),
        ErrorKind.COMMUNICATION,
    ),
    (
        "cn_api.h 2.15: the driver was unloaded",
        RuntimeError("Return value is 100003, CN_ERROR_DEINITIALIZED"),
        ErrorKind.DRIVER_SHUTDOWN,
    ),
    (
        "cn_api.h 2.15",
        RuntimeError("Return value is 100061, CN_QUEUE_ERROR_OUT_OF_RESOURCES"),
        ErrorKind.RESOURCE_EXHAUSTED,
    ),
    (
        "cnrt.h 6.14",
        RuntimeError("cnrtQueueSync returned cnrtErrorKernelTrap"),
        ErrorKind.LAUNCH_FAILURE,
    ),
    ("cnrt.h 4.7", RuntimeError("cnrtMalloc: CNRT_RET_ERR_NOMEM"), ErrorKind.OUT_OF_MEMORY),
    ("cnrt.h 4.7", RuntimeError("cnrtInit: CNRT_RET_ERR_NODEV"), ErrorKind.DEVICE_UNAVAILABLE),
    (
        "PaddlePaddle's tests: CN_ERROR_NOT_INITIALIZED",
        RuntimeError("CNDRV error: initialization error"),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        "torch_mlu 1.25, device.cpp",
        RuntimeError("No MLU devices are available"),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        "torch_mlu 1.25, cncl_utils.h",
        RuntimeError("CNCL error in: torch_mlu/csrc/distributed/cncl_utils.cpp:91, internal error"),
        ErrorKind.COMMUNICATION,
    ),
    (
        "torch_mlu 1.25, cncl_utils.h",
        DistBackendError("CNCL communicator was aborted on rank 1. "),
        ErrorKind.COMMUNICATION,
    ),
    (
        "torch_mlu 1.25, ProcessGroupCNCL.cpp",
        RuntimeError("CNCL communicator encountered error set by ProcessGroupCNCL: timeout"),
        ErrorKind.COMMUNICATION,
    ),
    (
        "torch_mlu in a forked DataLoader worker",
        RuntimeError(
            "Cannot re-initialize MLU in forked subprocess. To use MLU with multiprocessing, you "
            "must use the 'spawn' start method"
        ),
        ErrorKind.BAD_FORK,
    ),
    ("torch.mlu.get_device_name(99)", AssertionError("Invalid device id"), ErrorKind.USAGE),
    (
        "torch_mlu 1.25: an event that was not placed",
        RuntimeError("Both notifiers must be placed before calculating elapsed time."),
        ErrorKind.USAGE,
    ),
)

WORDED: tuple[tuple[str, ErrorKind], ...] = (
    ("insufficient MLU memory", ErrorKind.OUT_OF_MEMORY),
    ("an uncorrectable ECC error was detected", ErrorKind.MEMORY_FAULT),
    ("a link error occurs", ErrorKind.LINK_FAULT),
    ("the operation timed out", ErrorKind.TIMEOUT),
    ("an illegal MLU memory address", ErrorKind.ILLEGAL_ACCESS),
    ("a device-side assert is triggered", ErrorKind.LAUNCH_FAILURE),
    ("no device is found", ErrorKind.DEVICE_UNAVAILABLE),
    ("not permitted when the queue is capturing", ErrorKind.USAGE),
    ("the feature is not supported now", ErrorKind.UNSUPPORTED),
)
"""Words of the headers' descriptions; how the libraries themselves put it is not public."""

AMBIGUOUS: tuple[tuple[str, BaseException], ...] = (
    (
        "a kernel's fault, or an event without timing (an MLU590, Neuware 4.4.3)",
        RuntimeError("CNRT error: failed to call the driver-api function."),
    ),
    ("anything", RuntimeError("CNNL error: CNNL_STATUS_INTERNAL_ERROR")),
    ("anything", RuntimeError("CNDRV error: unknow error.")),
)


@pytest.mark.parametrize(("source", "error", "kind"), REAL)
def test_real_messages(source: str, error: BaseException, kind: ErrorKind) -> None:
    assert classify(error) is kind, source


@pytest.mark.parametrize(("words", "kind"), WORDED)
@pytest.mark.parametrize("prefix", ["CNRT error: ", "CNDRV error: "])
def test_words_count_after_the_runtimes_prefix_alone(
    words: str, kind: ErrorKind, prefix: str
) -> None:
    assert classify(RuntimeError(f"{prefix}{words}.")) is kind
    assert classify(RuntimeError(f"task 7: {words}.")) is ErrorKind.UNKNOWN
    assert classify(RuntimeError(f"{prefix}x\ntask 7: {words}.")) is ErrorKind.UNKNOWN


@pytest.mark.parametrize("error", USERS_OWN, ids=repr)
def test_a_users_own_errors_are_not_the_mlus(error: BaseException) -> None:
    assert classify(error) is ErrorKind.UNKNOWN


@pytest.mark.parametrize(("why", "error"), AMBIGUOUS)
def test_what_may_mean_several_things_stays_unknown(why: str, error: BaseException) -> None:
    assert classify(error) is ErrorKind.UNKNOWN, why


def test_the_runtime_asks_the_table() -> None:
    runtime = CambriconRuntime.__new__(CambriconRuntime)
    error = RuntimeError("CNNL error: CNNL_STATUS_ALLOC_FAILED")
    assert CambriconRuntime.classify_error(runtime, error) is ErrorKind.OUT_OF_MEMORY


@pytest.mark.parametrize("error", HOSTILE, ids=lambda error: type(error).__name__)
def test_hostile_errors(error: BaseException) -> None:
    assert classify(error) is ErrorKind.UNKNOWN


@given(anything)
def test_any_error_has_a_kind(error: BaseException) -> None:
    assert isinstance(classify(error), ErrorKind)


@given(st.sampled_from([(error, kind) for _, error, kind in REAL]), noise)
def test_lines_after_a_message_change_nothing(
    case: tuple[BaseException, ErrorKind], lines: str
) -> None:
    error, kind = case
    assert classify(with_lines(error, lines)) is kind
