"""`accelhal launch`: a program in several processes, a device each."""

from __future__ import annotations

import signal

import click

from accelhal.cli.ending import Terminated
from accelhal.distributed import Launch, launch as start


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--nproc", type=click.IntRange(1), required=True, help="Processes on this host.")
@click.option("--device", metavar="NAME", help="Backend that the processes use, such as cpu.")
@click.option("--module", "-m", is_flag=True, help="SCRIPT is a module, as for python -m.")
@click.option("--no-bind", is_flag=True, help="Leave CPUs and memory alone.")
@click.option("--nnodes", type=click.IntRange(1), default=1, show_default=True, help="Hosts.")
@click.option("--node-rank", type=click.IntRange(0), default=0, help="Number of this host.")
@click.option("--master-addr", metavar="HOST", help="Host of rank 0, for several hosts.")
@click.option("--master-port", type=click.IntRange(1, 65535), help="Its port, for several hosts.")
@click.option(
    "--max-restarts",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="How often all processes are started anew after one failed.",
)
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def launch(
    nproc: int,
    device: str | None,
    module: bool,
    no_bind: bool,
    nnodes: int,
    node_rank: int,
    master_addr: str | None,
    master_port: int | None,
    max_restarts: int,
    script: str,
    arguments: tuple[str, ...],
) -> None:
    """Start SCRIPT in --nproc processes that make one group: torchrun, and a board for each.

    Each process sees the device of its local rank alone, and is kept on the CPUs and the memory
    near it. Inside, accelhal.distributed.init() makes the group.

    Exit code 3 where a process failed.
    """
    what = Launch(
        command=(script, *arguments),
        nproc=nproc,
        device=device,
        module=module,
        nnodes=nnodes,
        node_rank=node_rank,
        master_addr=master_addr,
        master_port=master_port,
        max_restarts=max_restarts,
        bind=not no_bind,
    )
    try:
        start(what)
    except Exception as error:  # torchrun's own for a signal, of a class that it does not export
        number = getattr(error, "sigval", None)
        if number is None:
            raise
        raise (KeyboardInterrupt if number == signal.SIGINT else Terminated) from error
