"""`accelhal select` as typed: over simulated boards, over evidence, and with nothing to choose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from captured_samples import nvidia_smi
from click.testing import CliRunner

from accelhal.cli.main import cli

pytest.importorskip("accelhal_mock")


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["select", *arguments])
    return result.exit_code, result.output


def test_boards_of_evidence(tmp_path: Path) -> None:
    page = tmp_path / "page.txt"
    page.write_text(nvidia_smi.LISTING)
    code, output = run("--from", str(page), "--json")
    document = json.loads(output)
    assert (code, document["schema"], document["fits"]) == (0, "accelhal.select/1", True)
    assert document["choices"][0]["environment"]["CUDA_VISIBLE_DEVICES"]
    code, output = run("--from", str(page), "--country", "cn")
    assert code == 2
    assert "No choice meets every need" in output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--preset", "linkd"], "linked"),
        (["--backend", "cudaa"], "cuda"),
        (["--memory", "much"], "amount of memory"),
        (["--throughput", "3"], "dtype"),
        (["--throughput", "nan", "--dtype", "bfloat16"], "'--throughput'"),
        (["--apart", "near"], "pix"),
        (["--count", "0"], "count"),
    ],
)
def test_bad_input_says_what_would_be_right(arguments: list[str], words: str) -> None:
    code, output = run(*arguments)
    assert code == 4
    assert words in output
