"""Graphs of python mode: captured with the very memory they touch, and replayed on it."""

import pytest
import torch
from accelhal_mock.simulation import HazardError


@pytest.fixture(autouse=True)
def boards(mock_boards):
    return mock_boards(count=2, memory="64MiB", mode="python")


def ones(*size):
    return torch.ones(*size, device="mock:0")


def captured(work):
    """A graph of `work`, and what `work` returned."""
    graph = torch.mock.MockGraph()
    with torch.mock.graph(graph):
        result = work()
    return graph, result


def test_replay_computes_on_static_inputs():
    x = ones(3)
    graph, y = captured(lambda: (x * 2).relu() + 1)
    x.fill_(5)
    graph.replay()
    assert y.tolist() == [11.0] * 3


def test_nothing_is_computed_before_the_first_replay():
    x, counter = ones(3), torch.zeros(1, device="mock:0")

    def work():
        counter.add_(1)
        return x * 2

    graph, y = captured(work)
    assert counter.item() == 0
    assert y.isnan().all()
    for _ in range(3):
        graph.replay()
    assert counter.item() == 3
    assert y.tolist() == [2.0] * 3


def test_a_result_that_grows_into_its_size_is_captured():
    out = torch.empty(0, device="mock:0")
    x = ones(3)

    def work():
        torch.add(x, 1, out=out)
        return torch.arange(3, device="mock:0") + x

    graph, y = captured(work)
    assert out.isnan().all()
    graph.replay()
    assert y.tolist() == [1.0, 2.0, 3.0]
    assert out.tolist() == [2.0] * 3


def test_views_in_place_are_captured():
    x = torch.arange(6.0).reshape(2, 3).to("mock:0")

    def work():
        y = x.clone()
        sums = y.sum(1)
        y.unsqueeze_(0).squeeze_(0).t_()
        return sums, y + 1

    graph, (sums, y) = captured(work)
    for times in (1, 2, 3):
        x.mul_(2)
        graph.replay()
        assert sums.tolist() == [3.0 * 2**times, 12.0 * 2**times]
        assert torch.equal(y, x.t() + 1)


def test_a_swapped_input_shows_stale_results():
    state = {"x": ones(3)}
    graph, y = captured(lambda: state["x"] * 2)
    state["x"] = ones(3) * 7
    graph.replay()
    assert y.tolist() == [2.0] * 3
    assert not torch.equal(y, state["x"] * 2)


def test_replaced_parameters_show_stale_results():
    net = torch.nn.Linear(3, 1, bias=False).to("mock:0")
    torch.nn.init.ones_(net.weight)
    x = ones(1, 3)
    with torch.no_grad():
        graph, y = captured(lambda: net(x))
    net.weight = torch.nn.Parameter(torch.zeros(1, 3, device="mock:0"))
    graph.replay()
    assert y.item() == 3
    assert net(x).item() == 0


def test_parameters_changed_in_place_show():
    net = torch.nn.Linear(3, 1, bias=False).to("mock:0")
    torch.nn.init.ones_(net.weight)
    x = ones(1, 3)
    with torch.no_grad():
        graph, y = captured(lambda: net(x))
        net.weight.mul_(2)
    graph.replay()
    assert y.item() == 6


def test_a_whole_training_step():
    torch.manual_seed(0)
    nets = [torch.nn.Linear(4, 2) for _ in range(2)]
    nets[1].load_state_dict(nets[0].state_dict())
    nets[1].to("mock:0")
    host, board = (torch.optim.SGD(net.parameters(), lr=0.1) for net in nets)
    x, static = torch.randn(8, 4), torch.empty(8, 4, device="mock:0")
    static.copy_(x)

    def step(net, values, optimizer):
        optimizer.zero_grad(set_to_none=True)
        net(values).pow(2).mean().backward()
        optimizer.step()

    side = torch.mock.Stream()
    side.wait_stream(torch.mock.current_stream())
    before = {name: value.clone() for name, value in nets[1].state_dict().items()}
    with torch.mock.stream(side):  # the warm-up that torch's guide asks for
        step(nets[1], static, board)
    torch.mock.current_stream().wait_stream(side)
    torch.mock.synchronize()
    nets[1].load_state_dict(before)
    graph, _ = captured(lambda: step(nets[1], static, board))
    for round_ in range(3):
        values = torch.randn(8, 4, generator=torch.Generator().manual_seed(round_))
        static.copy_(values)
        graph.replay()
        step(nets[0], values, host)
    for a, b in zip(nets[1].parameters(), nets[0].parameters(), strict=True):
        torch.testing.assert_close(a.detach().cpu(), b.detach())


@pytest.mark.parametrize(
    "illegal",
    [
        lambda x: x.sum().item(),
        lambda x: x.cpu(),
        lambda x: torch.mock.synchronize(),
        lambda x: torch.mock.current_stream().synchronize(),
        lambda x: x.nonzero(),
        lambda x: x[x > 0],
        lambda x: x.copy_(torch.zeros(3)),
        lambda x: x.copy_(torch.zeros(3), non_blocking=True),
        lambda x: bool(x[0]),
        lambda x: repr(x),
    ],
)
def test_calls_that_need_the_host_are_illegal_during_capture(illegal):
    x = ones(3)
    graph = torch.mock.MockGraph()
    with (
        pytest.raises(torch.AcceleratorError, match="captur"),
        torch.mock.graph(graph),
    ):
        illegal(x)
    assert not torch.mock.is_current_stream_capturing()
    assert torch.mock.current_stream() == torch.mock.default_stream()
    assert (x + 1).tolist() == [2.0] * 3


def test_an_error_of_the_program_ends_the_capture():
    with pytest.raises(ZeroDivisionError), torch.mock.graph(torch.mock.MockGraph()):
        ones(3) / (1 // 0)
    assert not torch.mock.is_current_stream_capturing()


def test_pinned_buffers_are_read_and_written_at_each_replay():
    source, target = torch.zeros(3).pin_memory(), torch.zeros(3).pin_memory()
    x = ones(3)

    def work():
        x.copy_(source, non_blocking=True)
        target.copy_(x * 2, non_blocking=True)

    graph, _ = captured(work)
    source.fill_(4)
    graph.replay()
    torch.mock.synchronize()
    assert target.tolist() == [8.0] * 3


def test_random_numbers_differ_from_replay_to_replay():
    torch.manual_seed(0)
    state = torch.mock.get_rng_state(0)
    graph, y = captured(lambda: torch.rand(3, device="mock:0"))
    assert torch.equal(torch.mock.get_rng_state(0), state)
    graph.replay()
    first = y.clone()
    graph.replay()
    assert not torch.equal(y, first)


def test_results_stay_allocated_as_long_as_the_graph_lives():
    before = torch.mock.memory_allocated(0)
    x = ones(256)
    graph, y = captured(lambda: (x + 1) * 2)
    del y
    assert torch.mock.memory_allocated(0) == before + 3 * 1024
    graph.reset()
    del graph
    assert torch.mock.memory_allocated(0) == before + 1024


def test_a_replay_is_checked_for_hazards():
    x = ones(3)
    graph, y = captured(lambda: x * 2)
    stream = torch.mock.Stream()
    stream.wait_stream(torch.mock.current_stream())
    with torch.mock.stream(stream):
        graph.replay()
    with pytest.raises(HazardError, match="read_after_write"):
        y.sum()


def test_one_launch_for_the_whole_graph():
    x = ones(3)
    begin, end = (torch.mock.Event(enable_timing=True) for _ in range(2))

    def work():
        y = x
        for _ in range(20):
            y = y + 1
        return y

    def timed(run):
        begin.record()
        run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    graph, _ = captured(work)
    assert timed(graph.replay) < timed(work) / 5


def test_capture_on_the_default_stream_is_refused():
    with pytest.raises(torch.AcceleratorError, match="non-default stream"):
        torch.mock.MockGraph().capture_begin()


def test_accelerator_graphs():
    x = ones(3)
    graph = torch.accelerator.Graph()
    stream = torch.Stream("mock:0")
    stream.wait_stream(torch.mock.current_stream())
    with stream, graph:
        y = x * 3
    graph.replay()
    assert y.tolist() == [3.0] * 3


def test_pools_have_names():
    graph, _ = captured(lambda: ones(3) + 1)
    assert graph.pool() == graph.pool()
    assert torch.mock.graph_pool_handle() != torch.mock.graph_pool_handle()


def test_graphed_modules_train_as_ungraphed_ones():
    torch.manual_seed(0)
    plain = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    plain.to("mock:0")
    graphed = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    graphed.to("mock:0").load_state_dict(plain.state_dict())
    graphed = torch.mock.make_graphed_callables(graphed, (ones(3, 4),))
    for net in (plain, graphed):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for round_ in range(3):
            optimizer.zero_grad()
            net(ones(3, 4) * round_).pow(2).sum().backward()
            optimizer.step()
    for a, b in zip(graphed.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(a, b)
    launches = torch.mock.current_stream(0).simulated.epoch
    graphed(ones(3, 4))
    assert torch.mock.current_stream(0).simulated.epoch == launches + 3  # fill, copy, replay
    graphed.eval()
    assert torch.equal(graphed(ones(5, 4)), plain(ones(5, 4)))


def test_graphed_functions():
    def work(x, y):
        return x * y, x + y

    sample = (ones(3).requires_grad_(), ones(3))
    graphed = torch.mock.make_graphed_callables(work, sample)
    x, y = (ones(3) * 2).requires_grad_(), ones(3) * 5
    product, total = graphed(x, y)
    assert product.tolist() == [10.0] * 3
    assert total.tolist() == [7.0] * 3
    (product.sum() + total.sum()).backward()
    assert x.grad.tolist() == [6.0] * 3
