"""A vendor's event that refuses to time what it did not measure."""

from __future__ import annotations

from typing import Any

from accelhal.runtimes.event_errors import unrecorded_event, untimed_event


def checked_event_class(event_class: type) -> type:
    """A subclass of a vendor's event class, for one that may answer 0.0 where no time was taken."""

    class CheckedEvent(event_class):  # type: ignore[misc]
        """The vendor's event, whose elapsed_time raises UsageError instead of answering 0.0."""

        def __new__(
            cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
        ) -> Any:
            event = super().__new__(cls, enable_timing, blocking, interprocess)
            event.is_timed = enable_timing
            event.is_recorded = False
            return event

        def record(self, stream: Any = None) -> None:
            super().record(stream)
            self.is_recorded = True

        def elapsed_time(self, end_event: Any) -> float:
            """Milliseconds from this event to `end_event`.

            Raises:
                UsageError: an event was made without enable_timing, or never recorded.
            """
            # A plain event of the vendor's at the end carries no marks; the vendor judges it.
            events = (self, end_event)
            if not all(getattr(event, "is_timed", True) for event in events):
                raise untimed_event()
            if not all(getattr(event, "is_recorded", True) for event in events):
                raise unrecorded_event()
            return float(super().elapsed_time(end_event))

    return CheckedEvent
