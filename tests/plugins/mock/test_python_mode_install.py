"""Installing python mode: once, under a name, for changing boards, and taking it away again."""

import subprocess
import sys
import textwrap

import accelhal_mock
import pytest
import torch


@pytest.fixture(autouse=True)
def boards(mock_boards):
    return mock_boards(count=2, memory="64MiB", mode="python")


def output_of(script, **options):
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=180,
        **options,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_the_number_of_boards_changes_from_install_to_install(mock_boards):
    mock_boards(count=16, mode="python")
    assert torch.mock.device_count() == 16
    assert torch.ones(1, device="mock:15").device.index == 15
    mock_boards(count=1, mode="python")
    assert torch.mock.device_count() == 1
    with pytest.raises(torch.AcceleratorError, match="invalid device ordinal"):
        torch.ones(1, device="mock:1")


def test_tensors_of_former_boards_are_still_dropped_in_order(mock_boards):
    x = torch.ones(1024, device="mock:1")
    mock_boards(count=2, memory="64MiB", mode="python")
    assert torch.mock.memory_allocated(1) == 0
    del x
    assert torch.mock.memory_allocated(1) == 0


def test_tensors_of_former_boards_do_not_mix_with_new_ones(mock_boards):
    x = torch.ones(3, device="mock:1")
    mock_boards(count=2, memory="64MiB", mode="python")
    with pytest.raises(RuntimeError, match="made before the simulated boards were installed anew"):
        x + torch.ones(3, device="mock:1")
    assert x.cpu().tolist() == [1.0] * 3


def test_installing_again_returns_the_same_module():
    from accelhal_mock import python_mode

    assert python_mode.install(accelhal_mock.machine()) is torch.mock


def test_another_name_is_refused():
    from accelhal_mock import python_mode

    from accelhal.errors import BackendIncompatibleError

    with pytest.raises(BackendIncompatibleError, match="held by 'mock'"):
        python_mode.install(accelhal_mock.machine(), "npu")


def test_uninstall_takes_every_patch_back():
    script = """
        import torch
        import accelhal_mock
        from accelhal_mock.python_mode import patches
        import torch._dynamo

        accelhal_mock.install(count=2, mode="python")
        changed = [(owner, name, original) for owner, name, original in patches._applied]
        assert changed and all(getattr(o, n) is not original for o, n, original in changed)
        accelhal_mock.uninstall()
        assert all(getattr(o, n) is original for o, n, original in changed)
        assert not torch.mock.is_available() and torch.mock.device_count() == 0
        assert type(torch.Generator()).__name__ == "Generator"
        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward()
        accelhal_mock.install(count=1, mode="python")
        print(torch.ones(2, device="mock:0").sum().item())
    """
    assert output_of(script) == ["2.0"]


def test_the_process_is_untouched_before_install():
    script = """
        import torch, accelhal_mock, accelhal_mock.python_mode
        print(torch._C._get_privateuse1_backend_name(), hasattr(torch, "mock"))
    """
    assert output_of(script) == ["privateuseone False"]


def test_names_that_torch_cannot_read_are_refused():
    script = """
        import accelhal_mock
        from accelhal.errors import UsageError
        from accelhal_mock import python_mode

        machine = accelhal_mock.install(count=1, mode="plain").machine
        for name in ("Mock", "mock-1", "1mock", "", "cuda", "xpu", "meta", "nn"):
            try:
                python_mode.install(machine, name)
            except UsageError as error:
                assert "cannot be a device type" in str(error), error
                print(name)
    """
    assert output_of(script) == ["Mock", "mock-1", "1mock", "", "cuda", "xpu", "meta", "nn"]


def test_a_name_with_an_underscore():
    script = """
        import accelhal_mock, torch
        accelhal_mock.install(count=1, mode="python", name="my_board")
        print(torch.ones(2, device="my_board:0").device, torch.my_board.device_count())
    """
    assert output_of(script) == ["my_board:0 1"]


def test_standing_in_for_a_vendor():
    script = """
        import accelhal_mock, torch
        from torch import nn

        accelhal_mock.install(count=2, profile="910b3", memory="64MiB", mode="python", name="npu")
        import torch.npu

        x = torch.ones(2, 8).npu(1)
        net = nn.Linear(8, 4).npu(1)
        net(x).sum().backward()
        print(x.device, x.is_npu, net.weight.grad.device)
        with torch.autocast("npu", dtype=torch.float16):
            print(net(x).dtype)
        graph = torch.npu.NPUGraph()
        with torch.npu.device(1), torch.npu.graph(graph):
            y = x * 2
        graph.replay()
        print(y.sum().item(), torch.accelerator.current_accelerator())
        try:
            torch.empty(80 << 20, dtype=torch.uint8, device="npu:1")
        except torch.OutOfMemoryError as error:
            print(str(error)[:18])
        try:
            x.add(torch.ones(8))
        except RuntimeError as error:
            print("npu:1 and cpu!" in str(error))
    """
    assert output_of(script) == [
        "npu:1 True npu:1",
        "torch.float16",
        "32.0 npu",
        "NPU out of memory.",
        "True",
    ]


def test_the_shared_runtime_works_over_the_module_unchanged():
    from accelhal.runtimes.torch_module import TorchModuleRuntime
    from accelhal.spi import Support

    runtime = TorchModuleRuntime("mock", "simulated", simulated=True)
    assert runtime.device_count() == 2
    names = "streams events memory_info memory_stats caching_allocator memory_fraction peer_access"
    for capability in (*names.split(), "autocast", "pin_memory"):
        assert runtime.capabilities(1)[capability] is Support.NATIVE
    assert runtime.properties(1).total_memory == 64 << 20
    assert runtime.locate(1).key is not None
    dtypes = runtime.supported_dtypes(0)
    assert torch.bfloat16 in dtypes.compute
    assert dtypes.autocast == {torch.float16, torch.bfloat16}
    stream = runtime.create_stream(1, -1)
    assert stream.priority == -1
    runtime.set_stream(1, stream)
    assert runtime.current_stream(1) == stream
    runtime.set_stream(1, runtime.default_stream(1))
    runtime.set_device(0)
    event = runtime.create_event(1, enable_timing=True)
    event.record(stream)
    runtime.synchronize(1)
    assert event.query()
    x = torch.ones(1 << 18, device="mock:1")
    assert runtime.memory_allocated(1) == x.nbytes == runtime.max_memory_allocated(1)
    assert runtime.memory_reserved(1) >= x.nbytes
    assert runtime.memory_stats(1).allocated == x.nbytes
    free, total = runtime.mem_get_info(1)
    assert 0 < free < total == 64 << 20
    del x
    runtime.empty_cache(1)
    runtime.reset_peak_memory_stats(1)
    assert runtime.max_memory_reserved(1) == 0
    runtime.set_per_process_memory_fraction(1, 0.25)
    with pytest.raises(torch.OutOfMemoryError, match=r"16\.00 MiB allowed"):
        torch.empty(17 << 20, dtype=torch.uint8, device="mock:1")
    assert runtime.pin_memory(1, torch.ones(2)).is_pinned()
    runtime.manual_seed(1, 5)
    state = runtime.get_rng_state(1)
    a = torch.rand(3, device="mock:1")
    runtime.set_rng_state(1, state)
    assert torch.equal(torch.rand(3, device="mock:1"), a)
    with runtime.autocast(1, torch.float16):
        assert (torch.ones(2, 2, device="mock:1") @ torch.ones(2, 2, device="mock:1")).dtype
    assert runtime.can_access_peer(0, 1)


def test_a_wrong_memory_fraction():
    with pytest.raises(ValueError, match="Allowed range: 0~1"):
        torch.mock.set_per_process_memory_fraction(1.5)
    with pytest.raises(TypeError, match="must be `float`"):
        torch.mock.set_per_process_memory_fraction(1)


def test_a_device_of_another_type_is_refused():
    with pytest.raises(ValueError, match="Expected a mock device, but got: cpu"):
        torch.mock.memory_allocated("cpu")


def test_properties_come_from_the_profile(mock_boards):
    mock_boards(count=1, profile="a100-80g", mode="python")
    found = torch.mock.get_device_properties(0)
    assert found.name == torch.mock.get_device_name(0)
    assert "A100" in found.name
    assert (found.major, found.minor) == torch.mock.get_device_capability(0)
    assert found.uuid
    assert torch.mock.is_bf16_supported()


def test_the_end_of_the_process_is_silent():
    script = """
        import accelhal_mock, torch

        accelhal_mock.install(count=1, mode="python", hazards="raise")
        x = torch.ones(1000, device="mock:0")
        net = torch.nn.Linear(4, 4).to("mock:0")
        net(torch.ones(2, 4, device="mock:0")).sum().backward()
        pinned = torch.ones(4).pin_memory()
        moved = pinned.to("mock:0", non_blocking=True)
        host = moved.to("cpu", non_blocking=True)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=180
    )
    assert (run.returncode, run.stderr) == (0, "")
