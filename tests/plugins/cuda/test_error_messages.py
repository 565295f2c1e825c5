"""torch.cuda's errors: real messages, each with where it was seen, and what none of them is."""

from __future__ import annotations

import pytest
import torch
from accelhal_cuda.error_messages import CUDA_ERRORS, classify
from accelhal_cuda.runtime import CudaRuntime
from error_samples import HOSTILE, USERS_OWN, anything, noise, with_lines
from hypothesis import given, strategies as st

from accelhal.errors import ErrorKind

DistBackendError = torch.distributed.DistBackendError
AcceleratorError = getattr(torch, "AcceleratorError", RuntimeError)  # from torch 2.8 on

ADVICE = (
    "\nSearch for `{name}' in https://docs.nvidia.com/cuda/cuda-runtime-api/"
    "group__CUDART__TYPES.html for more information.\nCUDA kernel errors might be asynchronously "
    "reported at some other API call, so the stacktrace below might be incorrect.\nFor debugging "
    "consider passing CUDA_LAUNCH_BLOCKING=1\nCompile with `TORCH_USE_CUDA_DSA` to enable "
    "device-side assertions.\n"
)
"""What torch 2.9 puts after a CUDA error; older releases have all but the first line."""

REAL: tuple[tuple[str, BaseException, ErrorKind], ...] = (
    (
        "torch 2.6, CUDACachingAllocator.cpp",
        torch.OutOfMemoryError(
            "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 "
            "GiB of which 1.17 GiB is free. Process 4123 has 22.46 GiB memory in use."
        ),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "the same, quoted by a server in an error of its own",
        RuntimeError("request 7 failed: CUDA out of memory. Tried to allocate 2.00 GiB."),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "torch 2.4, before AcceleratorError",
        RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be asynchronously"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "torch, expandable segments: c10/cuda/driver_api.h",
        RuntimeError("CUDA driver error: out of memory"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "triton, launching a kernel",
        RuntimeError("Triton Error [CUDA]: out of memory"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "torch, cublasCreate on a full board",
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "cudnn 9",
        RuntimeError("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "torch on Jetson and in MIG instances: the report of an out-of-memory error fails",
        RuntimeError(
            'NVML_SUCCESS == r INTERNAL ASSERT FAILED at "/opt/pytorch/c10/cuda/'
            'CUDACachingAllocator.cpp":1131, please report a bug to PyTorch.'
        ),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "NCCL 2.14 under torch 2.1, a communicator on a full board",
        DistBackendError(
            "NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:219, unhandled cuda error "
            "(run with NCCL_DEBUG=INFO for details), NCCL version 2.18.1\nncclUnhandledCudaError: "
            "Call to CUDA function failed.\nLast error:\nCuda failure 'out of memory'"
        ),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "vllm-project/vllm#17098: the watchdog passes on a kernel's fault",
        DistBackendError(
            "[PG ID 2 PG GUID 3 Rank 1] Process group watchdog thread terminated with exception: "
            "CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be"
        ),
        ErrorKind.ILLEGAL_ACCESS,
    ),
    (
        "vllm-project/vllm#7833",
        RuntimeError("Triton Error [CUDA]: an illegal memory access was encountered"),
        ErrorKind.ILLEGAL_ACCESS,
    ),
    (
        "torch 2.9 on an H100 whose peer died",
        AcceleratorError(
            "CUDA error: Invalid access of peer GPU memory over nvlink or a hardware error"
            + ADVICE.format(name="cudaErrorContained")
        ),
        ErrorKind.ILLEGAL_ACCESS,
    ),
    (
        "torch 2.9, an index beyond an embedding table",
        AcceleratorError(
            "CUDA error: device-side assert triggered" + ADVICE.format(name="cudaErrorAssert")
        ),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (
        "torch 2.9",
        AcceleratorError(
            "CUDA error: misaligned address" + ADVICE.format(name="cudaErrorMisalignedAddress")
        ),
        ErrorKind.ILLEGAL_ACCESS,
    ),
    (
        "torch 1.2 to 2.9",
        RuntimeError("CUDA error: unspecified launch failure"),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (
        "torch, a matrix product on a broken build",
        RuntimeError(
            "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm( handle, opa, "
            "opb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc)`"
        ),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (
        "vllm-project/vllm#5222",
        RuntimeError("CUDA error: uncorrectable ECC error encountered\nCUDA kernel errors might"),
        ErrorKind.MEMORY_FAULT,
    ),
    (
        "cudaErrorNvlinkUncorrectable",
        RuntimeError("CUDA error: uncorrectable NVLink error detected during the execution"),
        ErrorKind.LINK_FAULT,
    ),
    (
        "a kernel on a board that drives a screen",
        RuntimeError("CUDA error: the launch timed out and was terminated"),
        ErrorKind.TIMEOUT,
    ),
    (
        "a tensor freed after the interpreter has ended",
        RuntimeError("CUDA error: driver shutting down"),
        ErrorKind.DRIVER_SHUTDOWN,
    ),
    (
        "Comfy-Org/ComfyUI#9650: a GTX 1080 Ti under torch 2.8+cu128",
        AcceleratorError(
            "CUDA error: no kernel image is available for execution on the device"
            + ADVICE.format(name="cudaErrorNoKernelImageForDevice")
        ),
        ErrorKind.UNSUPPORTED,
    ),
    (
        "an old ptxas",
        RuntimeError("Triton Error [CUDA]: device kernel image is invalid"),
        ErrorKind.UNSUPPORTED,
    ),
    (
        "cudnn 8, a tensor that is not contiguous",
        RuntimeError(
            "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. This error may appear if you passed in a "
            "non-contiguous input."
        ),
        ErrorKind.UNSUPPORTED,
    ),
    (
        "DDMAL/Rodan#1332, NVIDIA/k8s-device-plugin#1118",
        RuntimeError("CUDA error: CUDA-capable device(s) is/are busy or unavailable"),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        "the same before CUDA 11.1",
        RuntimeError("CUDA error: all CUDA-capable devices are busy or unavailable"),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        "vllm-project/vllm#15335",
        RuntimeError(
            "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before "
            "calling NumCudaDevices() that might have already set an error? Error 803: system has "
            "unsupported display driver / cuda driver combination"
        ),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        "pytorch/pytorch#49081, after suspend",
        RuntimeError(
            "CUDA unknown error - this may be due to an incorrectly set up environment, e.g. "
            "changing env variable CUDA_VISIBLE_DEVICES after program start."
        ),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        "torch without a driver",
        RuntimeError(
            "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and "
            "installed a driver from http://www.nvidia.com/Download/index.aspx"
        ),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        "torch with CUDA_VISIBLE_DEVICES=''",
        RuntimeError("No CUDA GPUs are available"),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        "torch in a forked DataLoader worker",
        RuntimeError(
            "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you "
            "must use the 'spawn' start method"
        ),
        ErrorKind.BAD_FORK,
    ),
    (
        "torch 2.1, NCCL 2.18",
        DistBackendError(
            "NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970, unhandled "
            "system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.20.5\n"
            "ncclSystemError: System call (e.g. socket, malloc) or external library call failed"
        ),
        ErrorKind.COMMUNICATION,
    ),
    (
        "torch 2.7: a peer exited",
        DistBackendError(
            "NCCL error in: /pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:77, remote process "
            "exited or there was a network error, NCCL version 2.26.2\nncclRemoteError: A call "
            "failed possibly due to a network error or a remote process exiting prematurely."
        ),
        ErrorKind.COMMUNICATION,
    ),
    (
        "torch 2.7",
        DistBackendError(
            "NCCL communicator was aborted on rank 1.  Original reason for failure was: [Rank 1] "
            "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=BROADCAST)"
        ),
        ErrorKind.COMMUNICATION,
    ),
    (
        "torch 1.13, two ranks on one board",
        RuntimeError(
            "NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1269, internal "
            "error, NCCL version 2.14.3\nncclInternalError: Internal check failed.\nLast error:\n"
            "Duplicate GPU detected : rank 5 and rank 0 both on CUDA device 1000"
        ),
        ErrorKind.USAGE,
    ),
    (
        "torch 2.1, two versions of NCCL loaded",
        DistBackendError(
            "NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:219, invalid argument, "
            "NCCL version 2.14.3\nncclInvalidArgument: Invalid value for an argument."
        ),
        ErrorKind.USAGE,
    ),
    (
        "vllm-project/vllm#1016: CUDA_VISIBLE_DEVICES set too late",
        RuntimeError("CUDA error: invalid device ordinal\nCUDA kernel errors might be"),
        ErrorKind.USAGE,
    ),
    (
        "a copy to the host inside a graph's capture",
        AcceleratorError(
            "CUDA error: operation not permitted when stream is capturing"
            + ADVICE.format(name="cudaErrorStreamCaptureUnsupported")
        ),
        ErrorKind.USAGE,
    ),
    ("torch.cuda.get_device_name(99)", AssertionError("Invalid device id"), ErrorKind.USAGE),
)

AMBIGUOUS: tuple[tuple[str, BaseException], ...] = (
    ("cudaErrorUnknown: anything", RuntimeError("CUDA error: unknown error")),
    ("no memory, or no driver, or a bad build", RuntimeError("CUBLAS_STATUS_NOT_INITIALIZED")),
    ("anything", RuntimeError("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR")),
    ("not an error of CUDA", RuntimeError("the CUDA error: page was not found")),
)


needs_accelerator_error = pytest.mark.skipif(
    AcceleratorError is RuntimeError, reason="torch.AcceleratorError came with torch 2.8"
)


def accelerator_error(code: int, text: str) -> BaseException:
    error = AcceleratorError(text)
    error.error_code = code  # type: ignore[attr-defined]
    return error


ALL = [(code, text, kind) for kind, rows in CUDA_ERRORS.items() for code, text in rows.items()]


@pytest.mark.parametrize(("source", "error", "kind"), REAL)
def test_real_messages(source: str, error: BaseException, kind: ErrorKind) -> None:
    assert classify(error) is kind, source


@pytest.mark.parametrize("error", USERS_OWN, ids=repr)
def test_a_users_own_errors_are_not_cudas(error: BaseException) -> None:
    assert classify(error) is ErrorKind.UNKNOWN


@pytest.mark.parametrize(("why", "error"), AMBIGUOUS)
def test_what_may_mean_several_things_stays_unknown(why: str, error: BaseException) -> None:
    assert classify(error) is ErrorKind.UNKNOWN, why


@pytest.mark.parametrize(
    "pattern", ["CUDA error: {}", "CUDA driver error: {}", "Cuda failure '{}'"]
)
def test_every_text_is_told_from_those_that_begin_like_it(pattern: str) -> None:
    found = {text: classify(RuntimeError(pattern.format(text))) for _, text, _ in ALL}
    assert found == {text: kind for _, text, kind in ALL}


@needs_accelerator_error
@pytest.mark.parametrize(("code", "text", "kind"), ALL)
def test_the_number_goes_before_the_text(code: int, text: str, kind: ErrorKind) -> None:
    assert classify(accelerator_error(code, "CUDA error: out of memory")) is kind


@needs_accelerator_error
def test_a_number_that_is_not_known_leaves_it_to_nobody() -> None:
    assert classify(accelerator_error(999, "CUDA error: unknown error")) is ErrorKind.UNKNOWN


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (3, ErrorKind.UNSUPPORTED),
        (9, ErrorKind.DEVICE_UNAVAILABLE),
        (15, ErrorKind.DEVICE_LOST),
        (999, ErrorKind.UNKNOWN),
    ],
)
def test_nvmls_own_errors_by_their_number(value: int, kind: ErrorKind) -> None:
    pynvml = pytest.importorskip("pynvml")
    assert classify(pynvml.NVMLError(value)) is kind


def test_the_runtime_asks_the_table() -> None:
    error = RuntimeError("CUDA error: uncorrectable ECC error encountered")
    assert CudaRuntime.classify_error(CudaRuntime.__new__(CudaRuntime), error) is (
        ErrorKind.MEMORY_FAULT
    )


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
