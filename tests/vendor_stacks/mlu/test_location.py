"""A device is on the same board in every process, whatever each of them sees."""

from __future__ import annotations

from pathlib import Path

from vendor_stacks.mlu.standin import call, environment


def test_a_device_is_sent_to_a_process_that_sees_other_boards(neuware: Path) -> None:
    boards = {"MLU_STANDIN_BOARDS": "4"}
    sent = call("identify", environment(neuware, CN_VISIBLE_DEVICES="3,1,9", **boards))
    assert [device["key"] for device in sent] == [["visible-order", "3"], ["visible-order", "1"]]
    assert [device["uuid"] for device in sent] == [None, None]
    there = environment(neuware, MLU_VISIBLE_DEVICES="0,1", **boards)
    assert call("unpickle", there, pickled=sent[1]["pickle"]) == "mlu:1"
