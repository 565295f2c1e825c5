"""What the errors of torch.cuda, CUDA's libraries, NCCL and NVML mean."""

from __future__ import annotations

import re
from collections.abc import Mapping

from accelhal.errors import ErrorKind, message_of
from accelhal.runtimes.error_messages import MessageTable, attribute_of, classify_message
from accelhal.runtimes.torch_features import accelerator_error

CUDA_ERRORS: Mapping[ErrorKind, Mapping[int, str]] = {
    ErrorKind.OUT_OF_MEMORY: {2: "out of memory"},
    ErrorKind.RESOURCE_EXHAUSTED: {711: "peer mapping resources exhausted"},
    ErrorKind.DEVICE_UNAVAILABLE: {
        3: "initialization error",
        34: "CUDA driver is a stub library",
        35: "CUDA driver version is insufficient for CUDA runtime version",
        46: "CUDA-capable device(s) is/are busy or unavailable",
        100: "no CUDA-capable device is detected",
        102: "device doesn't have valid Grid license",
        127: "startup failure in cuda runtime",
        216: "exclusive-thread device already in use by a different thread",
        802: "system not yet initialized",
        803: "system has unsupported display driver / cuda driver combination",
        804: "forward compatibility was attempted on non supported HW",
        805: "MPS client failed to connect to the MPS control daemon or the MPS server",
        806: "the remote procedural call between the MPS server and the MPS client failed",
        807: "MPS server is not ready to accept new MPS client requests",
        808: "the hardware resources required to create MPS client have been exhausted",
        809: "the hardware resources required to support device connections have been exhausted",
        919: "GPU fabric is not ready within the probe wait budget",  # 13.5
    },
    ErrorKind.MEMORY_FAULT: {214: "uncorrectable ECC error encountered"},
    ErrorKind.LINK_FAULT: {220: "uncorrectable NVLink error detected during the execution"},
    ErrorKind.ILLEGAL_ACCESS: {
        # From 12.8 on. Every peer of a process that died sees it too: the process is spoilt ("must
        # be terminated and relaunched"), its board need not be.
        226: "Invalid access of peer GPU memory over nvlink or a hardware error",
        700: "an illegal memory access was encountered",
        716: "misaligned address",
        717: "operation not supported on global/shared address space",
    },
    ErrorKind.LAUNCH_FAILURE: {
        53: "unspecified launch failure in prior launch",
        710: "device-side assert triggered",
        714: "hardware stack error",
        715: "an illegal instruction was encountered",
        718: "invalid program counter",
        719: "unspecified launch failure",
        721: "tensor memory not completely freed",  # from 12.8 on
        911: "an async error has occured in external entity outside of CUDA",
    },
    ErrorKind.TIMEOUT: {702: "the launch timed out and was terminated"},
    ErrorKind.DRIVER_SHUTDOWN: {
        4: "driver shutting down",
        201: "invalid device context",
        709: "context is destroyed",
        810: "the MPS client has been terminated by the server",
    },
    ErrorKind.UNSUPPORTED: {
        36: "API call is not supported in the installed CUDA driver",
        98: "invalid device function",
        200: "device kernel image is invalid",
        209: "no kernel image is available for execution on the device",
        217: "peer access is not supported between these two devices",
        218: "a PTX JIT compilation failed",
        221: "PTX JIT compiler library not found",
        222: "the provided PTX was compiled with an unsupported toolchain.",
        223: "PTX JIT compilation was disabled",
        227: "Loader version is insufficient for fatbin",  # 13.5
        701: "too many resources requested for launch",
        720: "too many blocks in cooperative launch",
        801: "operation not supported",
    },
    ErrorKind.USAGE: {
        1: "invalid argument",
        9: "invalid configuration argument",
        101: "invalid device ordinal",
        400: "invalid resource handle",
        708: "cannot set while device is active in this process",
        712: "part or all of the requested memory range is already mapped",
        713: "pointer does not correspond to a registered memory region",
        800: "operation not permitted",
        900: "operation not permitted when stream is capturing",
        901: "operation failed due to a previous error during capture",
        902: "operation would result in a merge of separate capture sequences",
        903: "capture was not ended in the same stream as it began",
        904: "capturing stream has unjoined work",
        905: "dependency created on uncaptured work in another stream",
        906: "operation would make the legacy stream depend on a capturing blocking stream",
        907: "operation not permitted on an event last recorded in a capturing stream",
        908: "attempt to terminate a thread-local capture sequence from another thread",
    },
}
"""cudaError_t: number and text by what it means.

Texts: cudaGetErrorString of libcudart 11.7.99, 12.1.105, 13.0.96 and 13.5.37, which agree in all
that is listed. Kinds: the descriptions of cudaError_t, above all whether the process has to be
relaunched. Code 999, "unknown error", is unknown.
"""

NVML_ERRORS: Mapping[int, ErrorKind] = {
    3: ErrorKind.UNSUPPORTED,
    4: ErrorKind.DEVICE_UNAVAILABLE,  # no permission
    9: ErrorKind.DEVICE_UNAVAILABLE,  # driver not loaded
    10: ErrorKind.TIMEOUT,
    12: ErrorKind.DEVICE_UNAVAILABLE,  # library not found
    15: ErrorKind.DEVICE_LOST,
    16: ErrorKind.DEVICE_LOST,  # reset required
    18: ErrorKind.DEVICE_UNAVAILABLE,  # library and kernel module differ
    27: ErrorKind.DEVICE_UNAVAILABLE,  # not ready
}
"""nvmlReturn_t of nvml.h 13, the value of a pynvml.NVMLError: torch.cuda.utilization asks NVML."""

_KINDS = {code: kind for kind, errors in CUDA_ERRORS.items() for code in errors}

_KINDS_BY_TEXT = {text: kind for kind, errors in CUDA_ERRORS.items() for text in errors.values()}

_CUDA_TEXT = re.compile(
    # "CUDA error: " c10/cuda/CUDAException.cpp, "CUDA driver error: " c10/cuda/driver_api.h,
    # "Triton Error [CUDA]: " triton 3, "Cuda failure 'x'" nccl 2.14, "Cuda failure 2 'x'" later
    r"(?:CUDA (?:driver )?error: |Triton Error \[CUDA\]: |Cuda failure (?:\d+ )?')"
    # the longest first: some texts begin others
    rf"({'|'.join(map(re.escape, sorted(_KINDS_BY_TEXT, key=len, reverse=True)))})"
)

MESSAGES: MessageTable = (
    # CUDACachingAllocator.cpp, torch 2.1 to 2.13, as torch.OutOfMemoryError or quoted
    (re.compile(r"\bCUDA out of memory\."), ErrorKind.OUT_OF_MEMORY),
    # the same, where NVML fails while the message is made (MIG, Jetson)
    (
        re.compile(r"NVML_SUCCESS == r INTERNAL ASSERT FAILED at .*CUDACachingAllocator"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    # CUBLAS_STATUS_ALLOC_FAILED (cublas 11 on), CUDNN_STATUS_ALLOC_FAILED (cudnn 8),
    # CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED (cudnn 9), CUFFT_ALLOC_FAILED, …
    (
        re.compile(r"\bCU(BLAS|DNN|SOLVER|SPARSE|FFT|RAND)_\w*ALLOC(ATION)?_FAILED\b"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        re.compile(r"\bCU(BLAS|DNN|SOLVER|SPARSE)_STATUS_(EXECUTION_FAILED|MAPPING_ERROR)\b"),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (
        re.compile(r"\bCU(BLAS|DNN|SOLVER|SPARSE)_STATUS_(NOT_SUPPORTED|ARCH_MISMATCH)\b"),
        ErrorKind.UNSUPPORTED,
    ),
    # torch/csrc/cuda/Module.cpp and c10/cuda/CUDAFunctions.cpp
    (re.compile(r"No CUDA GPUs are available"), ErrorKind.DEVICE_UNAVAILABLE),
    (re.compile(r"Found no NVIDIA driver on your system"), ErrorKind.DEVICE_UNAVAILABLE),
    (re.compile(r"NVIDIA driver on your system is too old"), ErrorKind.DEVICE_UNAVAILABLE),
    (re.compile(r"Unexpected error from cudaGetDeviceCount\(\)"), ErrorKind.DEVICE_UNAVAILABLE),
    (re.compile(r"CUDA unknown error - this may be due to"), ErrorKind.DEVICE_UNAVAILABLE),
    # cudaErrorDevicesUnavailable before CUDA 11.1
    (re.compile(r"all CUDA-capable devices are busy"), ErrorKind.DEVICE_UNAVAILABLE),
    # NCCLUtils.cpp, torch 2.4 to 2.13, over nccl 2.14 to 2.20. Two ranks on one board will not get
    # better by starting anew.
    (re.compile(r"Duplicate GPU detected"), ErrorKind.USAGE),
    (re.compile(r"\bncclInvalid(Usage|Argument)\b"), ErrorKind.USAGE),
    (re.compile(r"\bNCCL (error in|timeout in|Error \d)"), ErrorKind.COMMUNICATION),
    (re.compile(r"\bnccl(UnhandledCuda|System|Internal|Remote)Error\b"), ErrorKind.COMMUNICATION),
)


def classify(error: BaseException) -> ErrorKind:
    """Kind of an error of torch.cuda."""
    return classify_message(error, MESSAGES, _kind_by_code)


def _kind_by_code(error: BaseException) -> ErrorKind | None:
    """By cudaError_t: the number where there is one (torch 2.8 on), else CUDA's text for it."""
    number = attribute_of(error, "error_code")
    failed_call = accelerator_error()
    if isinstance(number, int) and failed_call is not None and isinstance(error, failed_call):
        return _KINDS.get(number)
    if type(error).__module__ == "pynvml":
        value = attribute_of(error, "value")
        return NVML_ERRORS.get(value) if isinstance(value, int) else None
    if not isinstance(error, RuntimeError):
        return None
    found = _CUDA_TEXT.search(message_of(error))
    return _KINDS_BY_TEXT[found[1]] if found else None
