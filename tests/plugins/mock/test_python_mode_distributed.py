"""Collectives, DTensor, DDP and FSDP2 over gloo, with two processes of one board each."""

import os
import socket
import subprocess
import sys
import textwrap

SCRIPT = """
    import os

    import accelhal_mock
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.distributed.device_mesh import init_device_mesh

    accelhal_mock.install(count=2, memory="64MiB", mode="python", hazards="raise")
    rank = int(os.environ["RANK"])
    torch.mock.set_device(rank)
    board = f"mock:{rank}"
    dist.init_process_group("cpu:gloo,mock:gloo")


    def report(name, value):
        if rank == 0:
            print(name, value, flush=True)


    def ones(*size):
        return torch.ones(*size, device=board) * (rank + 1)


    x = ones(3)
    dist.all_reduce(x)
    report("all_reduce", x.tolist())
    x = ones(3)
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    report("asynchronous", x.tolist())
    x = ones(2)
    dist.broadcast(x, 1)
    report("broadcast", x.tolist())
    parts = [torch.empty(2, device=board) for _ in range(2)]
    dist.all_gather(parts, ones(2))
    report("all_gather", [part.tolist() for part in parts])
    whole = torch.empty(4, device=board)
    dist.all_gather_into_tensor(whole, ones(2))
    report("all_gather_into_tensor", whole.tolist())

    import torch.distributed._functional_collectives as functional

    summed = functional.all_reduce(ones(2), "sum", dist.group.WORLD)
    report("functional", (summed + 0).tolist())

    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("mock", (2,))
    matrix = torch.arange(8.0).view(4, 2)
    sharded = distribute_tensor(matrix, mesh, [Shard(0)])
    product = sharded @ distribute_tensor(torch.ones(2, 3), mesh, [Replicate()])
    full = product.full_tensor()
    report("dtensor", (str(full.device), torch.equal(full.cpu(), matrix @ torch.ones(2, 3))))

    for device_ids in (None, [rank]):
        torch.manual_seed(0)
        net = nn.Linear(4, 2).to(board)
        parallel = nn.parallel.DistributedDataParallel(net, device_ids=device_ids)
        parallel(ones(3, 4)).sum().backward()
        report("ddp", net.weight.grad.unique().tolist())

    from torch.distributed.fsdp import fully_shard

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)).to(board)
    torch.manual_seed(0)
    twin = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    fully_shard(net, mesh=mesh)
    for model, device in ((net, board), (twin, "cpu")):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.ones(3, 4, device=device)).sum().backward()
            optimizer.step()
    same = [
        torch.allclose(a.full_tensor().cpu(), b.detach(), atol=1e-6)
        for a, b in zip(net.parameters(), twin.parameters())
    ]
    report("fsdp2", same)
    dist.barrier()
    dist.destroy_process_group()
"""


def test_two_processes_of_one_board_each(tmp_path):
    script = tmp_path / "work.py"
    script.write_text(textwrap.dedent(SCRIPT))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environ = os.environ | {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "WORLD_SIZE": "2",
    }
    children = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", str(script)],
            env=environ | {"RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        results = [child.communicate(timeout=240) for child in children]
    finally:
        for child in children:
            child.kill()
            child.wait(30)
    assert [child.returncode for child in children] == [0, 0], results
    assert results[0][0].splitlines() == [
        "all_reduce [3.0, 3.0, 3.0]",
        "asynchronous [3.0, 3.0, 3.0]",
        "broadcast [2.0, 2.0]",
        "all_gather [[1.0, 1.0], [2.0, 2.0]]",
        "all_gather_into_tensor [1.0, 1.0, 2.0, 2.0]",
        "functional [3.0, 3.0]",
        "dtensor ('mock:0', True)",
        "ddp [4.5]",
        "ddp [4.5]",
        "fsdp2 [True, True, True, True]",
    ]
