"""Streams, events and hazards of python mode, as programs meet them through torch."""

import threading

import pytest
import torch
from accelhal_mock.simulation import HazardError


@pytest.fixture(autouse=True)
def boards(mock_boards):
    return mock_boards(count=2, memory="64MiB", mode="python")


def side_stream(device="mock:0"):
    """A stream that is ordered after all work so far."""
    stream = torch.mock.Stream(device)
    stream.wait_stream(torch.mock.current_stream(device))
    return stream


# ---- contexts


def test_stream_contexts_nest_and_restore():
    a, b = torch.mock.Stream(0), torch.mock.Stream(1)
    outer = torch.mock.current_stream(0)
    with torch.mock.stream(a):
        with torch.mock.stream(b):
            assert torch.mock.current_device() == 1
            assert torch.mock.current_stream() == b
            assert torch.mock.current_stream(0) == a
        assert torch.mock.current_device() == 0
        assert torch.mock.current_stream() == a
    assert torch.mock.current_stream(0) == outer


def test_one_stream_object_entered_twice_restores_each_time():
    stream = torch.mock.Stream(0)
    other = torch.mock.Stream(0)
    with stream:
        with other:
            with stream:
                assert torch.mock.current_stream() == stream
            assert torch.mock.current_stream() == other
        assert torch.mock.current_stream() == stream
    assert torch.mock.current_stream() == torch.mock.default_stream()


def test_one_context_object_entered_twice_restores_each_time():
    device = torch.mock.device(1)
    with device:
        with torch.mock.device(0):
            with device:
                assert torch.mock.current_device() == 1
            assert torch.mock.current_device() == 0
        assert torch.mock.current_device() == 1
    assert torch.mock.current_device() == 0


def test_contexts_belong_to_their_thread():
    stream = torch.mock.Stream(1)
    entered, leave = threading.Event(), threading.Event()
    seen = []

    def work():
        with stream:
            entered.set()
            leave.wait(10)
            seen.append((torch.mock.current_device(), torch.mock.current_stream() == stream))
        seen.append((torch.mock.current_device(), torch.mock.current_stream() == stream))

    thread = threading.Thread(target=work)
    with stream:
        thread.start()
        assert entered.wait(10)
        assert torch.mock.current_stream() == stream
    leave.set()
    thread.join(10)
    assert seen == [(1, True), (0, False)]
    assert torch.mock.current_device() == 0


def test_none_changes_nothing():
    with torch.mock.stream(None), torch.mock.device(None), torch.mock.device(-1):
        assert torch.mock.current_device() == 0
    with torch.mock.device_of(torch.ones(1, device="mock:1")):
        assert torch.mock.current_device() == 1
    with torch.mock.device_of(torch.ones(1)):
        assert torch.mock.current_device() == 0


def test_streams_are_equal_by_what_they_show():
    stream = torch.mock.Stream(1)
    again = torch.mock.Stream(stream_id=stream.stream_id, device_index=1)
    assert again == stream
    assert hash(again) == hash(stream)
    assert stream != torch.mock.Stream(1)
    assert stream.device == torch.device("mock:1")


# ---- order and time


def test_events_measure_the_cost_model():
    begin, end = (torch.mock.Event(enable_timing=True) for _ in range(2))
    small, large = (torch.ones(n, n, device="mock:0") for n in (16, 512))
    torch.mock.synchronize()
    spans = []
    for x in (small, large):
        begin.record()
        x @ x
        end.record()
        end.synchronize()
        spans.append(begin.elapsed_time(end))
    assert 0 < spans[0] < spans[1]


def test_flops_count_in_the_time_of_a_product(mock_boards):
    from accelhal_mock import machine

    board = machine().board(0)
    x = torch.ones(1024, 1024, device="mock:0")
    torch.mock.synchronize()
    begin = board.current_stream().ready
    x @ x
    taken = board.current_stream().ready - begin
    assert taken == pytest.approx(board.cost.kernel(3 * x.nbytes, 2 * 1024**3, "float32"))
    assert taken > board.cost.kernel(3 * x.nbytes)


def test_views_take_no_time():
    x = torch.ones(64, 64, device="mock:0")
    ready = torch.mock.current_stream(0).simulated.ready
    x.t()[1:].reshape(-1, 1).detach().unbind(1)
    assert torch.mock.current_stream(0).simulated.ready == ready or not x.t().is_contiguous()


# ---- hazards


def test_read_of_memory_that_another_stream_writes():
    x = torch.ones(4, device="mock:0")
    with torch.mock.stream(torch.mock.Stream()), pytest.raises(HazardError, match="aten::mul"):
        x * 2


def test_write_to_memory_that_another_stream_reads():
    x = torch.ones(4, device="mock:0")
    with torch.mock.stream(side_stream()):
        x * 2
    with pytest.raises(HazardError, match="write_after_read"):
        x.add_(1)
    assert x.tolist() == [1.0] * 4


def test_a_view_is_the_same_memory():
    x = torch.ones(4, device="mock:0")
    half = x[:2]
    with torch.mock.stream(side_stream()):
        half.add_(1)
    with pytest.raises(HazardError, match="read_after_write"):
        x.sum()


def test_in_place_results_in_tuples_and_lists_are_watched():
    xs = [torch.ones(4, device="mock:0") for _ in range(2)]
    with torch.mock.stream(side_stream()):
        torch._foreach_add_(xs, 1)
    with pytest.raises(HazardError, match="read_after_write"):
        xs[1].sum()


def test_out_arguments_are_watched():
    x, out = torch.ones(4, device="mock:0"), torch.empty(4, device="mock:0")
    with torch.mock.stream(side_stream()):
        torch.add(x, 1, out=out)
    with pytest.raises(HazardError, match="read_after_write"):
        out.sum()


def test_waits_of_every_kind_order_the_streams():
    x = torch.ones(4, device="mock:0")
    event = torch.mock.Event()
    with torch.mock.stream(side_stream()) as _:
        x.add_(1)
        event.record()
    event.wait()
    assert (x + 1).tolist() == [3.0] * 4


def test_memory_freed_while_a_side_stream_reads_it():
    x = torch.ones(1024, device="mock:0")
    with torch.mock.stream(side_stream()):
        x.sum()
    del x
    with pytest.raises(HazardError, match=r"freed_early.*record_stream"):
        torch.zeros(1024, device="mock:0")


def test_record_stream_keeps_the_memory():
    x = torch.ones(1024, device="mock:0")
    stream = side_stream()
    with torch.mock.stream(stream):
        x.sum()
    x.record_stream(stream)
    del x
    torch.zeros(1024, device="mock:0")


def test_copies_between_boards_are_ordered():
    x = torch.ones(4, device="mock:0")
    y = x.to("mock:1", non_blocking=True)
    assert (y + 1).tolist() == [2.0] * 4
    y.copy_(x)
    x.add_(1)


def test_backward_waits_for_the_streams_of_the_forward_pass():
    weight = torch.ones(4, device="mock:0", requires_grad=True)
    with torch.mock.stream(side_stream()):
        loss = (weight * 2).sum()
    loss.backward()
    assert weight.grad.tolist() == [2.0] * 4


def test_two_boards_train_with_hazards_on():
    a = torch.nn.Linear(4, 4).to("mock:0")
    b = torch.nn.Linear(4, 4).to("mock:1")
    optimizer = torch.optim.Adam([*a.parameters(), *b.parameters()])
    for _ in range(2):
        optimizer.zero_grad()
        b(a(torch.ones(2, 4, device="mock:0")).to("mock:1")).sum().backward()
        optimizer.step()


def test_hazards_warn_where_they_do_not_raise(mock_boards):
    from accelhal_mock.simulation import HazardWarning

    mock_boards(count=1, mode="python", hazards="warn")
    x = torch.ones(4, device="mock:0")
    with (
        torch.mock.stream(torch.mock.Stream()),
        pytest.warns(HazardWarning, match="read_after_write"),
    ):
        assert (x * 2).cpu().tolist() == [2.0] * 4


def test_hazards_off_look_at_nothing(mock_boards):
    mock_boards(count=1, mode="python", hazards="off")
    x = torch.ones(4, device="mock:0")
    with torch.mock.stream(torch.mock.Stream()):
        assert (x * 2).tolist() == [2.0] * 4
