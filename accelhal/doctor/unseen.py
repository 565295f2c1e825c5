"""The finding of a check, or of one of its subjects, that cannot see what it asks for."""

from __future__ import annotations

from accelhal.facts import Finding, FindingState
from accelhal.spi.doctor import DoctorFacts, NotShownError


def unseen(
    check_id: str, missing: NotShownError, facts: DoctorFacts, device: str | None = None
) -> Finding:
    """Unknown, with what would show it."""
    return Finding(
        check_id,
        "engine.not_seen" if facts.live else "engine.not_shown",
        FindingState.UNKNOWN,
        {"what": missing.what, "reason": missing.reason or "nobody looked"},
        device,
        commands=missing.commands,
    )
