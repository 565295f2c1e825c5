"""The thresholds of the checks on speed and memory, each with its source."""

from __future__ import annotations

# ---- boards at rest and in use

BUSY_PERCENT = 5.0
"""Utilisation above which a board counts as in use: drivers show 0 at rest, and a reading of them
1 or 2."""

HELD_SHARE = 0.1
"""Share of its memory held above which a board counts as in use: firmware and error correction of
boards at rest hold up to 5 %."""

IDLE_POWER_SHARE = 0.25
"""Share of the power limit that boards at rest draw at most: 10 % to 14 % for most, up to 24 % for
some with 300 W and more (captured tables of boards without processes)."""

# ---- --measure

SIBLING_SHARE = 0.8
"""Of what boards of its model on this host do: less is slow. Boards of one model differ by a few
percent."""

MODEL_SHARE = 0.8
"""Of what is published of its model: less is worth a word, and a warning where a limit is seen at
work."""

FAR_BELOW_MODEL_SHARE = 0.5
"""Of what is published: less is slow, whether or not a limit is seen. Published peaks are those of
the highest clock, and large boards reach 65 % to 85 % of them at their power limit."""

LINK_SHARE = 0.6
"""Of what a PCIe link carries: less is slow. Pinned copies reach 75 % to 87 % (headers and flow
control take the rest)."""

CLOCK_SHARE = 0.8
"""Of the highest clock: less under load is a low clock."""

AT_LIMIT_SHARE = 0.95
"""Of the power limit: more is at the limit. Also of the default limit: less is a lowered one."""

# ---- --watch

WINDOW_S = 30.0
"""Seconds of samples without which nothing is judged."""

LOW_UTILIZATION = 70.0
"""Percent of the time in which work runs."""

IDLE_SAMPLES_SHARE = 0.3
"""Share of samples without any work above which a board waits for requests rather than within its
steps."""

SERVICE_UTILIZATION = 30.0
"""Percent of the time below which a board serves rather than trains."""

LOW_BANDWIDTH = 60.0
"""Percent of the memory's bandwidth."""

LOW_OCCUPANCY = 50.0
"""Percent of the threads that the compute units can hold."""

FULL_UTILIZATION = 95.0
"""Percent of the time: more is always busy."""

WORKING_POWER_SHARE = 0.6
"""Share of the power limit from which on compute units or memory are at work."""

LINK_REACHED_SHARE = 0.8
"""Of what a PCIe link carries: copies reach about that, so the link is then full."""

HIGH_TRANSFER, SOME_TRANSFER = 0.4, 0.2
"""Share of the time in which the PCIe link is full: a warning, and worth a word."""

THROTTLED_SHARE = 0.1
"""Share of samples with a reason to slow down, above which a board is held back."""

# ---- busy and waiting

SPIN_POWER_SHARE = 0.35
"""Share of the power limit: kernels that wait for a peer draw less (44 W of 250 W in
a public report of hung collectives), work draws more."""

SPIN_TRAFFIC = 1e6
"""Bytes a second over PCIe that count as none: polling of the host's flags."""

SPIN_MEMORY = 1.0
"""Percent of the time or bandwidth of the memory that counts as none."""

# ---- heartbeats

BEAT_S = 5.0
"""Seconds in which a board's driver answers once."""

MISSED_BEATS = 3
"""Beats missed in a row that make a board suspect; it is then asked once more."""

# ---- memory

CACHED_SHARE = 0.3
"""Share of the board's memory that an allocator may hold unused."""

WINDOW_SHARE = 0.85
"""Share of a board's memory: who sees less sees a part. Whole boards show 88 % and more of what
their drivers report."""

# ---- heat, air and clocks

LEAST_MARGIN = 3.0
"""Degrees Celsius below a board's own slowdown: nearer is a warning."""

WARM_INLET = 28.0
"""Degrees Celsius of the air that enters: from here on a warning. ASHRAE TC 9.9
recommends at most 27."""

AIR_RISE = 15.0
"""Degrees Celsius between inlet and outlet: from here on a warning: fans that
move the air they were built for keep it below."""

CLOCK_WITHOUT_REASON = 0.9
"""Of the highest clock: less, under load and without a reason, is no choice of the board. 0.82 was
reported of a board with stuck firmware."""

REPLAYS_PER_LANE = {1: 0.15, 2: 0.3, 3: 0.48, 4: 0.96, 5: 1.92}
"""PCIe packets sent again a minute and lane that are normal, by generation: a bit error rate of
1e-12 at the link's full rate."""

# ---- shared memory

SHARED_MEMORY_LEAST = 64 << 20
"""Bytes of /dev/shm for each rank: less ends collectives at their start. What one container has
for all its processes unless told otherwise (Docker's manual, --shm-size)."""

SHARED_MEMORY_AMPLE = 128 << 20
"""Bytes for each rank that are enough: a job on eight boards was seen to need 1 GiB in all
(pytorch/torchtitan#853)."""
