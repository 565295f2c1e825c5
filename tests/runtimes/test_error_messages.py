"""What is the same for every backend: classes before texts, chains, groups, and a user's own."""

from __future__ import annotations

import builtins
import re

import pytest
import torch
from error_samples import HOSTILE, USERS_OWN, anything
from hypothesis import given, strategies as st

from accelhal.errors import (
    AccelhalError,
    DeviceError,
    DeviceLostError,
    DeviceNotFoundError,
    DeviceUnhealthyError,
    ErrorKind,
    ErrorScope,
    UsageError,
)
from accelhal.runtimes.error_messages import attribute_of, classify_message

TABLE = (
    (re.compile(r"the board melted"), ErrorKind.DEVICE_LOST),
    (re.compile(r"board \d+ is busy"), ErrorKind.DEVICE_UNAVAILABLE),
    (re.compile(r"wrong way"), ErrorKind.USAGE),
)


def by_code(error: BaseException) -> ErrorKind | None:
    return ErrorKind.MEMORY_FAULT if attribute_of(error, "code") == 7 else None


class CodedError(RuntimeError):
    code = 7


def classify(error: BaseException) -> ErrorKind:
    return classify_message(error, TABLE, by_code)


def caused(error: BaseException, by: BaseException) -> BaseException:
    error.__cause__ = by
    return error


OUT_OF_MEMORY = torch.OutOfMemoryError("x")
LOST = RuntimeError("device 3: the board melted\n[ERROR] 12:00:01")


@pytest.mark.parametrize("error", USERS_OWN, ids=repr)
def test_a_users_own_error_is_of_unknown_kind(error: BaseException) -> None:
    assert classify(error) is ErrorKind.UNKNOWN


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (LOST, ErrorKind.DEVICE_LOST),
        (CodedError("the board melted"), ErrorKind.MEMORY_FAULT),
        (torch.OutOfMemoryError("the board melted"), ErrorKind.OUT_OF_MEMORY),
        (ValueError("wrong way"), ErrorKind.USAGE),
        (ValueError("the board melted"), ErrorKind.UNKNOWN),
        (OSError("the board melted"), ErrorKind.UNKNOWN),
        (DeviceNotFoundError("no board 7"), ErrorKind.USAGE),
        # texts of torch itself
        (AssertionError("Invalid device id"), ErrorKind.USAGE),
        (AssertionError("Torch not compiled with CUDA enabled"), ErrorKind.USAGE),
        (
            RuntimeError(
                "Expected one of cpu, cuda, ipu, xpu, … mtia, privateuseone device type at start "
                "of device string: npu"
            ),
            ErrorKind.USAGE,
        ),
        (
            RuntimeError("Cannot access accelerator device when none is available."),
            ErrorKind.DEVICE_UNAVAILABLE,
        ),
        (
            RuntimeError("XPU out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total"),
            ErrorKind.OUT_OF_MEMORY,
        ),
    ],
    ids=repr,
)
def test_class_then_code_then_text(error: BaseException, kind: ErrorKind) -> None:
    assert classify(error) is kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (torch.distributed.DistBackendError("no such text"), ErrorKind.COMMUNICATION),
        (torch.distributed.DistNetworkError("Connection reset by peer"), ErrorKind.COMMUNICATION),
        (torch.distributed.DistStoreError("wait timeout after 3 s"), ErrorKind.COMMUNICATION),
        (torch.distributed.DistBackendError("the board melted"), ErrorKind.DEVICE_LOST),
        (
            RuntimeError(
                "[Rank 1] Watchdog caught collective operation timeout: WorkHCCL(SeqNum=196, "
                "OpType=ALLREDUCE, Timeout(ms)=3600000) ran for 3600185 milliseconds"
            ),
            ErrorKind.COMMUNICATION,
        ),
        (
            RuntimeError(
                "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by "
                "peer [192.168.7.7]:23568"
            ),
            ErrorKind.COMMUNICATION,
        ),
        (
            RuntimeError("Rank 1 failed to pass monitoredBarrier in 2000 ms"),
            ErrorKind.COMMUNICATION,
        ),
    ],
    ids=repr,
)
def test_a_collectives_failure_asks_for_new_ranks(error: BaseException, kind: ErrorKind) -> None:
    assert classify(error) is kind


def test_a_timeout_of_a_collective_spoils_the_process_and_no_device() -> None:
    assert ErrorKind.COMMUNICATION.scope is ErrorScope.PROCESS
    assert ErrorKind.TIMEOUT.scope is ErrorScope.DEVICE


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (caused(ValueError("batch 3 failed"), OUT_OF_MEMORY), ErrorKind.OUT_OF_MEMORY),
        (caused(KeyError("k"), caused(OSError("o"), LOST)), ErrorKind.DEVICE_LOST),
        (caused(torch.OutOfMemoryError("x"), LOST), ErrorKind.OUT_OF_MEMORY),
        (caused(RuntimeError("x"), ValueError("y")), ErrorKind.UNKNOWN),
    ],
    ids=repr,
)
def test_what_says_nothing_is_what_its_cause_is(error: BaseException, kind: ErrorKind) -> None:
    assert classify(error) is kind


def test_what_failed_while_an_error_was_handled_is_not_that_error() -> None:
    error = KeyError("missing")
    error.__context__ = OUT_OF_MEMORY
    assert classify(error) is ErrorKind.UNKNOWN


@pytest.mark.parametrize(
    ("error", "by", "kind"),
    [
        (DeviceLostError("x"), RuntimeError("…"), ErrorKind.DEVICE_LOST),
        (DeviceUnhealthyError("x"), LOST, ErrorKind.DEVICE_LOST),
        (DeviceError("x"), RuntimeError("board 3 is busy"), ErrorKind.DEVICE_UNAVAILABLE),
        (
            UsageError("x"),
            RuntimeError("Cannot re-initialize NPU in forked subprocess"),
            ErrorKind.BAD_FORK,
        ),
    ],
    ids=repr,
)
def test_the_facades_error_keeps_the_kind_that_it_was_made_of(
    error: AccelhalError, by: BaseException, kind: ErrorKind
) -> None:
    assert classify(caused(error, by)) is kind


class Group(Exception):
    """An exception group as Python 3.10's backport has it."""

    def __init__(self, *exceptions: BaseException) -> None:
        super().__init__("several")
        self.exceptions = exceptions


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        ([OUT_OF_MEMORY], ErrorKind.OUT_OF_MEMORY),
        ([OUT_OF_MEMORY, OUT_OF_MEMORY], ErrorKind.OUT_OF_MEMORY),
        ([OUT_OF_MEMORY, LOST], ErrorKind.DEVICE_LOST),
        ([LOST, torch.distributed.DistBackendError("x")], ErrorKind.COMMUNICATION),
        ([LOST, KeyError()], ErrorKind.DEVICE_LOST),
        ([OUT_OF_MEMORY, KeyError()], ErrorKind.UNKNOWN),
        ([Group(Group(LOST)), OUT_OF_MEMORY], ErrorKind.DEVICE_LOST),
        ([caused(ValueError("x"), LOST)], ErrorKind.DEVICE_LOST),
    ],
    ids=repr,
)
def test_a_group_is_the_gravest_of_its_members(
    members: list[BaseException], kind: ErrorKind
) -> None:
    assert classify(Group(*members)) is kind


def test_pythons_own_groups_are_looked_into() -> None:
    group = getattr(builtins, "ExceptionGroup", None)
    if group is None:
        pytest.skip("Python 3.10 has no ExceptionGroup")
    assert classify(group("several", [ValueError("x"), LOST])) is ErrorKind.DEVICE_LOST


@pytest.mark.parametrize("error", HOSTILE, ids=lambda error: type(error).__name__)
def test_hostile_errors_are_unknown(error: BaseException) -> None:
    assert classify(error) is ErrorKind.UNKNOWN


def test_a_long_chain_and_a_circle_end() -> None:
    error: BaseException = LOST
    for _ in range(2000):
        error = caused(ValueError("x"), error)
    assert classify(error) is ErrorKind.UNKNOWN
    group = Group(ValueError("x"))
    group.exceptions = (caused(ValueError("x"), group), LOST)
    assert classify(group) is ErrorKind.DEVICE_LOST


@given(st.recursive(anything, lambda inner: st.lists(inner, max_size=4).map(lambda e: Group(*e))))
def test_any_error_has_a_kind(error: BaseException) -> None:
    assert isinstance(classify(error), ErrorKind)
