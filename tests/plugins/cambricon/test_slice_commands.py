"""cnmon's commands for slices were not found in public: none is made up."""

from __future__ import annotations

from accelhal_cambricon.management import CndevManagement
from vendor_stacks.cndev.simulated import cndev as cndev, key, library as library
from vendor_stacks.simulated_library import SetScenario, scenario as scenario


def test_no_command_is_made_up(cndev: CndevManagement, scenario: SetScenario) -> None:
    scenario("boards 2\nset 1 mim 1\nset 1 mims 1\n")
    made = cndev.partition_commands(key(1), "1m.8gb")
    removed = cndev.removal_commands(cndev.partitions(key(1))[0].key)
    assert (made.lines, removed.lines) == ((), ())
    assert "not known here" in made.notes[0]
    assert "cnmon set -c 1 -smlu on" in made.notes[0]
