"""What the doctor says of boards while a job runs."""

from __future__ import annotations

from collections.abc import Mapping

from accelhal.spi.doctor import Text

_SPIN = (
    "Kernels that compute or copy draw more. A collective whose peer does not come polls for ever: "
    "a rank that failed or runs other code, or a path between boards that does not work."
)
_LITTLE_WORK = (
    "The board is always busy and yet draws {power} of its power limit: it neither computes nor "
    "moves much. Small kernels, scattered access or a small batch do that."
)

TEXTS: Mapping[str, Text] = {
    "watch.no_board": Text("no board to watch"),
    "watch.no_job": Text(
        "{device} not judged: {reason}", several="{devices} not judged: no job was seen on them"
    ),
    "watch.not_read": Text(
        "{device}: {what} cannot be read: {reason}",
        several="{devices}: {what} cannot be read: {reason}",
    ),
    "spin.suspected": Text(
        "{device} is {busy} % busy at {watts} W of {limit} W: it may only wait",
        "One look does not tell; --watch looks for a minute.",
    ),
    "spin.hangs": Text(
        "{device} hangs: {busy} % busy, {percent} % of its power limit, no traffic, idle memory",
        _SPIN,
        "work draws power and moves data",
    ),
    "spin.waits": Text(
        "{device} is {busy} % busy at {percent} % of its power limit ({watts} W of {limit} W): it "
        "waits rather than works",
        f"{_SPIN} Whether data moves could not be read.",
        "work draws power and moves data",
    ),
    "spin.works": Text("{device} works: {watts} W of {limit} W", several="{devices} work"),
    "util.high": Text("{device} is {percent} % busy", several="{devices} are busy"),
    "util.waits_for_requests": Text(
        "{device} is {percent} % busy: it waits for requests or for input",
        "In {idle} of the samples it had no work. That is normal for a service with little "
        "traffic; a training job would wait for its data.",
    ),
    "util.low": Text(
        "{device} has work {percent} % of the time",
        "In each step the board waits for its program: for input, for the host's side of the step, "
        "or for other boards. Transfers over PCIe fill the link: {transfer}.",
        "70 % and more",
    ),
    "membw.high": Text("{device} uses {percent} % of its memory's bandwidth"),
    "membw.time_share": Text(
        "{device}: the memory is in use {percent} % of the time; how many bytes is not told",
        "The driver reports time. A measured copy tells what the memory can do.",
    ),
    "membw.other_work": Text(
        "{device} uses {percent} % of its memory's bandwidth, and computes",
        "Kernels that compute much need little bandwidth.",
    ),
    "membw.low": Text(
        "{device} uses {percent} % of its memory's bandwidth and computes little",
        _LITTLE_WORK,
        "60 % and more where kernels wait for memory",
    ),
    "occupancy.not_read": Text(
        "{device}: its driver library does not tell how kernels fill the threads",
        several="{devices}: driver libraries do not tell how kernels fill the threads",
    ),
    "occupancy.high": Text("{device}: kernels fill {percent} % of the threads"),
    "occupancy.other_work": Text(
        "{device}: kernels fill {percent} % of the threads, and work",
        "A matrix product runs well at a quarter of the threads.",
    ),
    "occupancy.low": Text(
        "{device}: kernels fill {percent} % of the threads and do little",
        "The board is always busy and yet draws little power: it neither computes nor moves much. "
        "Small blocks, many registers a thread, or a small batch do that.",
        "50 % and more where kernels wait for memory",
    ),
    "transfer.little": Text("{device}: copies fill the PCIe link {percent} of the time"),
    "transfer.some": Text(
        "{device}: copies fill the PCIe link {percent} of the time",
        "Copies beside work cost nothing; those that the work waits for do.",
    ),
    "transfer.much": Text(
        "{device}: copies fill the PCIe link {percent} of the time while the board waits",
        "Pinned memory, copies beside the work, and larger batches take less of a step.",
        "at most 40 % of the time, or beside the work",
    ),
    "throttle.none": Text("{device} is not held back", several="{devices} are not held back"),
    "throttle.by_design": Text(
        "{device} works at its limit: {reasons} in {share} of the samples",
        "It is the power limit the board was delivered with, or clocks that somebody set.",
    ),
    "throttle.held_back": Text(
        "{device} is held back: {reasons} in {share} of the samples, {trend}",
        "The board lowers its clocks, and a job on several boards runs at the pace of the slowest.",
        "no reason to lower clocks under load",
    ),
    "errors.none": Text(
        "{device}: no error of its memory in {seconds} s that matters",
        several="{devices}: no error of their memory that matters",
    ),
    "errors.corrected": Text(
        "{device}: {count} corrected errors of its memory in {seconds} s",
        "The memory wears out; uncorrected errors may follow.",
        "at most 10",
    ),
    "errors.uncorrected": Text(
        "{device}: {count} uncorrected errors of its memory in {seconds} s",
        "Data is lost; the job on it fails or computes with wrong values.",
        "none",
    ),
    "beat.all": Text("{device} answered every time", several="{devices} answered every time"),
    "beat.some": Text(
        "{device} missed {missed} heartbeats in a row of {beats}",
        "Drivers are slow at times; three in a row would be a sign.",
    ),
    "beat.returned": Text(
        "{device} did not answer for {seconds} s, and answers again",
        "The board was reset or its driver hung; a job on it may have failed.",
        "an answer every 5 s",
    ),
    "beat.lost": Text(
        "{device} does not answer: {missed} heartbeats missed, and the last question too",
        "It is lost, or its driver hangs.",
        "an answer every 5 s",
    ),
}
