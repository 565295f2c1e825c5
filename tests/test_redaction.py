"""Redaction: private details never survive, everything else does."""

from __future__ import annotations

import json
import re
import string
from uuid import UUID

import pytest
from hypothesis import assume, given, strategies as st

from accelhal.redaction import PrivateNames, Redactor, private_names

NAMES = PrivateNames(users=("alice",), hosts=("node17", "node17.lab"), homes=("/home/alice",))


def redact(text: str, names: PrivateNames = NAMES) -> str:
    return Redactor(names).text(text)


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("/home/alice/venv/bin", "~/venv/bin"),
        ("PATH=/home/alice:/usr/bin", "PATH=~:/usr/bin"),
        ("/home/bob/x and /Users/carol/y", "/home/<user>/x and /Users/<user>/y"),
        ("/home/alice2/x", "/home/<user>/x"),
        ("/data/alice/models", "/data/<user>/models"),
        ("/data/alice_models", "/data/<user>_models"),
        ("Alice@NODE17", "<user>@<host>"),
        ("malice aforethought", "malice aforethought"),
        ("node17.lab answered", "<host> answered"),
        ("node17.rack3.corp.example:22", "<host>:22"),
        ("~bob/x and /nfs/users/bob/x", "~<user>/x and /nfs/users/<user>/x"),
        ("board_serial: 0123, SN: 4567", "board_serial: <serial-1>, SN: <serial-2>"),
        ("HF_TOKEN=hf_abc", "HF_TOKEN=<secret>"),
        ('{"api_key": "abc", "n": 1}', '{"api_key": "<secret>", "n": 1}'),
        ("https://pypi.example.org/?token=abc&x=1", "https://pypi.example.org/?token=<secret>&x=1"),
        ("cloned with ghp_0123456789abcdef0123", "cloned with <secret>"),
        ("10.1.2.3:5000 and 10.1.2.3", "<ip-1>:5000 and <ip-1>"),
        ("fe80::1ff:fe23:4567:890a%eth0", "<ip-1>%eth0"),
        ("reach 2001:db8::1: no route", "reach <ip-1>: no route"),
        ("00:1a:2b:3c:4d:5e", "<mac-1>"),
        ("00-1A-2B-3C-4D-5E", "<mac-1>"),
        ("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "GPU-<uuid-1>"),
        ("GPU-8932f937", "GPU-<uuid-1>"),
        ("MIG-8932f937-d72c-4106-c12f-20bd9faed9f6", "MIG-<uuid-1>"),
        ("Serial Number : 1320220013580", "Serial Number : <serial-1>"),
        ('"serial": "A1-77"', '"serial": "<serial-1>"'),
        ("VDIE 92CE4A18 20A0B04C 1E24C82C", "VDIE <serial-1>"),
        ("serial number 998877665544 failed", "serial number <serial-1> failed"),
        ("the board's serial is A12-3456.", "the board's serial is <serial-1>."),
        ("run --hf-token abc --steps 3", "run --hf-token <secret> --steps 3"),
        ("Authorization: Bearer ey.a.b", "Authorization: Bearer <secret>"),
        ("mail bob@example.org", "mail <email>"),
        ("https://bob:secret@pypi.example.org/simple", "https://<login>@pypi.example.org/simple"),
    ],
)
def test_private_details_become_placeholders(text: str, shared: str) -> None:
    assert redact(text) == shared


@pytest.mark.parametrize(
    "text",
    [
        "0000:3b:00.0",
        "driver 525.60.13",
        "torch 2.13.0+cpu",
        "cudnn version 9.1.0.70",
        "toolkit==8.0.0.1",
        "127.0.0.1 and ::1 and 0.0.0.0",
        "Serial Number: N/A",
        "std::bad_alloc in c10::Error at 12:30:45",
        "/root/.cache and /dev/toy0",
        "device 'npu@accelhal-ascend:0'",
        "<uuid-1> of <user> on <host>",
        "kernel 5.10.0-60.18.0.50.oe2203.aarch64",
        "although driver 24.1.0.3 is installed",
        "unexpected token: '}'; max_tokens=512; tokenizer=fast",
        "torch~=2.4 in ~/venv",
    ],
)
def test_what_identifies_nobody_stays(text: str) -> None:
    assert redact(text) == text


def test_equal_details_get_equal_placeholders() -> None:
    redactor = Redactor(NAMES)
    first, second = (str(UUID(int=number << 64)) for number in (1, 2))
    assert redactor.text(f"{first} {second}") == "<uuid-1> <uuid-2>"
    assert redactor.text(second.upper()) == "<uuid-2>"


def test_a_board_has_one_placeholder_however_its_uuid_is_written() -> None:
    uuid = "8932f937-d72c-4106-c12f-20bd9faed9f6"
    document = {
        "uuid": f"GPU-{uuid}",
        "key": {"backend": "toy", "source": "uuid", "value": f"GPU-{uuid}"},
        "slot": {"backend": "toy", "source": "pci", "value": "0000:3b:00.0"},
        "notes": [f"GPU-{uuid} and {uuid} and {UUID(uuid).hex}"],
        "other": {"backend": "toy", "source": "uuid", "value": "no known form"},
    }
    shared = Redactor(NAMES).value(document)
    assert shared["uuid"] == shared["key"]["value"] == "<uuid-1>"
    assert shared["slot"] == document["slot"]
    assert shared["notes"] == ["GPU-<uuid-1> and <uuid-1> and <uuid-1>"]
    assert shared["other"]["value"] == "<uuid-2>"


def test_identifiers_that_no_pattern_tells_are_taken_out_by_name() -> None:
    names = PrivateNames(uuids=("TOY/77-A9",), serials=("SN0042X", "12"))
    text = "TOY/77-a9 and SN0042X of 12, not XSN0042X"
    assert redact(text, names) == "<uuid-1> and <serial-1> of 12, not XSN0042X"


def test_documents_are_redacted_in_depth_and_keep_their_shape() -> None:
    document = {
        "state": "ok",
        "count": 3,
        "serial": "77",
        "evidence": {"/home/alice/x": ["10.1.2.3", None, 1.5]},
        "alice": "alice",
    }
    assert Redactor(NAMES).value(document) == {
        "state": "ok",
        "count": 3,
        "serial": "<serial-1>",
        "evidence": {"~/x": ["<ip-1>", None, 1.5]},
        "alice": "<user>",
    }


SURROUNDINGS = st.text(st.sampled_from(" \t\n,;()[]{}'\"=|/"), max_size=4)


def secrets() -> st.SearchStrategy[str]:
    octets = st.lists(st.integers(0, 255), min_size=4, max_size=4)
    pairs = st.lists(st.integers(0, 255), min_size=6, max_size=6)
    return st.one_of(
        st.uuids().map(str),
        st.uuids().map(lambda uuid: uuid.hex),
        st.uuids().map(lambda uuid: f"GPU-{uuid}"),
        octets.filter(lambda o: o[0] not in (0, 127)).map(lambda o: ".".join(map(str, o))),
        st.ip_addresses(v=6).filter(lambda a: not (a.is_loopback or a.is_unspecified)).map(str),
        pairs.map(lambda p: ":".join(f"{octet:02x}" for octet in p)),
    )


@given(secrets(), SURROUNDINGS, SURROUNDINGS)
def test_no_identifier_survives(secret: str, before: str, after: str) -> None:
    shared = redact(f"{before}{secret}{after}")
    private = secret.removeprefix("GPU-")
    assert private not in shared


@given(
    st.text(string.ascii_lowercase, min_size=2, max_size=12),
    st.text(string.ascii_lowercase + "-", min_size=2, max_size=12),
    SURROUNDINGS,
)
def test_neither_user_nor_host_nor_home_survives(user: str, host: str, between: str) -> None:
    placeholders = "<user> <host> <login> <email> <serial> <uuid> <mac> <ip> <secret>"
    assume(user not in placeholders and host not in placeholders and host.strip("-") == host)
    names = PrivateNames((user,), (host,), (f"/srv/{user}",))
    shared = redact(f"{between}{user}{between or ' '}{host} /srv/{user}/x", names)
    assert not re.search(rf"(?<![a-z])({re.escape(user)}|{re.escape(host)})(?![a-z])", shared)


@given(st.text(max_size=60), secrets())
def test_redacting_twice_changes_nothing(text: str, secret: str) -> None:
    once = redact(f"{text} {secret} alice {text}")
    assert redact(once) == once


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=8))
def test_documents_stay_json(value: object) -> None:
    json.dumps(Redactor(NAMES).value({"found": value}))


def test_the_names_of_this_process_come_from_the_environment_too() -> None:
    names = private_names(
        {"USER": "eve", "HOME": "/home/eve/", "HOSTNAME": "box.lab", "LOGNAME": ""}
    )
    assert "eve" in names.users
    assert "/home/eve" in names.homes
    assert {"box", "box.lab"} <= set(names.hosts)
    assert "root" not in names.users


@pytest.mark.parametrize("word", ["dev", "torch", "gpu", "vm", "toy"])
def test_an_account_or_host_named_like_the_reports_own_words_blots_none_out(word: str) -> None:
    names = private_names({"USER": word, "HOSTNAME": word, "HOME": f"/home/{word}"}, {"toy"})
    text = "/dev/toy0 is absent in this vm; torch 2.13.0; toy: GPU count 0"
    assert redact(text, names) == text
    assert redact(f"/home/{word}/x", names) == "~/x"


def test_what_stands_under_a_version_is_no_address() -> None:
    versions = {
        "versions": {"accelhal-toy": "1.0.0.1"},
        "version": "9.1.0.70",
        "firmware": "7.1.0.3",
    }
    document = versions | {"peer": "10.0.0.1"}
    assert Redactor(NAMES).value(document) == document | {"peer": "<ip-1>"}


def test_sentences_about_serials_are_kept() -> None:
    text = "the serial number is not known, a serial console, serial unknown, serial port 2"
    assert redact(text) == text


def test_an_identifier_that_is_a_word_takes_no_word_out() -> None:
    names = PrivateNames(uuids=("default",), serials=("unknown", "To be filled"))
    assert redact("health unknown, mode default", names) == "health unknown, mode default"
