"""Private details taken out of anything made for sharing: names, addresses, serials, UUIDs."""

from __future__ import annotations

import ipaddress
import os
import pwd
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

_IMPERSONAL = frozenset(
    {
        *("", "localhost", "localhost.localdomain"),
        # accounts and hosts of many machines and images
        *("admin", "app", "build", "ci", "debian", "default", "docker", "guest", "host", "node"),
        *("nobody", "root", "runner", "server", "test", "ubuntu", "user", "users", "worker"),
        # words of paths, facts and messages
        *("bare", "container", "kubernetes", "lxc", "podman", "vm"),
        *("bin", "boot", "bus", "conda", "cpu", "data", "dev", "devices", "driver", "etc", "gpu"),
        *("home", "lib", "lib64", "linux", "local", "mnt", "numpy", "opt", "pci", "pip", "proc"),
        *("python", "run", "sbin", "share", "srv", "sys", "tmp", "torch", "usr", "var", "version"),
    }
)
"""Names that identify nobody; taken out, they would take the report's own words with them."""

_HEX = "[0-9A-Fa-f]"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"

_SHORTEST_IDENTIFIER = 6
"""Characters below which a board's identifier may be any number of a text.

One without a digit is a driver's word for none ("unknown"): taken out, it would take that word of
the whole document with it.
"""

_PATTERNS: tuple[tuple[str, str], ...] = (
    ("done", r"<(?:user|host|login|email|mac|ip|uuid|serial|secret)(?:-\d+)?>"),
    (
        "secret",
        r"(?i:(?<=token)|(?<=password)|(?<=passwd)|(?<=secret)|(?<=[_-]key)|(?<=apikey))"
        r"(?:=|[\"']\s*:\s*[\"'])(?P<hidden>[^\s\"',;&<>]+)"
        # an option's value after a space, and the header of HTTP
        r"|(?i:(?<!\w)--(?:[\w-]+-)?(?:token|password|passwd|secret|api-?key)\s+|\bbearer\s+)"
        r"(?P<bare>[^\s\"',;&<>-][^\s\"',;&<>]*)"
        # tokens known by how they begin
        r"|(?<!\w)(?:gh[a-z]_|hf_|AKIA)[0-9A-Za-z]{16,}(?!\w)|(?<!\w)(?:glpat|sk)-[\w-]{20,}",
    ),
    ("login", r"(?<=://)[^/\s@]+(?=@)"),
    ("board", ""),  # identifiers of this machine's boards, put in by Redactor
    ("email", r"[\w.%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"),
    ("home", ""),  # this user's home, put in by Redactor
    (
        "elsehome",
        r"(?:(?<=/home/)|(?<=/[Uu]sers/))[^/\s:;,'\"<]+|(?<=(?<![\w.~/])~)[a-z_][\w-]*(?=/)",
    ),
    (
        "uuid",
        rf"(?<!{_HEX}){_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}(?!{_HEX})"
        rf"|(?<![0-9A-Za-z]){_HEX}{{32}}(?![0-9A-Za-z])"
        # the shortened form that visible-devices variables take: letters, dash, first digits
        rf"|(?<=[A-Z]{{3}}-){_HEX}{{6,}}(?:-{_HEX}+)*(?![0-9A-Za-z])",
    ),
    (
        "mac",
        rf"(?<!{_HEX}){_HEX}{{2}}(?P<sep>[:-])(?:{_HEX}{{2}}(?P=sep)){{4,18}}{_HEX}{{2}}(?!{_HEX})",
    ),
    (
        "ip6",
        rf"(?<![\w:.])(?:{_HEX}{{0,4}}:){{2,7}}(?:(?:{_OCTET}\.){{3}}{_OCTET}|{_HEX}{{0,4}})(?![\w:])",
    ),
    # four-part versions look like addresses; a label, a requirement or a kernel's dash tells them
    (
        "version",
        r"(?i:\b(?:version|driver|firmware|kernel|release|toolkit)\W{1,3}|[\w\]](?:[=<>!~]=))"
        r"\d+(?:\.\d+)+(?:-\d[\w.-]*)?|(?<![\w.])\d+\.\d+\.\d+-\d[\w.-]*",
    ),
    ("ip", rf"(?<![\w.])(?:{_OCTET}\.){{3}}{_OCTET}(?!\w|\.\d)"),
    ("die", rf"(?<![0-9A-Za-z])(?:{_HEX}{{8}}[ -]){{2,}}{_HEX}{{8}}(?![0-9A-Za-z])"),
    (
        "labelled",
        r"(?i:(?<![A-Za-z])(?:serial(?:[ _-]?(?:number|num|no\.?))?|s/?n)"
        r"(?:[\"']?\s*[:=]\s*[\"']?"
        # in a sentence what follows is a serial where it has a digit
        rf"|(?:\s+is)?\s+[\"'#]?(?=[\w-]*\d)(?=[\w-]{{{_SHORTEST_IDENTIFIER}}})))"
        r"(?P<serial>(?!(?i:n/a|none|null|unknown)\b)[\w-]+)",
    ),
    ("name", ""),  # this machine's user and host names, put in by Redactor
)


_PREFIXED_UUID = re.compile(r"[a-z]{3,}-(?P<uuid>[0-9a-f][0-9a-f-]+)")
"""A UUID in lower case, with the letters that drivers write before it."""


@dataclass(frozen=True)
class PrivateNames:
    """The words that name this machine, its user and its boards.

    Attributes:
        users: accounts.
        hosts: names of the machine.
        homes: home folders.
        uuids: identifiers of its boards, in their drivers' spelling.
        serials: serial numbers of its boards.
    """

    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    uuids: tuple[str, ...] = ()
    serials: tuple[str, ...] = ()


def private_names(environ: Mapping[str, str], public: Collection[str] = ()) -> PrivateNames:
    """The user, host and home of this process, from the system and from `environ`.

    Args:
        environ: the environment.
        public: words that the text to share is made of, in lower case; no name of these is private.
    """
    users = [environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")]
    homes = [environ.get("HOME", "")]
    with suppress(KeyError):  # a container's user need not be in its passwd file
        account = pwd.getpwuid(os.getuid())
        users.append(account.pw_name)
        homes.append(account.pw_dir)
    hosts = [os.uname().nodename, environ.get("HOSTNAME", "")]
    hosts += [name.partition(".")[0] for name in hosts]
    shared = _IMPERSONAL | frozenset(public)
    return PrivateNames(_personal(users, shared), _personal(hosts, shared), _personal_homes(homes))


def _personal(names: Iterable[str], shared: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted({n for n in names if len(n) > 1 and n.lower() not in shared}))


def _personal_homes(homes: Iterable[str]) -> tuple[str, ...]:
    stripped = {home.rstrip("/") for home in homes}
    return tuple(sorted(stripped - {"", "/root", "/nonexistent"}, key=len, reverse=True))


class Redactor:
    """Replaces private details by placeholders; equal details get equal placeholders.

    UUIDs, serials and addresses are numbered in order of first sight ("<uuid-1>"), so that a reader
    still sees which lines speak of the same board; letters that a driver writes before a UUID make
    no other board of it. Text that was redacted before is left alone.
    """

    def __init__(self, names: PrivateNames) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._users = frozenset(name.lower() for name in names.users)
        self._uuids = frozenset(uuid.lower() for uuid in names.uuids)
        self._pattern = re.compile(
            "|".join(f"(?P<{group}>{body})" for group, body in _with_names(names) if body)
        )

    def text(self, text: str) -> str:
        """`text` without private details."""
        return self._pattern.sub(self._replacement, text)

    def value(self, value: Any) -> Any:
        """A JSON value with every string redacted; a key that is no plain word is redacted too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            source = value.get("source")  # of a board's key: what its value is
            kind = source if isinstance(source, str) else "value"
            return {
                self._key(key): self._field(kind if key == "value" else key, item)
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value

    def _key(self, key: str) -> str:
        return key if key.isidentifier() else self.text(key)

    def _field(self, key: str, item: Any) -> Any:
        if key in ("uuid", "serial") and isinstance(item, str):
            return self._numbered(key, item)
        versions = any(word in key.lower() for word in ("version", "firmware"))
        return self._version(item) if versions else self.value(item)

    def _version(self, value: Any) -> Any:
        """What stands under a key that promises versions: four parts there are no address."""
        if isinstance(value, Mapping):
            return {self._key(key): self._version(item) for key, item in value.items()}
        if isinstance(value, str) and re.fullmatch(r"v?\d+(\.\d+)+", value):
            return value
        return self.value(value)

    def _replacement(self, match: re.Match[str]) -> str:
        kind, found = match.lastgroup, match[0]
        if kind in ("done", "version"):
            return found
        if kind == "board":
            return self._numbered("uuid" if found.lower() in self._uuids else "serial", found)
        if kind == "home":
            return "~"
        if kind == "elsehome":
            return "<user>"
        if kind == "name":
            return "<user>" if found.lower() in self._users else "<host>"
        if kind == "secret":
            return found.removesuffix(match["hidden"] or match["bare"] or found) + "<secret>"
        if kind == "labelled":
            return found.removesuffix(match["serial"]) + self._numbered("serial", match["serial"])
        if kind == "ip6":
            return self._ip6(found)
        if kind == "ip":
            return found if _names_nobody(found) else self._numbered("ip", found)
        if kind in ("uuid", "mac"):
            return self._numbered(kind, found)
        return self._numbered("serial", found) if kind == "die" else f"<{kind}>"

    def _ip6(self, found: str) -> str:
        address = found if _is_ip6(found) else found.removesuffix(":")
        if not _is_ip6(address) or _names_nobody(address):
            return found
        return self._numbered("ip", address) + found[len(address) :]

    def _numbered(self, kind: str, detail: str) -> str:
        if re.fullmatch(_PATTERNS[0][1], detail):
            return detail
        same = detail.lower()
        if kind == "uuid":
            prefixed = _PREFIXED_UUID.fullmatch(same)
            same = (prefixed["uuid"] if prefixed else same).replace("-", "")
        of_kind = sum(known == kind for known, _ in self._numbers)
        number = self._numbers.setdefault((kind, same), of_kind + 1)
        return f"<{kind}-{number}>"


def _with_names(names: PrivateNames) -> Iterable[tuple[str, str]]:
    homes = "|".join(map(re.escape, names.homes))
    # A host's full name goes on with its domain.
    domain = dict.fromkeys(names.hosts, r"(?:(?:\.[0-9A-Za-z-]+){2,})?")
    words = "|".join(
        re.escape(word) + domain.get(word, "")
        for word in sorted({*names.users, *names.hosts}, key=len, reverse=True)
    )
    identifiers = "|".join(
        re.escape(word)
        for word in sorted({*names.uuids, *names.serials}, key=len, reverse=True)
        if len(word) >= _SHORTEST_IDENTIFIER and any(map(str.isdigit, word))
    )
    bodies = {
        "board": rf"(?<![0-9A-Za-z])(?i:{identifiers})(?![0-9A-Za-z])" if identifiers else "",
        "home": rf"(?<![\w.~-])(?:{homes})(?![\w.@+-])" if homes else "",
        "name": rf"(?<![0-9A-Za-z])(?i:{words})(?![0-9A-Za-z])" if words else "",
    }
    return [(group, body or bodies[group]) for group, body in _PATTERNS]


def _is_ip6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _names_nobody(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    return parsed.is_loopback or parsed.is_unspecified
