"""Amounts in words: bytes, and rates of bytes or operations."""

from __future__ import annotations

_DECIMAL = ("", "k", "M", "G", "T", "P")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")


def rate_text(value: float, unit: str) -> str:
    """Three digits and a decimal prefix ("25.3 GB/s")."""
    power = 0
    while value >= 999.5 and power < len(_DECIMAL) - 1:
        value /= 1000
        power += 1
    return f"{value:.3g} {_DECIMAL[power]}{unit}"


def bytes_text(value: float) -> str:
    """One digit after the point and a binary unit ("22.8 GiB")."""
    power = 0
    while value >= 1024 and power < len(_BINARY) - 1:
        value /= 1024
        power += 1
    return f"{value:.1f} {_BINARY[power]}" if power else f"{value:.0f} B"
