"""Cases of slow and hanging traffic between boards, hosts and CPUs; each beside a sound host."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from doctor.cases.evidence_of import boards, judged, loud, related, snapshot

from accelhal.facts import FindingState, HostFacts, ProcessMemory, Relation
from accelhal.facts.host_record import BusPort, NumaNode, ProcessPlacement

FAIL, WARN, UNKNOWN = FindingState.FAIL, FindingState.WARN, FindingState.UNKNOWN
BUSY = (ProcessMemory(100, 1 << 30),)
NODES = (NumaNode(number=0, cpus=(0, 1, 2, 3)), NumaNode(number=1, cpus=(4, 5, 6, 7)))
VM = HostFacts("Linux", "6.8", "x86_64", "3.11", None, 8, None, None, "vm")


def bridge(address: str, first: int, last: int, *redirects: str) -> BusPort:
    return BusPort(address=address, is_bridge=True, behind=(first, last), redirects=redirects)


# ---- topo.acs

ACS = [
    pytest.param("cuda", Relation.PHB, ("ReqRedir", "CmpltRedir", "UpstreamFwd"), id="NV-019"),
    pytest.param("cuda", Relation.PIX, ("ReqRedir",), id="NV-020"),
    pytest.param("cuda", Relation.PXB, ("ReqRedir",), id="NV-020-PXB"),
    pytest.param("mlu", Relation.PIX, ("CmpltRedir",), id="another vendor"),
]


@pytest.mark.parametrize(("backend", "relation", "redirects"), ACS)
def test_bridges_that_redirect_traffic_between_boards(
    backend: str, relation: Relation, redirects: tuple[str, ...]
) -> None:
    shown = snapshot(
        backend,
        boards(backend, 2, processes=BUSY),
        relations=related(2, relation),
        ports=(bridge("0000:00:01.0", 1, 2, *redirects), bridge("0000:00:03.0", 5, 5, "ReqRedir")),
    )
    (found,) = judged(shown, "topo.acs")
    assert (found.state, found.code) == (FAIL, "acs.on")
    assert found.params["bridges"] == "0000:00:01.0", "the other has no board behind it"
    assert any("setpci -s 0000:00:01.0" in command for command in found.commands)
    assert any("pci=noacs" in command for command in found.commands)


def test_idle_boards_below_redirecting_bridges_are_a_warning() -> None:
    shown = snapshot(
        "cuda",
        boards("cuda", 2, processes=()),
        relations=related(2, Relation.PIX),
        ports=(bridge("0000:00:01.0", 1, 2, "ReqRedir"),),
    )
    (found,) = judged(shown, "topo.acs")
    assert found.state is WARN


@pytest.mark.parametrize(
    ("changed", "relation", "count"),
    [
        ({"ports": (bridge("0000:00:01.0", 1, 2),)}, Relation.PIX, 2),
        ({"ports": (bridge("0000:00:01.0", 1, 1, "ReqRedir"),)}, Relation.PIX, 1),
        ({"ports": (bridge("0000:00:01.0", 1, 2, "ReqRedir"),)}, Relation.LINK, 2),
    ],
    ids=["controls off", "one board", "boards with links of their own"],
)
def test_sound_bridges(changed: dict[str, Any], relation: Relation, count: int) -> None:
    shown = snapshot(
        "cuda", boards("cuda", count, processes=BUSY), relations=related(count, relation), **changed
    )
    assert not loud(judged(shown, "topo.acs"))


def test_a_virtual_machine_keeps_its_hosts_controls() -> None:
    shown = snapshot(
        "cuda",
        boards("cuda", 2, processes=BUSY),
        relations=related(2, Relation.PHB),
        ports=(bridge("0000:00:01.0", 1, 2, "ReqRedir"),),
        iommu={},
        command_line="intel_iommu=on",
    )
    assert not loud(judged(replace(shown, host=VM), "topo.acs", "topo.iommu"))


def test_registers_that_were_not_read_are_unknown() -> None:
    unread = BusPort(address="0000:00:01.0", is_bridge=True, behind=(1, 2))
    for ports in (None, (unread,)):
        shown = snapshot("cuda", boards("cuda", 2), relations=related(2, Relation.PIX), ports=ports)
        (found,) = judged(shown, "topo.acs")
        assert found.state is UNKNOWN
        assert found.commands == ("sudo lspci -vvv",)


# ---- topo.iommu


@pytest.mark.parametrize(
    ("backend", "record"),
    [
        pytest.param("cuda", {"command_line": "quiet intel_iommu=on"}, id="NV-023"),
        pytest.param(
            "cuda",
            {
                "command_line": "quiet",
                "iommu": {"0000:01:00.0": "DMA-FQ", "0000:02:00.0": "DMA-FQ"},
            },
            id="OT-111",
        ),
        pytest.param("npu", {"iommu": {"0000:01:00.0": ""}}, id="any vendor"),
    ],
)
def test_an_iommu_that_translates(backend: str, record: dict[str, Any]) -> None:
    shown = snapshot(
        backend, boards(backend, 4, processes=BUSY), relations=related(4, Relation.PHB), **record
    )
    (found,) = judged(shown, "topo.iommu")
    assert (found.state, found.code) == (FAIL, "iommu.translates")
    assert "iommu=pt" in found.commands[0]
    assert "intel_iommu=off" in found.commands[0]


@pytest.mark.parametrize(
    "record",
    [
        {"command_line": "intel_iommu=on iommu=pt", "iommu": {"0000:01:00.0": "identity"}},
        {"command_line": "intel_iommu=off", "iommu": {}},
        {"command_line": "quiet", "iommu": {}},
        {"iommu": {"0000:01:00.0": "identity", "0000:02:00.0": "identity"}},
    ],
)
def test_an_iommu_that_is_off_or_passes_through(record: dict[str, Any]) -> None:
    shown = snapshot(
        "cuda", boards("cuda", 2, processes=BUSY), relations=related(2, Relation.PHB), **record
    )
    assert [finding.state for finding in judged(shown, "topo.iommu")] == [FindingState.OK]


# ---- topo.numa and topo.cpubind


@pytest.mark.parametrize(
    ("backend", "cpus", "pages", "code", "command"),
    [
        pytest.param("npu", tuple(range(8)), (), "numa.wanders", "numactl", id="AS-096"),
        pytest.param("cuda", (4, 5), (22, 78), "numa.remote_memory", "--membind=1", id="NV-030"),
        pytest.param("mlu", (0, 1), (), "numa.elsewhere", "accelhal bind", id="the other node"),
    ],
)
def test_a_process_far_from_its_board(
    backend: str, cpus: tuple[int, ...], pages: tuple[int, ...], code: str, command: str
) -> None:
    shown = snapshot(
        backend,
        boards(backend, 1, numa_node=1, processes=BUSY),
        numa_nodes=NODES,
        placements=(ProcessPlacement(pid=100, cpus=cpus, pages=pages),),
    )
    (found,) = judged(shown, "topo.numa")
    assert (found.state, found.code, found.params["pid"]) == (WARN, code, 100)
    assert any(command in line for line in found.commands)


@pytest.mark.parametrize(
    ("cpus", "pages"), [((4, 5, 6, 7), ()), ((5,), (0, 100)), ((6, 7), (15, 85))]
)
def test_a_process_near_its_board(cpus: tuple[int, ...], pages: tuple[int, ...]) -> None:
    shown = snapshot(
        "cuda",
        boards("cuda", 1, numa_node=1, processes=BUSY),
        numa_nodes=NODES,
        placements=(ProcessPlacement(pid=100, cpus=cpus, pages=pages),),
        cpus=(4, 5, 6, 7),
    )
    assert not loud(judged(shown, "topo.numa", "topo.cpubind"))


def test_one_node_and_processes_out_of_sight_are_no_fault() -> None:
    for nodes in (NODES[:1], NODES):
        shown = snapshot(
            "cuda", boards("cuda", 1, numa_node=1, processes=BUSY), numa_nodes=nodes, placements=()
        )
        assert not loud(judged(shown, "topo.numa"))


def test_a_cpu_set_without_any_cpu_near_the_board() -> None:
    shown = snapshot("npu", boards("npu", 2, numa_node=1), numa_nodes=NODES, cpus=(0, 1))
    (found,) = judged(shown, "topo.cpubind")
    assert (found.state, found.code) == (WARN, "cpubind.far")
    assert "4-7" in found.commands[0]


def test_jobs_on_different_boards_that_share_too_few_cpus() -> None:
    seen = [
        replace(reading, processes=(ProcessMemory(100 + place, None),))
        for place, reading in enumerate(boards("cuda", 3, numa_node=0))
    ]
    placements = tuple(ProcessPlacement(pid=100 + n, cpus=(0, 1)) for n in range(3))
    shown = snapshot("cuda", seen, numa_nodes=NODES, placements=placements, cpus=(0, 1, 2, 3))
    (found,) = loud(judged(shown, "topo.cpubind"))
    assert found.code == "cpubind.shared"
    assert found.params["pids"] == "100, 101, 102"


# ---- topo.p2p


def test_a_mask_that_picks_distant_boards() -> None:
    relations = tuple(
        replace(
            pair,
            relation=Relation.PIX
            if pair.other - pair.one == 1 and pair.one % 2 == 0
            else Relation.SYS,
        )
        for pair in related(4, Relation.SYS)
    )
    shown = snapshot(
        "mlu",
        boards("mlu", 4, processes=()),
        relations=relations,
        variables={"MLU_VISIBLE_DEVICES": "1,2"},
    )
    (found,) = judged(shown, "topo.p2p")
    assert (found.state, found.code) == (WARN, "p2p.far")
    assert found.commands[0] == "export MLU_VISIBLE_DEVICES=0,1"
    near = replace(shown, record=replace(shown.record, variables={"MLU_VISIBLE_DEVICES": "2,3"}))
    assert not loud(judged(near, "topo.p2p"))


def test_better_boards_that_others_hold_are_not_offered() -> None:
    relations = tuple(
        replace(pair, relation=Relation.PIX if (pair.one, pair.other) == (2, 3) else Relation.SYS)
        for pair in related(4, Relation.SYS)
    )
    free = boards("mlu", 4, processes=())
    held = [replace(r, processes=BUSY) if n > 1 else r for n, r in enumerate(free)]
    for seen, state in ((free, WARN), (held, FindingState.OK)):
        shown = snapshot("mlu", seen, relations=relations, variables={"MLU_VISIBLE_DEVICES": "0,1"})
        assert [finding.state for finding in judged(shown, "topo.p2p")] == [state]


# ---- net.peermem and net.hccl

RDMA = {"rdma": ("mlx5_0",)}
CLIENT = {"/sys/kernel/mm/memory_peers/nv_mem/version": "1.0"}


@pytest.mark.parametrize(
    ("record", "state", "code", "command"),
    [
        pytest.param(
            {
                "modules": {"nvidia": "550.54", "nvidia_peermem": "550.54"},
                "packages": {"nvidia-nccl-cu12": "2.20.5"},
                "files": CLIENT,
            },
            FAIL,
            "peermem.old_nccl",
            "nvidia-nccl",
            id="NV-031",
        ),
        pytest.param(
            {"modules": {"nvidia": "550.54"}}, WARN, "peermem.missing", "modprobe", id="NV-032"
        ),
        pytest.param(
            {"modules": {"nvidia": "550.54", "nvidia_peermem": "550.54"}},
            WARN,
            "peermem.unregistered",
            "memory_peers",
            id="NV-033",
        ),
    ],
)
def test_network_cards_that_do_not_reach_the_boards(
    record: dict[str, Any], state: FindingState, code: str, command: str
) -> None:
    (found,) = judged(snapshot("cuda", boards("cuda", 8), **RDMA, **record), "net.peermem")
    assert (found.state, found.code) == (state, code)
    assert any(command in line for line in found.commands)


@pytest.mark.parametrize(
    "record",
    [
        {"rdma": (), "modules": {"nvidia": ""}},
        {**RDMA, "modules": {"nvidia": "", "nvidia_peermem": ""}, "files": CLIENT},
        {
            **RDMA,
            "modules": {"nvidia": ""},
            "files": {"/proc/driver/nvidia/version": "NVRM: NVIDIA UNIX Open Kernel Module 580.1"},
        },
    ],
    ids=["no network card", "registered", "open modules"],
)
def test_network_cards_that_reach_the_boards(record: dict[str, Any]) -> None:
    assert not loud(judged(snapshot("cuda", boards("cuda", 8), **record), "net.peermem"))


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("EI0006: 2026-01-01 Getting socket times out. Reason: ...", id="AS-094"),
        "RuntimeError: ... error code: EI0006",
        "[ERROR] HCCL(1,python): listen on ip[192.0.2.1] and specific port[16666] fail.",
    ],
)
def test_collectives_that_do_not_meet(line: str) -> None:
    files = {"/etc/hccn.conf": "".join(f"address_{n}=192.0.2.{n + 1}\n" for n in range(8))}
    shown = snapshot("npu", boards("npu", 8), messages=(line,), files=files)
    (found,) = loud(judged(shown, "net.hccl"))
    assert found.state is FAIL
    text = "\n".join(found.commands)
    assert "16666" in text
    assert "hccn_tool" in text or "HCCL_IF_BASE_PORT" in text


def test_ports_without_an_address() -> None:
    text = "address_0=192.0.2.1\nnetmask_0=255.255.255.0\n"
    shown = snapshot("npu", boards("npu", 2), files={"/etc/hccn.conf": text})
    (found,) = judged(shown, "net.hccl")
    assert (found.state, found.params["boards"]) == (FAIL, "1")
    assert "hccn_tool" in found.commands[0]


def test_one_board_and_addressed_boards_are_no_fault() -> None:
    text = "".join(f"address_{n}=192.0.2.{n + 1}\n" for n in range(2))
    for count in (1, 2):
        shown = snapshot("npu", boards("npu", count), files={"/etc/hccn.conf": text})
        assert [finding.state for finding in judged(shown, "net.hccl")] == [FindingState.OK]
