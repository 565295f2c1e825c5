"""`graph(device)`: what it records, what it passes on, and what it leaves behind."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch

import accelhal
from accelhal.errors import DeviceTimeoutError, UnsupportedError, UsageError
from accelhal.facade import Device
from accelhal.graphs import capturing, graph

JOIN_LIMIT_S = 60


def test_a_replay_follows_the_changed_input(board: Device) -> None:
    x = torch.ones(3, device=board.torch_device)
    with graph(board) as recorded:
        y = x * 2 + 1
    for value in (3.0, 5.0):
        x.fill_(value)
        recorded.replay()
        assert y.tolist() == [value * 2 + 1] * 3


def test_it_takes_a_device_by_name_that_is_not_the_current_one(board: Device) -> None:
    x = torch.ones(3, device="mock:1")
    with graph("mock:1") as recorded:
        y = x + 1
    recorded.replay()
    assert y.tolist() == [2.0] * 3
    assert board.current_stream() == board.default_stream()
    assert torch.mock.current_device() == 0


def test_mode_pool_and_stream_are_always_given_by_name(
    board: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []
    vendor = torch.mock.graph

    def recording(first: Any, **options: Any) -> Any:
        seen.append(options)
        return vendor(first, **options)

    monkeypatch.setattr(torch.mock, "graph", recording)
    x = torch.ones(3, device="mock:1")
    with graph("mock:1"):
        _ = x + 1
    with graph("mock:1", pool := board.graph_pool_handle(), None, "relaxed"):
        _ = x + 1
    assert [options["capture_error_mode"] for options in seen] == ["global", "relaxed"]
    assert [options["pool"] for options in seen] == [None, pool]
    assert [options["stream"].device for options in seen] == [torch.device("mock:1")] * 2


@pytest.mark.parametrize("fails_in", ["body", "end", "begin"])
def test_a_vendor_that_forgets_to_go_back_leaves_nothing_changed(
    board: Device, monkeypatch: pytest.MonkeyPatch, fails_in: str
) -> None:
    """torch's own context leaves its stream current where the end of the capture raises."""

    class Forgetful:
        def __init__(self, recorded: Any, *, stream: Any, **options: Any) -> None:
            self.stream = stream

        def __enter__(self) -> None:
            torch.mock.set_stream(self.stream)
            if fails_in == "begin":
                raise RuntimeError("capture_begin failed")

        def __exit__(self, *exception: object) -> None:
            raise RuntimeError("capture_end failed")

    monkeypatch.setattr(torch.mock, "graph", Forgetful)
    message = "division" if fails_in == "body" else f"capture_{fails_in} failed"
    with pytest.raises((RuntimeError, ZeroDivisionError), match=message), graph("mock:1"):
        _ = 1 // (fails_in != "body")
    other = accelhal.device("mock:1")
    assert other.current_stream() == other.default_stream()
    assert torch.mock.current_device() == 0


def test_a_call_that_spoils_the_capture_leaves_the_device_usable(board: Device) -> None:
    x = torch.ones(3, device=board.torch_device)
    with pytest.raises(torch.AcceleratorError, match="captur"), graph(board):
        _ = (x * 2).sum().item()
    assert (x + 1).tolist() == [2.0] * 3
    with graph(board) as recorded:
        y = x * 3
    recorded.replay()
    assert y.tolist() == [3.0] * 3


def test_captures_of_two_threads_take_turns(board: Device) -> None:
    x = torch.ones(3, device=board.torch_device)
    began, ended, order = threading.Event(), threading.Event(), []

    def second() -> None:
        began.set()
        with torch.no_grad(), graph(board):
            order.append("second")
            _ = x + 1
        ended.set()

    thread = threading.Thread(target=second, daemon=True)
    with graph(board):
        thread.start()
        assert began.wait(JOIN_LIMIT_S)
        assert not ended.wait(0.05)
        order.append("first")
        _ = x + 1
    thread.join(JOIN_LIMIT_S)
    assert not thread.is_alive()
    assert order == ["first", "second"]


def test_a_capture_that_never_ends_is_not_waited_for_without_limit(
    board: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capturing, "CAPTURE_WAIT_S", 0.01)
    errors: list[Exception] = []

    def second() -> None:
        try:
            with graph(board):
                pass
        except DeviceTimeoutError as error:
            errors.append(error)

    thread = threading.Thread(target=second, daemon=True)
    with graph(board):
        thread.start()
        thread.join(JOIN_LIMIT_S)
    assert [error.device for error in errors] == ["mock:0"]


def test_what_it_refuses(board: Device) -> None:
    with pytest.raises(UnsupportedError, match="cpu:0 has no graphs"), graph("cpu"):
        pass
    with pytest.raises(UsageError, match="capture error mode"), graph(board, None, None, "lax"):
        pass
    with (
        pytest.raises(UsageError, match="stream"),
        graph(board, stream=torch.mock.Stream("mock:1")),
    ):
        pass
