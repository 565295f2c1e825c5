"""What NVIDIA's driver numbers, in words: the same for live boards and for captured output."""

from __future__ import annotations

THROTTLE_REASONS = {
    0x1: "idle",
    0x2: "application_clocks",
    0x4: "power_cap",
    0x8: "hardware_slowdown",
    0x10: "sync_boost",
    0x20: "thermal",
    0x40: "hardware_thermal",
    0x80: "power_brake",
    0x100: "display_clock",
    0x200: "board_limit",
    0x400: "reliability",
}
"""Bits of nvmlClocksEventReasons*."""

COMPUTE_MODES = ("default", "exclusive_thread", "prohibited", "exclusive_process")
"""nvmlComputeMode_t"""

RECOVERY_ACTIONS = {
    0: "none",
    1: "reset the board",
    2: "reboot the host",
    3: "drain its links",
    4: "drain it and reset it",
    5: "recover the IMEX domain",
    6: "reset the bus",
    7: "restart the system",
}
"""nvmlDeviceGpuRecoveryAction_t"""
