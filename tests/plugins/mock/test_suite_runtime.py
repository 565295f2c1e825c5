"""The device module and torch.accelerator: devices, streams, memory, faults, random numbers."""

import pytest
import torch


@pytest.fixture(autouse=True)
def boards(mock_boards):
    return mock_boards(count=4, memory="64MiB", mode="python")


def test_accelerator_is_the_boards():
    accelerator = torch.accelerator
    assert accelerator.is_available()
    assert str(accelerator.current_accelerator()) == "mock"
    assert accelerator.device_count() == 4
    assert accelerator.current_device_index() == 0


def test_accelerator_sets_the_device():
    torch.accelerator.set_device_index(2)
    try:
        assert torch.accelerator.current_device_index() == 2
        assert torch.mock.current_device() == 2
        assert torch.ones(1, device="mock").device == torch.device("mock:2")
    finally:
        torch.accelerator.set_device_index(0)


def test_accelerator_device_context():
    with torch.accelerator.device_index(2):
        assert torch.ones(1, device="mock").device == torch.device("mock:2")
        assert torch.accelerator.current_device_index() == 2
    assert torch.accelerator.current_device_index() == 0


def test_accelerator_streams():
    assert torch.accelerator.current_stream(1) == torch.mock.current_stream(1)
    stream = torch.mock.Stream(1)
    torch.accelerator.set_stream(stream)
    try:
        assert torch.accelerator.current_stream() == stream
        assert torch.mock.current_device() == 1
    finally:
        torch.accelerator.set_stream(torch.mock.default_stream(1))
        torch.mock.set_device(0)
    torch.accelerator.synchronize()


def test_accelerator_memory():
    x = torch.ones(1024, device="mock:0")
    assert torch.accelerator.memory_allocated() == 4096 == x.nbytes
    assert torch.accelerator.max_memory_allocated(0) == 4096
    assert torch.accelerator.memory_reserved(0) >= 4096
    assert torch.accelerator.memory_stats(0)["allocated_bytes.all.current"] == 4096
    del x
    torch.accelerator.reset_peak_memory_stats(0)
    assert torch.accelerator.max_memory_allocated(0) == 0
    torch.accelerator.empty_cache()
    assert torch.accelerator.memory_reserved(0) == 0


def test_generic_stream_and_event_are_the_boards_own():
    stream = torch.Stream("mock:1")
    assert isinstance(stream, torch.mock.Stream)
    assert isinstance(stream, torch.Stream)
    assert stream.device == torch.device("mock:1")
    event = torch.Event("mock:1", enable_timing=True)
    assert isinstance(event, torch.mock.Event)
    with stream:
        torch.ones(256, 256, device="mock:1").sum()
        event.record()
    assert not event.query()
    stream.synchronize()
    assert event.query()


def test_streams_and_events():
    stream = torch.mock.Stream(1)
    begin, end = (torch.mock.Event(enable_timing=True) for _ in range(2))
    x = torch.ones(512, 512, device="mock:1")
    stream.wait_stream(torch.mock.current_stream(1))
    with torch.mock.stream(stream):
        begin.record()
        x @ x
        end.record()
        assert torch.mock.current_stream() == stream
        assert torch.mock.current_device() == 1
    assert torch.mock.current_device() == 0
    assert not end.query()
    stream.synchronize()
    assert end.query()
    assert begin.elapsed_time(end) > 0


def test_non_blocking_copies_are_not_there_before_the_wait(mock_boards):
    mock_boards(count=2, mode="python", hazards="off")
    x = torch.ones(3, device="mock:1")
    host = x.to("cpu", non_blocking=True)
    early = host.clone()
    torch.mock.synchronize(1)
    assert early.isnan().all()
    assert host.tolist() == [1.0, 1.0, 1.0]


def test_missing_wait_between_streams():
    from accelhal_mock.simulation import HazardError

    stream = torch.mock.Stream(1)
    x = torch.ones(3, device="mock:1")
    with torch.mock.stream(stream), pytest.raises(HazardError, match="read_after_write"):
        x * 2
    stream.wait_stream(torch.mock.current_stream(1))
    with torch.mock.stream(stream):
        x * 2


def test_faults():
    import accelhal_mock

    x = torch.ones(3, device="mock:3")
    accelhal_mock.inject("ecc_uncorrected", device=3)
    x * 2
    with pytest.raises(torch.AcceleratorError, match="uncorrectable ECC error"):
        torch.mock.synchronize(3)
    accelhal_mock.clear(3)
    accelhal_mock.inject("lost", device=3, after=1)
    x * 2
    with pytest.raises(torch.AcceleratorError, match="GPU is lost"):
        x * 2
    accelhal_mock.clear(3)
    assert (x * 2).tolist() == [2.0, 2.0, 2.0]


def test_generators():
    generator = torch.Generator(device="mock:1")
    assert isinstance(generator, torch.Generator)
    assert generator.device == torch.device("mock:1")
    generator.manual_seed(3)
    a = torch.randn(3, device="mock:1", generator=generator)
    generator.manual_seed(3)
    assert torch.equal(torch.randn(3, device="mock:1", generator=generator), a)
    with pytest.raises(RuntimeError, match="Expected a 'mock' device type for generator"):
        torch.randn(3, device="mock:1", generator=torch.Generator())


def test_manual_seed_reaches_the_boards():
    torch.manual_seed(3)
    a = torch.randn(3, device="mock:1")
    torch.manual_seed(3)
    assert torch.equal(torch.randn(3, device="mock:1"), a)


def test_each_board_has_numbers_of_its_own():
    torch.manual_seed(3)
    a = torch.randn(3, device="mock:1")
    state = torch.mock.get_rng_state(1)
    torch.randn(3, device="mock:0")
    b = torch.randn(3, device="mock:1")
    torch.mock.set_rng_state(state, 1)
    assert torch.equal(torch.randn(3, device="mock:1"), b)
    assert not torch.equal(a, b)


def test_fork_rng():
    before = torch.mock.get_rng_state(0)
    with torch.random.fork_rng(devices=[0, 1], device_type="mock"):
        torch.randn(2, device="mock:0")
    assert torch.equal(torch.mock.get_rng_state(0), before)


def test_device_module_is_found():
    assert torch.get_device_module("mock") is torch.mock
    assert torch.get_device_module() is torch.mock
    import torch.mock as module

    assert module is torch.mock
