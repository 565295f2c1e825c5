"""Where boards are: to one another, to the CPUs of the processes that use them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from accelhal.doctor.board_names import board_name
from accelhal.doctor.facts import Facts
from accelhal.evidence.boards import readings, topology
from accelhal.facts import BoardInfo, BoardReading, Finding, FindingState, Relation
from accelhal.facts.host_record import NumaNode, ProcessPlacement
from accelhal.host.cpu_list import format_cpu_list
from accelhal.host.visible_devices import active_mask
from accelhal.management.finding import named_board
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import Check, NotShownError
from accelhal.topology import Topology

_REMOTE_SHARE = 0.2
"""Share of a process's pages on other nodes above which its memory counts as misplaced: users
report a slower host side from 0.22 on."""

_GROUP = "Topology"


# ---- topo.p2p


def _near_one_another(facts: Facts) -> Iterator[Finding]:
    whole = topology(facts.snapshot)
    for spec in facts.specs:
        places = [
            place
            for place, board in enumerate(whole.boards)
            if board.backend == spec.name and board.parent is None and board.key is not None
        ]
        if places and not spec.simulated:
            yield _pairs_of(spec, whole, places, facts)


def _pairs_of(spec: BackendSpec, whole: Topology, places: Sequence[int], facts: Facts) -> Finding:
    if len(places) == 1:
        return _finding("topo.p2p", "p2p.one", FindingState.OK, spec.name)
    boards = [whole.boards[place] for place in places]
    mask = active_mask(spec.visible_devices, facts.variables, len(boards))
    if mask is None or mask.problem is not None or not 1 < len(mask.entries) < len(boards):
        return _finding(
            "topo.p2p", "p2p.all", FindingState.OK, spec.name, params={"count": len(places)}
        )
    chosen, reason = _visible(spec, len(mask.entries), boards, facts)
    if reason:
        return _finding(
            "topo.p2p", "p2p.untold", FindingState.UNKNOWN, spec.name, params={"reason": reason}
        )
    free = [place for place in _free(places, facts) if place not in chosen]
    own = _part(whole, [places[n] for n in chosen])
    wider = _part(whole, [places[n] for n in chosen] + free)
    best = _part(wider, wider.best_subset(len(chosen)))
    if _farthest(own) is None or _rank(best) >= _rank(own):
        return _finding(
            "topo.p2p", "p2p.near", FindingState.OK, spec.name, params={"count": len(chosen)}
        )
    better = ",".join(sorted(str(board.index) for board in best.boards))
    return _finding(
        "topo.p2p",
        "p2p.far",
        FindingState.WARN,
        spec.name,
        params={
            "ids": ",".join(str(board.index) for board in own.boards),
            "worst": _word(own),
            "better": better,
            "nearer": _word(best),
        },
        commands=(f"export {mask.variable}={better}", "accelhal topo"),
    )


def _visible(
    spec: BackendSpec, count: int, boards: Sequence[BoardInfo], facts: Facts
) -> tuple[list[int], str]:
    """Positions of the boards that torch would see, or why that cannot be told."""
    if spec.locate is None:
        return [], "the plugin does not tell"
    found = []
    for index in range(count):
        where = spec.locate(index, facts.host, boards)
        board = None if where.key is None else named_board(where.key, boards)
        if board is None:
            return [], where.reason or "the driver lists no such board"
        found.append(boards.index(board))
    return found, ""


def _free(places: Sequence[int], facts: Facts) -> list[int]:
    """Boards that no process is seen on."""
    seen = readings(facts.snapshot)
    return [place for place in places if seen[place].processes == ()]


def _part(whole: Topology, places: Sequence[int]) -> Topology:
    return Topology(
        tuple(whole.boards[place] for place in places),
        {
            (one, other): whole.relation(places[one], places[other])
            for one, other in combinations(range(len(places)), 2)
        },
    )


def _farthest(part: Topology) -> Relation | None:
    """How far the farthest pair is; None where a pair is unknown."""
    order = list(Relation)
    known = [relation for relation in part.relations.values() if relation is not None]
    if len(known) < len(part.relations):
        return None
    return max(known, key=order.index)


def _rank(part: Topology) -> int:
    farthest = _farthest(part)
    return len(Relation) if farthest is None else list(Relation).index(farthest)


def _word(part: Topology) -> str:
    farthest = _farthest(part)
    return "?" if farthest is None else farthest.value.upper()


# ---- topo.numa and topo.cpubind


def _processes_near_boards(facts: Facts) -> Iterator[Finding]:
    boards = [reading for reading in facts.readings() if not reading.board.simulated]
    if not boards:
        return
    nodes = _nodes(facts)
    if len(nodes) == 1:
        yield _finding("topo.numa", "numa.one_node", FindingState.OK, None)
        return
    placed = {placement.pid: placement for placement in facts.record.placements or ()}
    for reading in boards:
        if reading.board.numa_node is None:
            continue
        holders = [placed[p.pid] for p in reading.processes or () if p.pid in placed]
        if not holders:
            yield _finding("topo.numa", "numa.no_job", FindingState.OK, board_name(reading))
        for holder in holders:
            yield _placed(holder, reading, nodes)


def _placed(holder: ProcessPlacement, reading: BoardReading, nodes: Sequence[NumaNode]) -> Finding:
    home = reading.board.numa_node
    assert home is not None, "boards of unknown node were passed over"
    may = [node.number for node in nodes if set(node.cpus) & set(holder.cpus)]
    total = sum(holder.pages)
    local = holder.pages[home] if home < len(holder.pages) else 0
    remote = 1 - local / total if total else 0.0
    params: dict[str, str | int] = {
        "pid": holder.pid,
        "node": home,
        "nodes": ", ".join(map(str, may)),
    }
    device = board_name(reading)
    near = format_cpu_list(next((n.cpus for n in nodes if n.number == home), ()))
    bind = (f"taskset -apc {near} {holder.pid}",) if near else ()
    wrap = f"numactl --cpunodebind={home} --membind={home} COMMAND"
    if may != [home]:
        code = "numa.wanders" if home in may else "numa.elsewhere"
        commands = (*bind, f"accelhal bind --board {reading.board.pci or 'ID'} -- COMMAND", wrap)
        return _finding(
            "topo.numa", code, FindingState.WARN, device, params=params, commands=commands
        )
    if remote > _REMOTE_SHARE:
        share = round(remote * 100)
        commands = (f"migratepages {holder.pid} all {home}", wrap)
        return _finding(
            "topo.numa",
            "numa.remote_memory",
            FindingState.WARN,
            device,
            params={"share": share, **params},
            commands=commands,
        )
    return _finding("topo.numa", "numa.near", FindingState.OK, device, params=params)


def _own_cpus(facts: Facts) -> Iterator[Finding]:
    on_nodes: dict[tuple[str, int], list[BoardReading]] = defaultdict(list)
    for reading in facts.readings():
        board = reading.board
        if board.backend and board.numa_node is not None and not board.simulated:
            on_nodes[board.backend, board.numa_node].append(reading)
    if not on_nodes:
        return
    nodes = _nodes(facts)
    if facts.record.cpus is None:
        raise NotShownError("the CPUs of the process", commands=("taskset -p $$",))
    own, far = set(facts.record.cpus), False
    for (backend, number), boards in on_nodes.items():
        near = next((node.cpus for node in nodes if node.number == number), ())
        if near and not own & set(near):
            far = True
            yield _finding(
                "topo.cpubind",
                "cpubind.far",
                FindingState.WARN,
                board_name(boards[0]) if len(boards) == 1 else backend,
                params={"node": number, "near": format_cpu_list(near)},
                commands=_wider(facts, near),
            )
    yield from _sharing(facts)
    if not far:
        for backend in dict.fromkeys(backend for backend, _ in on_nodes):
            yield _finding("topo.cpubind", "cpubind.near", FindingState.OK, backend)


def _wider(facts: Facts, near: Sequence[int]) -> tuple[str, ...]:
    cpus = format_cpu_list(near)
    if facts.contained:
        return (f"docker update --cpuset-cpus={cpus} CONTAINER  # on the host",)
    return (f"taskset -pc {cpus} $$",)


def _sharing(facts: Facts) -> Iterator[Finding]:
    """Processes of different boards that are bound to one and the same part of the host."""
    placed = {placement.pid: placement for placement in facts.record.placements or ()}
    every = {cpu for node in facts.record.numa_nodes or () for cpu in node.cpus}
    boards: dict[int, set[str]] = defaultdict(set)
    for reading in facts.readings():
        for process in reading.processes or ():
            boards[process.pid].add(board_name(reading))
    by_cpus: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for pid in boards:
        if pid in placed and set(placed[pid].cpus) < every:
            by_cpus[placed[pid].cpus].append(pid)
    for cpus, pids in by_cpus.items():
        apart = not any(boards[one] & boards[other] for one, other in combinations(pids, 2))
        if len(pids) > 1 and apart and len(cpus) < len(pids):
            yield _finding(
                "topo.cpubind",
                "cpubind.shared",
                FindingState.WARN,
                None,
                params={"pids": ", ".join(map(str, pids)), "cpus": format_cpu_list(cpus)},
                commands=tuple(f"taskset -pc {pid}" for pid in pids),
            )


def _nodes(facts: Facts) -> Sequence[NumaNode]:
    if facts.record.numa_nodes is None:
        raise NotShownError("the host's NUMA nodes", commands=("numactl --hardware",))
    return facts.record.numa_nodes


def _finding(
    check: str,
    code: str,
    state: FindingState,
    device: str | None,
    *,
    params: Mapping[str, str | int] | None = None,
    commands: tuple[str, ...] = (),
) -> Finding:
    return Finding(check, code, state, params or {}, device, commands=commands)


P2P = Check(
    "topo.p2p",
    _GROUP,
    "whether the visible boards are as near to one another as others that are free",
    ("the drivers' links and relations, the PCI bus", "the variables that hide devices"),
    _near_one_another,
    depends_on=("device.mask",),
    explanation="Boards are nearest over a link of their own, then below one PCIe switch, one host "
    "bridge, one NUMA node. Where a mask picks some of the boards and a set of the same size with "
    "a nearer farthest pair is free, that set is named. `accelhal topo` shows the whole matrix.",
)
NUMA = Check(
    "topo.numa",
    _GROUP,
    "whether the processes that hold boards run, and have their memory, on the boards' nodes",
    ("/proc/PID/status", "/proc/PID/numa_maps", "/sys/devices/system/node"),
    _processes_near_boards,
    explanation="A process that feeds a board from another NUMA node pays for it with each launch "
    f"and copy. Threads that may run on several nodes, and more than {_REMOTE_SHARE:.0%} of pages "
    "on other nodes, are warned of. `accelhal bind` starts a program near its board.",
)
CPU_BINDING = Check(
    "topo.cpubind",
    _GROUP,
    "whether this process may run near its boards at all, and whether jobs share a few CPUs",
    ("/proc/self/status", "/sys/devices/system/node"),
    _own_cpus,
    explanation="A container or job may have been given CPUs of one node and boards of another: "
    "then no binding inside it can help. Jobs on different boards that are bound to the same CPUs, "
    "fewer than jobs, wait for one another.",
)
