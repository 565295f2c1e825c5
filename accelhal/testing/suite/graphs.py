"""Group: a graph does its work again, on the memory it was captured with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from accelhal.facade import Device
from accelhal.testing.suite.base import SuiteBase
from accelhal.testing.suite.requirements import on_two_devices, requires


@requires("graphs", "streams")
class Graphs(SuiteBase):
    """Captured is x * weight + 1 over static buffers."""

    @on_two_devices
    def test_replay_recomputes_from_new_input(self, device: Device) -> None:
        """A replay reads what the static input buffer holds now."""
        x, weight = self._buffers(device)
        graph, result = self._capture(device, lambda: x * weight + 1)
        for value in (3.0, 5.0):
            x.copy_(self.put(torch.full((8,), value), device))
            graph.replay()
            device.synchronize()
            expected = [value * 2 + 1] * 8
            assert self.get(result).tolist() == expected, f"input {value}: not recomputed"

    def test_replay_sees_weights_changed_in_place(self, device: Device) -> None:
        """A replay uses weights that were changed in place after the capture."""
        x, weight = self._buffers(device)
        graph, result = self._capture(device, lambda: x * weight + 1)
        weight.copy_(self.put(torch.full((8,), 10.0), device))
        graph.replay()
        device.synchronize()
        assert self.get(result).tolist() == [11.0] * 8, "the replay uses the old weights"

    def test_replaced_tensors_stay_as_captured(self, device: Device) -> None:
        """A tensor put in a captured one's place is not seen by a replay, or it raises."""
        x, weight = self._buffers(device)
        weights = [weight]
        graph, result = self._capture(device, lambda: x * weights[0] + 1)
        weights[0] = self.put(torch.full((8,), 10.0), device)
        try:
            graph.replay()
        except Exception:
            return
        device.synchronize()
        assert self.get(result).tolist() == [3.0] * 8, "the replay reads memory it never captured"

    def test_replays_repeat(self, device: Device) -> None:
        """Work that adds to a buffer adds again at each replay, and not at the capture."""
        x, _ = self._buffers(device)
        graph, _ = self._capture(device, lambda: x.add_(1), warm_up=False)
        device.synchronize()
        for _ in range(3):
            graph.replay()
        device.synchronize()
        assert self.get(x).tolist() == [4.0] * 8, "1 and three replays of + 1 are not 4"

    def test_capture_on_a_given_stream(self, device: Device) -> None:
        """Work is captured on the stream that is given."""
        x, weight = self._buffers(device)
        stream = device.Stream()
        stream.wait_stream(device.current_stream())
        graph = device.Graph()
        with device.graph(graph, stream=stream):
            assert device.current_stream() == stream, "another stream is current in the capture"
            result = x * weight + 1
        graph.replay()
        device.synchronize()
        assert self.get(result).tolist() == [3.0] * 8, "1 * 2 + 1 is not 3 after a replay"

    def test_graphs_share_a_pool(self, device: Device) -> None:
        """Graphs captured with one pool handle replay one after the other."""
        pool = device.graph_pool_handle()
        x, weight = self._buffers(device)
        first, one = self._capture(device, lambda: x * weight + 1, pool=pool)
        second, two = self._capture(device, lambda: x * weight + 2, pool=pool)
        first.replay()
        device.synchronize()
        assert self.get(one).tolist() == [3.0] * 8, "the first graph's result is wrong"
        second.replay()
        device.synchronize()
        assert self.get(two).tolist() == [4.0] * 8, "the second graph's result is wrong"

    @requires("graphed_callables")
    def test_graphed_callables_compute_anew(self, device: Device) -> None:
        """A graphed callable gives the callable's results and gradients for each input."""
        sample = self.put(torch.ones(8), device).requires_grad_()
        graphed = device.make_graphed_callables(lambda x: x * x + 1, (sample,))
        for value in (2.0, 5.0):
            x = self.put(torch.full((8,), value), device).requires_grad_()
            result = graphed(x)
            result.sum().backward()
            device.synchronize()
            found = self.get(result.detach()).tolist()
            assert found == [value * value + 1] * 8, f"of {value}: {found}"
            assert x.grad is not None, "no gradient arrives"
            found = self.get(x.grad).tolist()
            assert found == [2 * value] * 8, f"the gradient at {value}: {found}"

    def test_empty_graph_does_not_replay(self, device: Device) -> None:
        """A graph in which nothing was captured raises at replay."""
        with pytest.raises(Exception):  # noqa: B017, PT011  (each vendor has its own)
            device.Graph().replay()

    def test_reset_graph_does_not_replay(self, device: Device) -> None:
        """A graph that was reset raises at replay."""
        x, weight = self._buffers(device)
        graph, _ = self._capture(device, lambda: x * weight + 1)
        graph.replay()
        device.synchronize()
        graph.reset()
        with pytest.raises(Exception):  # noqa: B017, PT011
            graph.replay()

    def test_illegal_call_in_capture_raises(self, device: Device) -> None:
        """A call that waits for the device raises inside a capture."""
        self._spoil_capture(device)

    def test_spoilt_capture_leaves_the_device_clean(self, device: Device) -> None:
        """After a spoilt capture the device computes, and captures again."""
        self._spoil_capture(device)
        ones = self.put(torch.ones(8), device)
        assert self.get(ones + 1).tolist() == [2.0] * 8, "wrong results after a spoilt capture"
        x, weight = self._buffers(device)
        graph, result = self._capture(device, lambda: x * weight + 1)
        graph.replay()
        device.synchronize()
        assert self.get(result).tolist() == [3.0] * 8, "a later capture is spoilt too"

    def _buffers(self, device: Device) -> tuple[torch.Tensor, torch.Tensor]:
        """Static input of ones and weights of twos."""
        return self.put(torch.ones(8), device), self.put(torch.full((8,), 2.0), device)

    def _capture(
        self,
        device: Device,
        work: Callable[[], torch.Tensor],
        *,
        pool: Any = None,
        warm_up: bool = True,
    ) -> tuple[Any, torch.Tensor]:
        """A graph of the work, and its static result; warmed up on a side stream, as torch asks."""
        if warm_up:
            side = device.Stream()
            side.wait_stream(device.current_stream())
            with device.stream(side):
                work()
            device.current_stream().wait_stream(side)
        device.synchronize()
        graph = device.Graph()
        with device.graph(graph, pool=pool):
            result = work()
        return graph, result

    def _spoil_capture(self, device: Device) -> None:
        x, weight = self._buffers(device)
        device.synchronize()
        with pytest.raises(Exception):  # noqa: B017, PT011, SIM117
            with device.graph(device.Graph()):
                (x * weight).sum().item()
        device.synchronize()
