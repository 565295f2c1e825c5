"""torch_npu's errors: real messages, each with where it was seen, and what none of them is."""

from __future__ import annotations

import pytest
import torch
from accelhal_ascend.error_messages import CODES, classify
from accelhal_ascend.runtime import AscendRuntime
from error_samples import HOSTILE, USERS_OWN, anything, noise, with_lines
from hypothesis import given, strategies as st

from accelhal.errors import ErrorKind, ErrorScope

ACL = (
    "\n[ERROR] 2025-11-19-11:14:58 (PID:356, Device:0, RankID:-1) ERR00100 PTA call acl api failed"
)
"""What torch_npu puts after a code, unless TORCH_NPU_COMPACT_ERROR_OUTPUT is set."""

HCCL = "\n[ERROR] 2025-12-04-14:46:07 (PID:605, Device:0, RankID:-1) ERR02200 DIST call hccl api"

INNER = (
    "The Inner error is reported as above. The process exits for this inner error, and the current "
    "working operator name is {operator}.\nSince the operator is called asynchronously, the "
    "stacktrace may be inaccurate. If you want to get the accurate stacktrace, please set the "
    f"environment variable ASCEND_LAUNCH_BLOCKING=1.{ACL}."
)

REAL: tuple[tuple[str, BaseException, ErrorKind], ...] = (
    (
        "torch_npu 2.1 to 2.9.0, a plain RuntimeError",
        RuntimeError(
            "NPU out of memory. Tried to allocate 260.00 MiB (NPU 0; 28.50 GiB total capacity; "
            "10.24 GiB already allocated; 10.24 GiB current active; 149.57 MiB free)"
        ),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "torch_npu 2.10 on",
        torch.OutOfMemoryError("NPU out of memory. Tried to allocate 674.00 MiB (NPU 0; 60.96"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "torch_npu 2.7, NPUWorkspaceAllocator.cpp",
        RuntimeError(
            "NPU out of memory. NPUWorkspaceAllocator tried to allocate 180.00 MiB(NPU 0; 60.96 "
            "GiB total capacity; 89.51 MiB free).\n[ERROR] 2026-01-07-02:38:42 (PID:1692, Device:0,"
            " RankID:-1) ERR00006 PTA memory error"
        ),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "torch_npu 2.9, pinned memory; EE1016 is a red herring",
        RuntimeError(
            "allocate_host_memory_slowpath:../torch_npu/csrc/core/CachingHostAllocator.cpp:244 "
            f"NPU function error: aclrtMallocHostWithCfg, error code is 207001{ACL}\n[Error]: "
            "Failed to apply for memory.\nNot_Supported(EE1016): The current thread is in the "
            "capture state\nrtsMallocHost execution failed, reason=driver error:out of memory"
        ),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "the same in the compact form",
        RuntimeError(
            "[PID: 1119] 2026-10-10-01:49:39.813.031 Resource_Error_Insufficient_Host_Memory"
            "(EL0018): Failed to allocate 134217728 bytes host memory requested by the RUNTIME"
        ),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "vllm-ascend's FAQ, question 17",
        RuntimeError(
            "capture_begin:../torch_npu/csrc/core/npu/NPUGraph.cpp:230 NPU function error: "
            "AclmdlRICaptureBegin(capture_stream_, capture_mode), error code is 207008"
            f"{ACL}\n[Error]: Stream resources are insufficient."
        ),
        ErrorKind.RESOURCE_EXHAUSTED,
    ),
    (
        "the same in the compact form",
        RuntimeError("[PID: 7] Insufficient_Stream_Resources(EL0009): The stream resources are"),
        ErrorKind.RESOURCE_EXHAUSTED,
    ),
    (
        "vllm-project/vllm-ascend#4483",
        RuntimeError(
            "copy_between_host_and_device_opapi:build/CMakeFiles/compiler_depend.ts:57 "
            f"NPU function error: UCE ERROR, error code is 507053{ACL}"
        ),
        ErrorKind.MEMORY_FAULT,
    ),
    (
        "NPUQueue.cpp, torch_npu 2.6: no code",
        RuntimeError(f"HBM MULTI BIT ECC ERROR, EE9999: Inner Error!{ACL}"),
        ErrorKind.MEMORY_FAULT,
    ),
    (
        "the compact form",
        RuntimeError(
            "EZ9999: Inner Error!\n rtStreamSynchronize failed, reason=[device mem error]"
        ),
        ErrorKind.MEMORY_FAULT,
    ),
    (
        "NPUException.cpp, torch_npu 2.6",
        RuntimeError(f"synchronize:NPUStream.cpp:363 NPU function error: HCCS LINK ERROR{ACL}"),
        ErrorKind.LINK_FAULT,
    ),
    (
        "NPUException.h, torch_npu 2.5: the board's tasks were aborted",
        RuntimeError(
            "npuSynchronizeDevice:NPUStream.cpp:363 NPU function error: FORCE STOP., error code "
            f"is 107022{ACL}"
        ),
        ErrorKind.DEVICE_LOST,
    ),
    (
        "task scheduler without a heartbeat",
        RuntimeError(f"NPU function error: aclrtSynchronizeDevice, error code is 507010{ACL}"),
        ErrorKind.DEVICE_LOST,
    ),
    (
        "vllm-project/vllm-ascend#4284",
        RuntimeError(
            "Initialize:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:152 NPU function error: "
            f"c10_npu::SetDevice(device_id_), error code is 507033{ACL}\n[Error]: Failed to start "
            "the device.\nE30006: 2025-11-19-11:14:58.516.606 Failed to verify the OPP"
        ),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        "torch_npu 2.1, the older wording",
        RuntimeError(
            "Initialize:torch_npu/csrc/core/npu/sys_ctrl/npu_sys_ctrl.cpp:133 NPU error, error "
            "code is 507033\n[Error]: Failed to start the device.\nEE1001: The argument is invalid."
        ),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        "gpustack/gpustack#3352, the second code of two",
        RuntimeError(f"NPU function error: aclrtGetDeviceCount(&count), error code is 207004{ACL}"),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        "torch_npu without a board",
        RuntimeError("No NPUs are available\n[ERROR] … ERR00009 PTA resource unavailable"),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        "PaddlePaddle/PaddleOCR#16162",
        RuntimeError(f"NPU function error: aclInit, error code is 507008{ACL}"),
        ErrorKind.DEVICE_UNAVAILABLE,
    ),
    (
        "vllm-project/vllm-ascend#6359",
        RuntimeError(
            "RunOpApiV2:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:256 NPU function error: "
            f"c10_npu::acl::AclrtSynchronizeStreamWithTimeout(stream), error code is 507035{ACL}\n"
            "[Error]: The vector core execution is abnormal.\nEZ9999: Inner Error!\nEZ9999[PID: 1] "
            "The error from device(chipId:2, dieId:0), serial number is 13, there is an exception "
            "of aivec error, core id is 43, error code = 0, dump info: pc start: 0x12c08127bb74"
        ),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (
        "vllm-project/vllm-ascend#2349, `.tolist()`",
        RuntimeError("ACL stream synchronize failed, error code:507035"),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (
        "Ascend/pytorch#66 in the compact form",
        RuntimeError(
            "EH9999: Inner Error!\n        rtDeviceSynchronizeWithTimeout execute failed, reason="
            "[vector core exception][FUNC:FuncErrorReason]\nwait for compute device to finish "
            "failed, runtime result = 507035.[FUNC:ReportCallError][FILE:log_inner.cpp][LINE:161]"
        ),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (
        "vllm-project/vllm-ascend#7676",
        RuntimeError(
            "synchronize:compiler_depend.ts:3 NPU function error: AclrtSynchronizeStreamWithTimeout"
            f"(stream()), error code is 507011{ACL}\nEE9999: Inner Error!\nsynchronized memcpy "
            "failed, kind = 1, runtime result = 107030[FUNC:ReportCallError]"
        ),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (
        "vllm-project/vllm-ascend, many: the task queue has stopped",
        RuntimeError(INNER.format(operator="SelfAttentionOperation")),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (
        "the task queue has stopped for want of memory: a smaller batch will not do",
        RuntimeError(INNER.format(operator="aclnnMul") + "\nMemory_Allocation_Failure(EL0004): x"),
        ErrorKind.LAUNCH_FAILURE,
    ),
    (
        "the task queue has stopped for a link",
        RuntimeError(INNER.format(operator="aclnnMul") + "\nruntime result = 507056."),
        ErrorKind.LINK_FAULT,
    ),
    (
        "the task queue has stopped for a collective",
        RuntimeError(
            INNER.format(operator="HcclAllreduce") + "\nEI0002: The wait execution of the Notify "
            "register times out."
        ),
        ErrorKind.COMMUNICATION,
    ),
    (
        "AI core trap, read out of bounds",
        RuntimeError(f"NPU function error: aclrtSynchronizeStream, error code is 507042{ACL}"),
        ErrorKind.ILLEGAL_ACCESS,
    ),
    (
        "Ascend/pytorch#72",
        RuntimeError(
            "npuSynchronizeDevice:build/torch_npu.dir/compiler_depend.ts:506 NPU function "
            f"error: AclrtSynchronizeDeviceWithTimeout, error code is 107020{ACL}\nEH9999: Inner "
            "Error!\nrtDeviceSynchronizeWithTimeout execute failed, reason=[task timeout]"
        ),
        ErrorKind.TIMEOUT,
    ),
    (
        "a barrier of 16 ranks, torch_npu 2.1: the wait is a collective's",
        RuntimeError(
            "npuSynchronizeDevice:torch_npu/csrc/core/NPUStream.cpp:363 NPU error, error code is "
            f"107020{ACL}\nEI9999: Inner Error!\nhccl fftsplus task timeout occurred during task "
            "execution, stream_id:4, sq_id:4, task_id:5, stuck notify num:7, timeout:1836."
        ),
        ErrorKind.COMMUNICATION,
    ),
    (
        "vllm-project/vllm-ascend#5461, #397",
        RuntimeError(
            "create_config:compiler_depend.ts:149 HCCL function error: hcclCommInitRootInfoConfig("
            f"numRanks, &rootInfo, rank, config, &(comm->hcclComm_)), error code is 7{HCCL}"
        ),
        ErrorKind.COMMUNICATION,
    ),
    (
        "vllm-ascend, an operator that is a collective",
        RuntimeError(
            "InnerRunOpApi:torch_npu/csrc/framework/OpParamMaker.cpp:281 OPS function error: "
            "HcclAllgather, error code is 6\n[ERROR] 2025-07-01-00:40:04 (PID:176930, Device:0, "
            "RankID:-1) ERR01100 OPS call acl api failed.\nEI0006: Getting socket times out."
        ),
        ErrorKind.COMMUNICATION,
    ),
    (
        "the compact form of a bind that failed",
        RuntimeError(
            "[PID: 3354790] 2026-04-28-16:56:52.897.463 Communication_Error_Bind_IP_Port(EJ0003): "
            "Failed to bind the IP port. Reason: The IP address and port have been bound already."
        ),
        ErrorKind.COMMUNICATION,
    ),
    (
        "a diffusion server under load, torch_npu 2.7",
        RuntimeError(
            "copy_between_host_and_device_opapi ... NPU function error: SUSPECT REMOTE ERROR, "
            f"error code is 507057{ACL}"
        ),
        ErrorKind.COMMUNICATION,
    ),
    (
        "HCCL has no memory",
        RuntimeError(f"HCCL function error: HcclAllReduce, error code is 24{HCCL}"),
        ErrorKind.OUT_OF_MEMORY,
    ),
    (
        "a chip whose operator package is not installed, CANN 9",
        RuntimeError(
            "zero_:ZerosLikeKernelNpuOpApi.cpp:25 NPU function error: call aclnnInplaceZero "
            f"failed, error code is 561103{ACL}\nConfig_Error(EZ1013): In the dynamic shape "
            "scenario, the JSON configuration file of operator aclnnInplaceZero_55 cannot be found."
        ),
        ErrorKind.UNSUPPORTED,
    ),
    (
        "torch_npu 2.1's tests",
        RuntimeError(
            "_copy_from_and_resize now only support copy with same size!\n[ERROR] 2024-11-28-"
            "11:37:15 (PID:6547, Device:0, RankID:-1) ERR01007 OPS feature not supported"
        ),
        ErrorKind.UNSUPPORTED,
    ),
    (
        "CANN: a feature that the driver lacks",
        RuntimeError(f"NPU function error: aclrtSetOpWaitTimeout, error code is 207000{ACL}"),
        ErrorKind.UNSUPPORTED,
    ),
    (
        "a float8 tensor on a 910B",
        RuntimeError(
            f"NPU function error: call aclnnInplaceZero failed, error code is 161002{ACL}"
        ),
        ErrorKind.USAGE,
    ),
    (
        "torch.npu.set_device(7) with two boards",
        RuntimeError(f"NPU function error: c10_npu::SetDevice(device), error code is 107001{ACL}"),
        ErrorKind.USAGE,
    ),
    (
        "a copy to the host inside a graph's capture",
        RuntimeError(f"NPU function error: aclrtMemcpy, error code is 107030{ACL}"),
        ErrorKind.USAGE,
    ),
    ("torch.npu.get_device_name(99)", AssertionError("Invalid device id"), ErrorKind.USAGE),
    (
        "torch_npu in a forked DataLoader worker",
        RuntimeError(
            "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you "
            "must use the 'spawn' start method"
        ),
        ErrorKind.BAD_FORK,
    ),
)

AMBIGUOUS: tuple[tuple[str, BaseException], ...] = (
    ("an internal error of any sort", RuntimeError(f"NPU error, error code is 500002{ACL}")),
    ("no code at all", RuntimeError(f"x{ACL}")),
    ("an overflow of numbers", RuntimeError(f"NPU error, error code is 207003{ACL}")),
)


@pytest.mark.parametrize(("source", "error", "kind"), REAL)
def test_real_messages(source: str, error: BaseException, kind: ErrorKind) -> None:
    assert classify(error) is kind, source


@pytest.mark.parametrize("error", USERS_OWN, ids=repr)
def test_a_users_own_errors_are_not_the_npus(error: BaseException) -> None:
    assert classify(error) is ErrorKind.UNKNOWN


@pytest.mark.parametrize(("why", "error"), AMBIGUOUS)
def test_what_may_mean_several_things_stays_unknown(why: str, error: BaseException) -> None:
    assert classify(error) is ErrorKind.UNKNOWN, why


@pytest.mark.parametrize("code", [code for code in CODES if code >= 100000])
@pytest.mark.parametrize(
    "form",
    [
        f"f:x.cpp:1 NPU function error: g(), error code is {{code}}{ACL}",
        "f:x.cpp:1 NPU error, error code is {code}\n[Error]: text",
        "ACL stream synchronize failed, error code:{code}",
        "EE9999: Inner Error!\n  wait failed, runtime result = {code}.[FUNC:ReportCallError]",
    ],
)
def test_every_code_in_every_form(code: int, form: str) -> None:
    assert classify(RuntimeError(form.format(code=code))) is CODES[code]


@pytest.mark.parametrize("code", [code for code in CODES if 507000 <= code < 508000])
def test_nothing_that_the_device_reports_is_only_the_requests(code: int) -> None:
    kind = CODES[code]
    asks_for_less = {ErrorKind.USAGE, ErrorKind.UNSUPPORTED, ErrorKind.RESOURCE_EXHAUSTED}
    assert kind.scope is not ErrorScope.REQUEST or kind in asks_for_less


def test_a_deferred_call_that_fails_is_what_it_failed_of() -> None:
    # torch_npu raises a name that it never defined.
    error = NameError("name 'DeferredNpuCallError' is not defined")
    error.__context__ = RuntimeError(f"NPU function error: f(), error code is 507010{ACL}")
    assert classify(error) is ErrorKind.DEVICE_LOST
    assert classify(NameError("name 'DeferredNpuCallError' is not defined")) is ErrorKind.UNKNOWN


def test_the_runtime_asks_the_table() -> None:
    error = RuntimeError(f"NPU function error: f(), error code is 507056{ACL}")
    runtime = AscendRuntime.__new__(AscendRuntime)
    assert AscendRuntime.classify_error(runtime, error) is ErrorKind.LINK_FAULT


@pytest.mark.parametrize("error", HOSTILE, ids=lambda error: type(error).__name__)
def test_hostile_errors(error: BaseException) -> None:
    assert classify(error) is ErrorKind.UNKNOWN


@given(anything)
def test_any_error_has_a_kind(error: BaseException) -> None:
    assert isinstance(classify(error), ErrorKind)


@given(st.integers(0, 10**9))
def test_any_code_has_a_kind(code: int) -> None:
    kind = classify(RuntimeError(f"NPU function error: f(), error code is {code}{ACL}"))
    assert kind is CODES.get(
        code, ErrorKind.USAGE if 100000 <= code < 200000 else ErrorKind.UNKNOWN
    )


@given(st.sampled_from([(error, kind) for _, error, kind in REAL]), noise)
def test_lines_after_a_message_change_nothing(
    case: tuple[BaseException, ErrorKind], lines: str
) -> None:
    error, kind = case
    assert classify(with_lines(error, lines)) is kind
