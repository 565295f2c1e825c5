"""`accelhal launch`: a board for each process, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from fake_spec import fake_spec

from accelhal.cli.launch import launch as command
from accelhal.distributed import Launch, launch
from accelhal.distributed.worker import own_device
from accelhal.errors import BackendNotFoundError, DeviceNotFoundError, UsageError
from accelhal.host.visible_devices import VisibleDevices

END_S = 120
"""Above anything a program here may take on a loaded machine."""

MASKED = fake_spec("toy", visible_devices=(VisibleDevices("TOY_VISIBLE"),))


@pytest.mark.parametrize(
    ("environ", "local_rank", "count", "expected"),
    [
        ({}, 1, None, {"TOY_VISIBLE": "1"}),
        ({}, 1, 2, {"TOY_VISIBLE": "1"}),
        ({"TOY_VISIBLE": "6,4"}, 1, 8, {"TOY_VISIBLE": "4"}),
        ({"TOY_VISIBLE": "6,4"}, 0, None, {"TOY_VISIBLE": "6"}),
    ],
)
def test_each_local_rank_is_shown_its_own(environ, local_rank, count, expected) -> None:
    assert own_device(MASKED, local_rank, environ, count) == expected


def test_a_rank_too_many_is_refused_with_the_variable() -> None:
    with pytest.raises(DeviceNotFoundError, match=r"shows 2 devices \(TOY_VISIBLE='6,4'"):
        own_device(MASKED, 2, {"TOY_VISIBLE": "6,4"})
    with pytest.raises(DeviceNotFoundError, match=r"shows 2 devices, one(.|\n)*--nproc 2"):
        own_device(MASKED, 2, {}, count=2)


def test_a_backend_without_a_variable_shows_all() -> None:
    assert own_device(fake_spec("toy"), 3, {}) == {}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"command": ()}, "no program"),
        ({"nproc": 0}, "counted from 1"),
        ({"nnodes": 2}, "address and the port of rank 0"),
        ({"node_rank": 1}, "host 1 of 1"),
        ({"device": "cpu:0"}, "each process takes its own"),
    ],
)
def test_what_cannot_be_started_is_refused_before_torch_is_loaded(fields, says) -> None:
    with pytest.raises(UsageError, match=says):
        Launch(**{"command": ("x.py",), "nproc": 2, **fields})
    with pytest.raises(BackendNotFoundError, match="no backend is named 'cpuu'"):
        Launch(("x.py",), 2, device="cpuu")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"command": ("nope.py", "-x")}, "there is no script 'nope.py' in "),
        ({"command": (".",)}, "a folder without __main__.py"),
        ({"command": ("no.such.module",), "module": True}, "there is no module 'no.such.module'"),
        ({"command": (".x",), "module": True}, "there is no module '.x'"),
    ],
)
def test_a_program_that_does_not_exist_is_one_error(
    fields, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=says):
        launch(Launch(nproc=2, **fields))


def launched(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "accelhal", "launch", *arguments],
        capture_output=True,
        text=True,
        timeout=END_S,
        env={**os.environ, "GLOO_SOCKET_IFNAME": "lo", **environ},
    )


def test_processes_make_one_group_and_failures_are_named(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import os, sys\n"
        "import torch, torch.distributed as dist\n"
        "import accelhal.distributed\n"
        "me = accelhal.distributed.init(timeout=60)\n"
        "x = torch.ones(1)\n"
        "dist.all_reduce(x)\n"
        "with open(sys.argv[1] + str(me.rank), 'w') as file:\n"
        "    print(me.device, x.item(), sys.argv[2:], os.environ['OMP_NUM_THREADS'], file=file)\n"
        "dist.barrier()\n"
        "if '--fail' in sys.argv and me.rank == 1:\n"
        "    sys.exit(7)\n"
    )
    result = launched(
        *("--nproc", "2", "--device", "cpu", str(script), str(tmp_path / "out-"), "--fail", "-x"),
        OMP_NUM_THREADS="1",
    )
    for rank in range(2):
        written = (tmp_path / f"out-{rank}").read_text()
        assert written == "cpu:0 2.0 ['--fail', '-x'] 1\n"
    assert result.returncode == 3, result.stderr
    assert "accelhal: rank 1 ended with exit code 7, first of all" in result.stderr
    assert "1 more failed" not in result.stderr  # rank 0 was ended for it, or ended well


PLUGIN = """
    from accelhal.facts import BoardInfo, BoardKey, Location, Probe, ProbeStatus
    from accelhal.host.visible_devices import VisibleDevices
    from accelhal.spi import API_VERSION, BackendSpec, Management

    def boards():
        keys = [BoardKey("toy", "uuid", str(number)) for number in range(2)]
        return [
            BoardInfo(key, "Toy Works", "Toy", "toy", "toy", uuid=key.value, numa_node=0)
            for key in keys
        ]

    class Toys(Management):
        def boards(self):
            return boards()

    def start():
        return Toys()

    def locate(index, host, listed):
        return Location(BoardKey("toy", "uuid", host.environ["TOY_VISIBLE"].split(",")[index]))

    SPEC = BackendSpec(
        name="toy", vendor="Toy Works", api_version=API_VERSION, priority=1,
        probe=lambda host: Probe(ProbeStatus.AVAILABLE, 2, "", ""),
        open_runtime=lambda: None, open_management=start, locate=locate,
        visible_devices=(VisibleDevices("TOY_VISIBLE"),),
    )
"""


@pytest.mark.skipif(
    not Path("/sys/devices/system/node/node0").exists(), reason="the kernel shows no NUMA node"
)
def test_each_process_sees_its_board_and_lies_near_to_it(
    install_plugin, fresh_registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install_plugin(
        "toy-plugin",
        code=PLUGIN,
        entry_points="[accelhal.backends]\ntoy = toy_plugin:SPEC\n",
        module="toy_plugin",
    )
    script = tmp_path / "program.py"
    script.write_text(
        "import os, sys\n"
        "with open(sys.argv[1] + os.environ['LOCAL_RANK'], 'w') as file:\n"
        "    maps = open('/proc/self/numa_maps').read()\n"
        "    print(os.environ['TOY_VISIBLE'], 'prefer' in maps, file=file)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("TOY_VISIBLE", "1,0")
    for bind, option in ((True, ()), (False, ("--no-bind",))):
        out = tmp_path / f"bind-{bind}-"
        # Here, not in a process of its own: torch is loaded already.
        before = signal.getsignal(signal.SIGTERM)
        result = CliRunner().invoke(
            command,
            ["--nproc", "2", "--device", "toy", *option, str(script), str(out)],
            catch_exceptions=False,
        )
        assert result.exit_code == 0, result.output
        assert signal.getsignal(signal.SIGTERM) is before
        assert Path(f"{out}0").read_text() == f"1 {bind}\n"
        assert Path(f"{out}1").read_text() == f"0 {bind}\n"
