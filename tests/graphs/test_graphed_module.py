"""GraphedModule answers as the model does, whatever the batch, the inputs and the weights."""

from __future__ import annotations

import copy
import threading
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings, strategies as st

from accelhal.errors import AccelhalWarning, UsageError
from accelhal.facade import Device
from accelhal.graphs import GraphedModule

from .conftest import integer_model, whole_numbers

JOIN_LIMIT_S = 60


def sizes_of(fast: GraphedModule) -> list[int]:
    return [one.batch_size for one in fast.report().captured]


# ---- batches


@settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    sizes=st.sets(st.integers(1, 9), min_size=1, max_size=3),
    batches=st.lists(st.integers(1, 20), min_size=1, max_size=4),
)
def test_every_batch_size_answers_as_the_model(
    board: Device, net: torch.nn.Module, sizes: set[int], batches: list[int]
) -> None:
    fast = GraphedModule(net, sizes)
    assert fast.batch_sizes == tuple(sorted(sizes))
    for seed, rows in enumerate(batches):
        x = whole_numbers(rows, 6, device=board.torch_device, seed=seed)
        assert torch.equal(fast(x), net(x))
    fast.reset()


def test_a_replay_follows_the_changed_input(board: Device, net: torch.nn.Module) -> None:
    fast = GraphedModule(net, (4,))
    x = whole_numbers(4, 6, device=board.torch_device)
    for _ in range(3):
        assert torch.equal(fast(x), net(x))
        x += 1
    (captured,) = fast.report().captured
    assert captured.replays == 3


def test_in_inference_mode_and_out_of_it(board: Device, net: torch.nn.Module) -> None:
    fast = GraphedModule(net, (2, 4))
    for mode in (True, False, True):
        with torch.inference_mode(mode), torch.no_grad():
            x = whole_numbers(3, 6, device=board.torch_device)
            assert torch.equal(fast(x), net(x))
            assert torch.equal(fast(x[:1]), net(x[:1]))
    assert fast.report().recaptures == 0


def test_sizes_are_captured_when_needed_and_the_largest_first(
    board: Device, net: torch.nn.Module
) -> None:
    fast = GraphedModule(net, (1, 2, 4, 8))
    assert sizes_of(fast) == []
    fast(whole_numbers(2, 6, device=board.torch_device))
    assert sizes_of(fast) == [8, 2]
    fast(whole_numbers(1, 6, device=board.torch_device))
    assert sizes_of(fast) == [8, 2, 1]


def test_capture_takes_every_size_at_once(board: Device, net: torch.nn.Module) -> None:
    fast = GraphedModule(net, (1, 2, 4, 8))
    report = fast.capture(whole_numbers(3, 6, device=board.torch_device))
    assert [one.batch_size for one in report.captured] == [8, 4, 2, 1]
    for one in report.captured:
        assert one.inputs == "float32[6]"
        assert one.seconds > 0
        assert one.memory is not None
        assert one.memory >= one.batch_size * 6 * 4
        assert one.replays == 0


def test_all_graphs_share_one_pool(
    board: Device, net: torch.nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    captures: list[tuple[Any, Any]] = []
    vendor = torch.mock.graph

    def recording(first: Any, *, pool: Any, stream: Any, capture_error_mode: str) -> Any:
        captures.append((pool, stream))
        assert capture_error_mode == "thread_local"
        return vendor(first, pool, stream, capture_error_mode)

    monkeypatch.setattr(torch.mock, "graph", recording)
    fast = GraphedModule(net, (1, 2, 4))
    fast.capture(whole_numbers(1, 6, device=board.torch_device))
    assert captures == [captures[0]] * 3
    assert captures[0][0] is not None


def test_a_model_on_another_than_the_current_board(board: Device) -> None:
    there = torch.device("mock:1")
    net = integer_model().to(there)
    fast = GraphedModule(net, (1, 2))
    assert str(fast.device) == "mock:1"
    x = whole_numbers(3, 6, device=there)
    assert torch.equal(fast(x), net(x))
    assert torch.mock.current_device() == 0


# ---- arguments and outputs


class Many(torch.nn.Module):
    """Nested arguments and outputs; the batch is in dimension 1 of one of them."""

    def forward(self, x: torch.Tensor, extra: Any, *, scale: int, mask: torch.Tensor) -> Any:
        y = x * scale + extra["bias"] * mask
        return {"y": y, "turned": y.T, "name": "many", "nothing": None, "pair": (y + 1, [y - 1])}


def test_nested_arguments_and_outputs(board: Device) -> None:
    model = Many().eval()
    fast = GraphedModule(model, (2, 4), device=board, unbatched=("mask",))
    mask = whole_numbers(4, device=board.torch_device)
    for rows, scale in ((3, 2), (1, 2), (4, 2), (3, 5), (9, 5)):
        x = whole_numbers(rows, 4, device=board.torch_device, seed=rows)
        call = (x, {"bias": x * 3})
        got, expected = (one(*call, scale=scale, mask=mask) for one in (fast, model))
        assert (got.pop("name"), got.pop("nothing")) == (expected.pop("name"), None)
        del expected["nothing"]
        torch.testing.assert_close(got, expected, rtol=0, atol=0)
    assert len({(one.batch_size, one.inputs) for one in fast.report().captured}) == 4


def test_a_hidden_size_that_equals_the_batch_is_not_cut(board: Device) -> None:
    class Turned(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.T

    fast = GraphedModule(Turned().eval(), (4,), device=board)
    x = whole_numbers(3, 4, device=board.torch_device)
    assert torch.equal(fast(x), x.T)


def test_each_shape_has_graphs_of_its_own(board: Device) -> None:
    fast = GraphedModule(torch.nn.ReLU().eval(), (2,), device=board)
    for shape in ((1, 3), (2, 5), (2, 3, 2)):
        x = whole_numbers(*shape, device=board.torch_device)
        assert torch.equal(fast(x), x.relu())
    assert [one.inputs for one in fast.report().captured] == [
        "float32[3]",
        "float32[5]",
        "float32[3,2]",
    ]


def test_autocast_is_captured_apart_and_follows_the_weights(
    board: Device, net: torch.nn.Module
) -> None:
    fast = GraphedModule(net, (2,))
    x = whole_numbers(2, 6, device=board.torch_device)
    assert fast(x).dtype == torch.float32
    with board.autocast(torch.bfloat16):
        first = fast(x)
        assert first.dtype == torch.bfloat16
        net[2].weight.mul_(2)
        net[2].bias.mul_(2)
        assert torch.equal(fast(x), first * 2)
    assert len(sizes_of(fast)) == 2


def test_no_weight_is_cast_outside_the_graph(board: Device) -> None:
    """Autocast's cache would keep what a warm-up cast, and free it under the graph."""
    cached: set[bool] = set()

    class Looks(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            cached.add(torch.is_autocast_cache_enabled())
            return x + 1

    fast = GraphedModule(Looks().eval(), (2,), device=board)
    with board.autocast(torch.bfloat16):
        assert torch.is_autocast_cache_enabled()
        fast(whole_numbers(2, 6, device=board.torch_device))
        assert torch.is_autocast_cache_enabled()
    assert cached == {False}


def test_random_numbers_differ_from_call_to_call(board: Device) -> None:
    class Noise(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.rand_like(x)

    fast = GraphedModule(Noise().eval(), (2,), device=board)
    x = whole_numbers(2, 6, device=board.torch_device)
    assert not torch.equal(fast(x), fast(x))


# ---- outputs


def test_outputs_are_the_callers_own(board: Device, net: torch.nn.Module) -> None:
    fast = GraphedModule(net, (4,))
    first, second = (whole_numbers(3, 6, device=board.torch_device, seed=n) for n in (1, 2))
    y = fast(first)
    kept = y.clone()
    fast(second)
    assert torch.equal(y, kept)


def test_outputs_in_the_graphs_memory_when_asked_for(board: Device, net: torch.nn.Module) -> None:
    fast = GraphedModule(net, (4,), copy_outputs=False)
    first, second = (whole_numbers(3, 6, device=board.torch_device, seed=n) for n in (1, 2))
    y = fast(first)
    assert torch.equal(y, net(first))
    fast(second)
    assert torch.equal(y, net(second))
    long = whole_numbers(7, 6, device=board.torch_device)
    assert torch.equal(fast(long), net(long))


def test_an_input_that_is_returned_is_no_buffer_of_the_graph(board: Device) -> None:
    fast = GraphedModule(torch.nn.Identity().eval(), (2,), device=board)
    x = whole_numbers(2, 3, device=board.torch_device)
    y = fast(x)
    fast(x + 1)
    assert torch.equal(y, x)


# ---- the model changes


def replace_parameter(net: torch.nn.Module) -> None:
    net[0].weight = torch.nn.Parameter(net[0].weight * 3, requires_grad=False)


def exchange_memory(net: torch.nn.Module) -> None:
    net[0].weight.data = net[0].weight * 3


def view_memory_otherwise(net: torch.nn.Module) -> None:
    net.square.data = net.square.data.T


def load_by_assignment(net: torch.nn.Module) -> None:
    state = {name: value * 2 for name, value in net.state_dict().items()}
    net.load_state_dict(state, assign=True)


def replace_module(net: torch.nn.Module) -> None:
    net[2] = integer_model()[2].to(net[0].weight.device).requires_grad_(False)
    net[2].bias.add_(5)


def append_module(net: torch.nn.Module) -> None:
    net.append(torch.nn.ReLU().eval())


def replace_buffer(net: torch.nn.Module) -> None:
    net.shift = net.shift + 7


def replace_attribute(net: torch.nn.Module) -> None:
    net.plain = net.plain + 7


def put_in_place_of_none(net: torch.nn.Module) -> None:
    net.mask = torch.full_like(net.plain, 2)


class Watched(torch.nn.Sequential):
    def __init__(self, *layers: torch.nn.Module) -> None:
        super().__init__(*layers)
        device = layers[0].weight.device
        self.register_buffer("shift", torch.ones(4, device=device))
        self.register_buffer("square", whole_numbers(4, 4, device=device))
        self.plain = torch.ones(4, device=device)
        self.mask: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = super().forward(x) @ self.square + self.shift + self.plain
        return y if self.mask is None else y * self.mask


@pytest.mark.parametrize(
    "change",
    [
        replace_parameter,
        exchange_memory,
        view_memory_otherwise,
        load_by_assignment,
        replace_module,
        append_module,
        replace_buffer,
        replace_attribute,
        put_in_place_of_none,
    ],
)
def test_what_is_replaced_after_the_capture_is_noticed(
    board: Device, net: torch.nn.Module, change: Any
) -> None:
    model = Watched(*net).eval()
    fast = GraphedModule(model, (2, 4))
    x = whole_numbers(3, 6, device=board.torch_device)
    before = fast(x)
    change(model)
    expected = model(x)
    assert not torch.equal(before, expected)
    assert torch.equal(fast(x), expected)
    assert fast.report().recaptures == 1
    assert torch.equal(fast(x), expected)
    assert fast.report().recaptures == 1


def test_what_is_changed_in_place_is_seen_without_a_new_capture(
    board: Device, net: torch.nn.Module
) -> None:
    fast = GraphedModule(net, (4,))
    x = whole_numbers(3, 6, device=board.torch_device)
    fast(x)
    net[0].weight.mul_(2)
    net.load_state_dict(copy.deepcopy(net.state_dict()))
    assert torch.equal(fast(x), net(x))
    assert fast.report().recaptures == 0


def test_a_table_that_grows_in_the_warm_up_is_followed(board: Device) -> None:
    class Positions(torch.nn.Module):
        """Keeps a table as long as the longest input so far, as rotary embeddings do."""

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.arange(2.0, device=board.torch_device))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if x.shape[1] > len(self.table):
                self.table = torch.arange(float(x.shape[1]), device=x.device)
            return x + self.table[: x.shape[1]]

    model = Positions().eval()
    fast = GraphedModule(model, (1, 2))
    for length in (2, 3, 2, 5, 3):
        x = whole_numbers(1, length, device=board.torch_device)
        assert torch.equal(fast(x), model(x))
        model.table.add_(1)  # a graph that reads an earlier table does not see it
    for length in (2, 3, 5):
        x = whole_numbers(1, length, device=board.torch_device)
        assert torch.equal(fast(x), model(x))
    assert fast.report().failed == ()
    assert fast.report().recaptures == 2


def test_reset_lets_go_of_the_graphs_and_their_memory(board: Device, net: torch.nn.Module) -> None:
    before = board.memory_allocated()
    fast = GraphedModule(net, (2, 4))
    x = whole_numbers(3, 6, device=board.torch_device)
    y = fast(x)
    assert board.memory_allocated() > before
    fast.reset()
    assert sizes_of(fast) == []
    del x
    assert board.memory_allocated() - before == board_bytes(y)
    x = whole_numbers(3, 6, device=board.torch_device)
    assert torch.equal(fast(x), net(x))


def board_bytes(tensor: torch.Tensor) -> int:
    """What a small tensor takes: allocations come in blocks of 512 bytes."""
    return -(-tensor.nbytes // 512) * 512


# ---- threads


def test_threads_with_streams_of_their_own(board: Device, net: torch.nn.Module) -> None:
    fast = GraphedModule(net, (1, 2, 4))
    host = copy.deepcopy(net).to("cpu")
    board.synchronize()
    wrong: list[object] = []
    start = threading.Barrier(2, timeout=JOIN_LIMIT_S)

    def work(seed: int) -> None:
        try:
            with torch.inference_mode(), board.stream(board.Stream()):
                start.wait()
                for n in range(12):
                    rows = (seed + n) % 6 + 1
                    x = whole_numbers(rows, 6, device=board.torch_device, seed=seed * 100 + n)
                    if not torch.equal(fast(x).cpu(), host(x.cpu())):
                        wrong.append((seed, n))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(JOIN_LIMIT_S)
        assert not thread.is_alive()
    assert wrong == []
    assert sum(one.replays for one in fast.report().captured) >= 24


def test_a_replay_waits_for_the_one_before_it_in_another_stream(
    board: Device, net: torch.nn.Module
) -> None:
    fast = GraphedModule(net, (4,))
    x = whole_numbers(4, 6, device=board.torch_device)
    fast(x)
    board.synchronize()
    with board.stream(board.Stream()):
        fast(x)
    with board.stream(board.Stream()):  # the boards of these tests raise where a wait is missing
        y = fast(x)
    board.synchronize()
    assert torch.equal(y, net(x))


# ---- what is refused


def test_training_and_gradients_are_refused(board: Device, net: torch.nn.Module) -> None:
    x = whole_numbers(2, 6, device=board.torch_device)
    fast = GraphedModule(net, (2,))
    with torch.enable_grad():
        with pytest.raises(UsageError, match=r"gradient is wanted.*\n.*make_graphed_callables"):
            fast(x)
        net.requires_grad_(False)
        with pytest.raises(UsageError, match="gradient is wanted"):
            fast(x.clone().requires_grad_())
        assert torch.equal(fast(x), net(x))
    net.train()
    with pytest.raises(UsageError, match="training mode"):
        fast(x)
    net.eval()
    net[1].train()
    with pytest.raises(UsageError, match="training mode"):
        fast(x)
    net.eval()
    assert torch.equal(fast(x), net(x))


def test_a_module_inside_that_trains_is_refused_before_the_first_capture(
    board: Device, net: torch.nn.Module
) -> None:
    net[1].train()
    fast = GraphedModule(net, (2,))
    with pytest.raises(UsageError, match="training mode"):
        fast(whole_numbers(2, 6, device=board.torch_device))
    assert fast.report().captured == ()


@pytest.mark.parametrize(
    "arguments",
    [
        {"batch_sizes": ()},
        {"batch_sizes": (0,)},
        {"batch_sizes": (1.5,)},
        {"batch_sizes": (True,)},
        {"max_graphs": 0},
        {"warmup": 0},
        {"fallback": "cpu"},
        {"capture_error_mode": "lax"},
    ],
)
def test_bad_arguments(board: Device, net: torch.nn.Module, arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        GraphedModule(net, **arguments)


def test_a_model_without_tensors_needs_a_device(board: Device) -> None:
    with pytest.raises(UsageError, match="ReLU has no tensor"):
        GraphedModule(torch.nn.ReLU().eval())


def test_inputs_elsewhere_are_refused(board: Device, net: torch.nn.Module) -> None:
    fast = GraphedModule(net, (2,))
    with pytest.raises(UsageError, match="argument 0 lies on cpu, not on mock:0"):
        fast(torch.ones(2, 6))


def test_what_the_model_raises_is_raised_as_it_is(board: Device, net: torch.nn.Module) -> None:
    fast = GraphedModule(net, (1, 2))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        fast(whole_numbers(2, 5, device=board.torch_device))
    assert fast.report() == GraphedModule(net, (1, 2)).report()
    x = whole_numbers(2, 6, device=board.torch_device)
    assert torch.equal(fast(x), net(x))


def test_no_warning_where_all_goes_well(
    board: Device, net: torch.nn.Module, recwarn: pytest.WarningsRecorder
) -> None:
    GraphedModule(net, (1, 4))(whole_numbers(2, 6, device=board.torch_device))
    assert [one for one in recwarn if one.category is AccelhalWarning] == []
