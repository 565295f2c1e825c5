"""What contexts undo, in whatever order tasks, generators and threads leave them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, strategies as st

from accelhal.errors import UsageError
from accelhal.runtimes.context_stack import ContextStack


class Dial:
    """A setting that contexts turn and turn back."""

    def __init__(self) -> None:
        self.stack = ContextStack()
        self.value = "outside"

    def turn(self, value: str, owner: object) -> None:
        self.stack.push(owner, self._putting_back(self.value))
        self.value = value

    def _putting_back(self, value: str) -> Callable[[], None]:
        def put_back() -> None:
            self.value = value

        return put_back


@pytest.fixture
def dial() -> Dial:
    return Dial()


@given(st.permutations(["one", "two", "three", "four"]), st.integers(0, 4))
def test_left_in_any_order_the_outermost_state_returns(order: list[str], reentered: int) -> None:
    dial = Dial()
    entered = ["one", "two", "three", "four"] + ["one"] * reentered
    for owner in entered:
        dial.turn(owner, owner)
    for owner in [*order, *["one"] * reentered]:
        dial.stack.pop(owner)
    assert dial.value == "outside"


def test_leaving_an_outer_context_first_does_not_disturb_the_inner_one(dial: Dial) -> None:
    dial.turn("outer", "outer")
    dial.turn("inner", "inner")
    dial.stack.pop("outer")
    assert dial.value == "inner"
    dial.stack.pop("inner")
    assert dial.value == "outside"


def test_tasks_that_interleave_leave_the_thread_as_it_was(dial: Dial) -> None:
    async def task(name: str, turns: int) -> None:
        dial.turn(name, name)
        for _ in range(turns):
            await asyncio.sleep(0)
        dial.stack.pop(name)

    async def together() -> None:
        await asyncio.gather(task("short", 1), task("long", 3), task("middle", 2))

    asyncio.run(together())
    assert dial.value == "outside"


def test_a_generator_closed_inside_another_context_does_not_disturb_it(dial: Dial) -> None:
    def generator() -> Iterator[None]:
        dial.turn("generator", "generator")
        try:
            yield
        finally:
            dial.stack.pop("generator")

    suspended = generator()
    next(suspended)
    dial.turn("consumer", "consumer")
    suspended.close()
    assert dial.value == "consumer"
    dial.stack.pop("consumer")
    assert dial.value == "outside"


def test_one_failure_does_not_keep_the_rest_from_being_undone(dial: Dial) -> None:
    def fail() -> None:
        raise OSError("device lost")

    dial.turn("outer", "outer")
    dial.stack.push("inner", fail)
    dial.stack.pop("outer")
    with pytest.raises(OSError, match="device lost"):
        dial.stack.pop("inner")
    assert dial.value == "outside"


def test_what_another_thread_entered_cannot_be_left_here(dial: Dial) -> None:
    thread = threading.Thread(target=dial.turn, args=("there", "there"))
    thread.start()
    thread.join(60)
    with pytest.raises(UsageError, match="'there' was not entered in this thread"):
        dial.stack.pop("there")
