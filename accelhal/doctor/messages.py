"""What programs, loaders and tools said: the lines that a plugin understands, as findings."""

from __future__ import annotations

from collections.abc import Iterator

from accelhal.doctor.commands import filled
from accelhal.doctor.facts import Facts
from accelhal.facts import Finding
from accelhal.spi import BackendSpec
from accelhal.spi.doctor import MessageRule

_KEPT_LINE = 200
"""Characters of a line that a finding quotes."""


def findings_of_messages(check_id: str, facts: Facts) -> Iterator[Finding]:
    """The findings of one check in the lines that were seen; each rule speaks once.

    What the driver libraries answered when they were asked for boards is among the lines.
    """
    for spec in facts.specs:
        for rule in facts.vendor_host(spec).messages:
            if rule.check == check_id:
                yield from _found(rule, spec, facts)


def _found(rule: MessageRule, spec: BackendSpec, facts: Facts) -> Iterator[Finding]:
    if rule.only_contained is not None and rule.only_contained != facts.contained:
        return
    for line in (*facts.record.messages, *facts.snapshot.notes):
        found = rule.pattern.search(line) if rule.needle in line else None
        if found is not None:
            named = {name: value or "" for name, value in found.groupdict().items()}
            yield Finding(
                rule.check,
                rule.code,
                rule.state,
                named,
                spec.name,
                {"message": line.strip()[:_KEPT_LINE]},
                filled(rule.commands, named),
                rule.needs_root,
                rule.disturbs,
                confidence="likely",
            )
            return
