"""What the doctor says of the boards' own faults."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

_FRESH = "a board that holds no data of a job any more, reset"

TEXTS: Mapping[str, Text] = {
    # ---- device.lost
    "lost.answers": Text("{device} answers", several="{number} boards answer"),
    "lost.gone": Text(
        "{device} does not answer: {value}",
        "The bus shows it and the driver cannot reach it: it fell off the bus, lost power, grew "
        "too hot (boards without fans of their own need the host's air), or is not seated. "
        "{detail}",
        "the board answers its driver",
    ),
    # ---- hw.ecc
    "ecc.clean": Text(
        "{device}: no uncorrected error since the driver was loaded",
        several="no uncorrected error on {number} boards",
    ),
    "ecc.off": Text("{device}: error correction of its memory is off"),
    "ecc.history": Text("{device}: {total} uncorrected errors in its life, none since load"),
    "ecc.uncorrected": Text(
        "{device}: {count} uncorrected memory errors since the driver was loaded",
        "Results computed with that memory are wrong, and jobs that touch it end. A reset maps "
        "the bad cells out; where it comes back, the board is to be replaced.",
        _FRESH,
    ),
    # ---- hw.remap
    "remap.none": Text(
        "{device}: no repair of its memory is pending",
        several="no repair of memory is pending on {number}",
    ),
    "remap.pending": Text(
        "{device}: a repair of its memory waits for a reset",
        "Bad cells are still in use until the board is reset.",
        _FRESH,
    ),
    "remap.failed": Text(
        "{device}: a repair of its memory failed: no spare memory is left",
        "Further bad cells cannot be mapped out.",
        "another board",
    ),
    "remap.many": Text(
        "{device}: {count} repairs of its memory; boards take about {limit}",
        "The spare memory is nearly used up.",
        "fewer than {limit} repairs",
    ),
    # ---- hw.<family>
    "log.quiet": Text("no fault of that kind in the kernel log"),
    "log.fault": Text(
        "{device}: {family} {code}: {meaning}",
        "Seen since the last start: {count}. {follow_up}",
        "no such fault",
    ),
    "log.returns": Text(
        "{device}: {family} {code}: {meaning}, again after {returns} restarts",
        "Resets and restarts did not cure it. {follow_up}",
        "another board",
    ),
    "log.of_job": Text("{device}: {family} {code}: {meaning}: a fault of a job, not of the board"),
    # ---- hw.fault_codes
    "codes.none": Text(
        "{device}: its driver reports no fault", several="no fault reported on {number}"
    ),
    "codes.listed": Text(
        "{device}: fault {code}: {meaning}",
        "The driver reports it now. {follow_up}",
        "no active fault",
    ),
    "codes.unlisted": Text(
        "{device}: {name} {value}",
        "The driver reports it now; no table here has it. {detail}",
        "no active fault",
    ),
    # ---- hw.inforom
    "inforom.none": Text(
        "{device}: its driver asks for no action", several="no action asked for on {number}"
    ),
    "inforom.action": Text(
        "{device}: the driver asks to {value}",
        "Until that is done, the board is not fit for work. {detail}",
        "no action asked for",
    ),
    # ---- kernel.log
    "kernel.quiet": Text("nothing else in the kernel log that boards suffer from"),
    "kernel.lockup": Text(
        "the kernel log shows {count} CPU lockups, with {module} in the trace",
        "A CPU did not leave kernel code for many seconds: everything on the host stalls. The "
        "boards' driver, or another module, is at fault.",
        "no lockup",
    ),
    "kernel.pcie": Text(
        "the kernel log shows {count} uncorrected PCIe errors, the latest at {address}",
        "A link drops or damages packets: a seat, riser, slot or cable.",
        "no uncorrected PCIe error",
    ),
    "kernel.pcie_corrected": Text("the kernel log shows {count} corrected PCIe errors"),
    "kernel.oom": Text(
        "the kernel ended {count} processes for lack of host memory, the latest {process}",
        "A job that ended without a word may be one of them.",
        "host memory for all jobs",
    ),
    "kernel.contiguous": Text(
        "the kernel log shows {count} failed allocations of contiguous memory",
        "Drivers that share boards take such memory. It is noise unless a device does not start: "
        "then the reserved pool is too small.",
        "cma=... on the kernel's command line, where a device does not start",
    ),
}
