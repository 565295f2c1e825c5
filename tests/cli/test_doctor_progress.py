"""The bar of slow scenes: on a terminal alone, and at its end when the seconds are over."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from accelhal.cli import doctor_progress
from accelhal.cli.doctor_progress import progress_shown
from accelhal.doctor.engine import DEFAULT_SCENE
from accelhal.doctor.facts import Facts
from accelhal.spi.doctor import Cost

WATCH = DEFAULT_SCENE | {Cost.WATCH}


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What stands on the terminal."""
    screen = io.StringIO()
    monkeypatch.setattr(
        doctor_progress,
        "console",
        lambda stderr: Console(file=screen, force_terminal=True, width=80),
    )
    return screen


def test_the_slow_scenes_say_how_far_they_are(screen: io.StringIO) -> None:
    facts = Facts(watch_s=60.0)
    with progress_shown(facts, WATCH):
        facts.on_measure("red board 0")
        facts.on_import("torch")
        facts.on_watch(30.0)
    assert "watching" in screen.getvalue()


def test_the_default_scene_shows_nothing(screen: io.StringIO) -> None:
    with progress_shown(Facts(), DEFAULT_SCENE):
        pass
    assert screen.getvalue() == ""
