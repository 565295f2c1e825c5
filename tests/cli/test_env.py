"""`accelhal env`: complete enough for an issue, and safe to paste."""

from __future__ import annotations

import platform

from cli.commands import FakeSite


def test_markdown(site: FakeSite) -> None:
    site.plugin()
    ended = site.run("env")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("### accelhal environment\n")
    assert "| toy | accelhal-toy 1.0 | no_hardware | no toy here |" in ended.out
    assert platform.python_version() in ended.out


def test_a_reason_cannot_break_the_table(site: FakeSite) -> None:
    site.plugin("raise OSError('a | b\\nc')")
    (row,) = (line for line in site.run("env").out.splitlines() if line.startswith("| toy |"))
    assert row.endswith("a \\| b c |")


def test_json(site: FakeSite) -> None:
    document = site.run("env", "--json").document
    assert document["schema"] == "accelhal.env/1"
    assert document["host"]["cpu_count"] >= 1
    assert {"accelhal", "torch", "numpy"} <= set(document["versions"])


def test_nothing_private_is_shown(site: FakeSite) -> None:
    site.plugin("raise OSError('/home/eve/lib on crunch17 at 10.1.2.3')")
    ended = site.run(
        "env",
        USER="eve",
        HOME="/home/eve",
        HOSTNAME="crunch17.lab",
        LD_LIBRARY_PATH="/home/eve/lib:/data/eve/lib",
        TOYMAKER_TOKEN="sesame",
    )
    assert "~/lib:/data/<user>/lib" in ended.out
    assert "~/lib on <host> at <ip-1>" in ended.out
    for private in ("eve/", "crunch17", "10.1.2.3", "sesame"):
        assert private not in ended.out


def test_values_of_vendor_variables_are_withheld(site: FakeSite) -> None:
    site.plugin()
    ended = site.run("env", TOY_VISIBLE_DEVICES="0,1", TOYMAKER_LOG="verbose")
    assert "| TOY_VISIBLE_DEVICES | 0,1 |" in ended.out
    assert "`TOYMAKER_LOG`" in ended.out
    assert "verbose" not in ended.out


def test_torch_missing(site: FakeSite) -> None:
    site.without_torch()
    assert site.run("env").code == 0
