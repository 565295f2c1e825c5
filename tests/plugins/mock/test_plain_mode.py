"""Plain mode: cpu tensors that boards have memory for, and the runtime over them."""

from __future__ import annotations

import gc

import pytest
import torch
from accelhal_mock import installation, plain
from accelhal_mock.simulation import HazardError

from accelhal.errors import ErrorKind, UsageError
from accelhal.spi import CAPABILITIES, Support


@pytest.fixture
def machine():
    with installation.preserved():
        yield installation.install(count=2, memory="64MiB", mode="plain", hazards="raise").machine


@pytest.fixture
def runtime(machine):
    return plain.PlainRuntime()


def allocated(machine):
    gc.collect()
    return [board.memory.allocated() for board in machine.boards]


def test_a_tensor_is_put_on_a_board_and_got_back(machine):
    tensor = torch.arange(1000.0)
    there = plain.put(tensor, 1)
    assert there.device.type == "cpu"
    assert plain.board_of(there) is machine.board(1)
    assert plain.board_of(tensor) is None
    assert allocated(machine) == [0, 4096]
    assert torch.equal(plain.get(there), tensor)
    del there
    assert allocated(machine) == [0, 0]


def test_views_share_the_memory_of_their_base(machine):
    there = plain.put(torch.ones(1000), 0)
    view = there[10:]
    assert plain.board_of(view) is machine.board(0)
    del there
    assert allocated(machine) == [4096, 0]
    del view
    assert allocated(machine) == [0, 0]


def test_copies_take_time(machine):
    there = plain.put(torch.ones(1 << 20), 0)
    assert not machine.board(0).default_stream.query()
    plain.get(there)
    assert machine.clock.now() > 2 * (4 << 20) / machine.board(0).profile.pcie.bandwidth()


def test_tensors_move_between_boards(machine):
    there = plain.put(plain.put(torch.ones(100), 0), 1)
    assert plain.board_of(there) is machine.board(1)
    assert torch.equal(plain.get(there), torch.ones(100))
    assert plain.board_of(plain.put(there, 1)) is machine.board(1)


def test_a_full_board_raises_torchs_error(runtime):
    with pytest.raises(torch.OutOfMemoryError, match="MOCK out of memory") as caught:
        plain.empty(80 << 20, dtype=torch.uint8, device=0)
    assert runtime.classify_error(caught.value) is ErrorKind.OUT_OF_MEMORY
    assert plain.empty(3, device=0).shape == (3,)


def test_a_tensor_of_the_host_is_not_got(machine):
    with pytest.raises(UsageError, match="on the host already"):
        plain.get(torch.ones(3))


def test_gradients_are_asked_for_as_before(machine):
    assert plain.put(torch.ones(3, requires_grad=True), 0).requires_grad


# ---- followed work


def test_results_are_placed_on_the_board_and_take_time(machine):
    there = plain.put(torch.ones(1000), 1)
    epoch = machine.board(1).default_stream.epoch
    with plain.tracked():
        result = (there * 2).sum()
    assert plain.board_of(result) is machine.board(1)
    assert machine.board(1).default_stream.epoch == epoch + 2
    assert plain.get(result).item() == 2000.0


def test_views_run_nothing(machine):
    there = plain.put(torch.ones(10, 10), 0)
    epoch = machine.board(0).default_stream.epoch
    with plain.tracked():
        view = there.t()[2:]
    assert machine.board(0).default_stream.epoch == epoch
    assert plain.board_of(view) is machine.board(0)


def test_mixed_boards_raise_torchs_error(machine):
    one, other = plain.put(torch.ones(3), 0), plain.put(torch.ones(3), 1)
    with plain.tracked():
        with pytest.raises(RuntimeError, match=r"same device.*mock:0 and mock:1"):
            one + other
        with pytest.raises(RuntimeError, match=r"same device.*mock:0 and cpu"):
            one + torch.ones(3)
        assert (one * torch.tensor(2.0)).sum() == 6
        one.copy_(torch.zeros(3))


def test_training_equals_the_cpus_and_leaks_nothing(machine):
    def train(place):
        torch.manual_seed(0)
        module = place(torch.nn.Linear(16, 16))
        optimizer = torch.optim.AdamW(module.parameters())
        inputs = torch.randn(8, 16)
        inputs = inputs if place is same else plain.put(inputs, 1)
        for _ in range(3):
            optimizer.zero_grad()
            module(inputs).pow(2).mean().backward()
            optimizer.step()
        return [parameter.detach().clone() for parameter in module.parameters()]

    def same(module):
        return module

    expected = train(same)
    with plain.tracked():
        found = train(lambda module: plain.put_module(module, 1))
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))
    assert machine.board(1).memory.peak_allocated() > 0
    del found
    assert allocated(machine) == [0, 0]


def test_a_missing_wait_is_found_in_followed_work(machine, runtime):
    there, side = plain.put(torch.ones(1000), 0), runtime.create_stream(0)
    runtime.synchronize(0)
    with plain.tracked():
        result = there * 2
        with side:
            with pytest.raises(HazardError, match="read_after_write"):
                result.sum()
            side.wait_stream(runtime.default_stream(0))
            result.sum()


def test_a_wrong_result_is_one_bit_off(machine):
    there = plain.put(torch.ones(100), 0)
    installation.inject("wrong_result", operations=1, bit=22)
    with plain.tracked():
        result = there * 1
    assert (result != 1).sum() == 1
    assert result.max() == 1.5


def test_a_wrong_result_of_strided_memory_is_one_bit_off(machine):
    installation.inject("wrong_result", operations=1, bit=22)
    there = plain.put(torch.ones(10, 10).t(), 0)
    assert (there != 1).sum() == 1


def test_a_lost_board_runs_nothing(machine, runtime):
    there = plain.put(torch.ones(3), 0)
    installation.inject("lost")
    with plain.tracked(), pytest.raises(RuntimeError, match="GPU is lost") as caught:
        there * 2
    assert runtime.classify_error(caught.value) is ErrorKind.DEVICE_LOST


# ---- the runtime


def test_the_runtime_counts_what_is_installed(runtime):
    assert runtime.device_count() == 2
    installation.install(count=5, mode="plain")
    assert runtime.device_count() == 5
    installation.uninstall()
    assert runtime.device_count() == 0


def test_capabilities_are_said_to_be_emulated(runtime):
    found = runtime.capabilities(0)
    assert set(found) <= set(CAPABILITIES)
    assert found["streams"] is Support.EMULATED
    assert "pin_memory" not in found


def test_types_without_units_are_not_for_computing(runtime):
    installation.install(profile="t4", mode="plain")
    found = runtime.supported_dtypes(0)
    assert torch.bfloat16 not in found.compute | found.autocast
    assert torch.bfloat16 in found.storage


def test_memory_is_told_per_board(runtime, machine):
    there = plain.put(torch.ones(1000), 1)
    assert runtime.memory_allocated(0) == 0
    assert runtime.memory_allocated(1) == runtime.max_memory_allocated(1) == 4096
    assert runtime.memory_reserved(1) == runtime.max_memory_reserved(1) == 2 << 20
    assert runtime.mem_get_info(1) == (62 << 20, 64 << 20)
    stats = runtime.memory_stats(1)
    assert (stats.allocated, stats.allocations, stats.ooms) == (4096, 1, 0)
    del there
    gc.collect()
    runtime.empty_cache(1)
    runtime.reset_peak_memory_stats(1)
    assert runtime.max_memory_reserved(1) == 0
    runtime.set_per_process_memory_fraction(1, 0.5)
    with pytest.raises(torch.OutOfMemoryError, match=r"32\.00 MiB allowed"):
        plain.empty(40 << 20, dtype=torch.uint8, device=1)


def test_streams_nest_and_restore_the_outer_one(runtime):
    outer, inner = runtime.create_stream(0), runtime.create_stream(1)
    with outer:
        assert (runtime.current_device(), runtime.current_stream(0)) == (0, outer)
        with inner, outer, inner:
            assert (runtime.current_device(), runtime.current_stream(1)) == (1, inner)
            assert runtime.current_stream(0) == outer
        assert (runtime.current_device(), runtime.current_stream(0)) == (0, outer)
        assert runtime.current_stream(1) == runtime.default_stream(1)
    assert runtime.current_stream(0) == runtime.default_stream(0)


def test_a_stream_of_another_board_is_refused(runtime):
    with pytest.raises(UsageError, match="cannot be current on board 0"):
        runtime.set_stream(0, runtime.create_stream(1))


def test_events_measure_the_streams_time(runtime):
    stream = runtime.create_stream(0)
    start, end = (runtime.create_event(0, enable_timing=True) for _ in range(2))
    with stream:
        start.record()
        stream.stream.launch("kernel", 0.003)
        end.record()
    end.wait()
    end.synchronize()
    assert start.elapsed_time(end) == pytest.approx(3.0)
    assert stream.record_event().query()


def test_peers_reach_one_another_over_their_link(runtime):
    assert runtime.can_access_peer(0, 1)
    installation.install(count=2, profile="t4", mode="plain")
    assert not runtime.can_access_peer(0, 1)


def test_a_board_is_located_by_its_uuid(runtime, machine):
    assert runtime.locate(1).key.value == machine.board(1).uuid
    assert runtime.properties(1).simulated
