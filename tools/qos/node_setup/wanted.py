# SPDX-License-Identifier: Apache-2.0
"""What an operator wants of a node: one file of JSON, checked as a whole before any of it
is used."""

import dataclasses
import fnmatch
import json
import re

MOST_ADAPTERS = 64
MOST_BYTES = 1 << 16
_NAME = re.compile(r"[A-Za-z0-9_-]{1,63}")
_UNIT = re.compile(r"[A-Za-z0-9@_.-]{1,64}\.service")
_PATTERN = re.compile(r"[A-Za-z0-9_.*?-]{1,63}")


class Wrong(Exception):
    """What is wrong with the file, and what would be right."""


@dataclasses.dataclass(frozen=True)
class Adapter:
    """Of all RDMA devices whose name the pattern matches. None and (): is left as it is."""
    pattern: str
    dscp: object = None  # of what is lossless
    priority: object = None  # which is lossless: PFC, and the DSCP goes to it
    shares: tuple = ()  # ((priority and traffic class, percent), ...)
    ecn: bool = False  # of the lossless priority, for both directions
    ecn_files: tuple = ()  # ((name, value), ...): steps.ecn_path
    cnp_dscp: object = None
    default_class: object = None  # rdma_cm's default type of service
    virtual_functions: object = None

    def matches(self, device):
        return fnmatch.fnmatchcase(device, self.pattern)


@dataclasses.dataclass(frozen=True)
class Wanted:
    modules: tuple = ()
    huge_pages: object = None  # of 2 MiB
    memlock: tuple = ()  # units of systemd that start containers
    adapters: tuple = ()


def _number(value, most, who):
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise Wrong("%s is %s; it must be a number from 0 to %d" % (who, json.dumps(value), most))
    return value


def _object(value, keys, who):
    if not isinstance(value, dict):
        raise Wrong("%s must be an object, not %s" % (who, json.dumps(value)[:60]))
    for key in value:
        if key not in keys:
            raise Wrong("%s has %r, which is none of %s" % (who, key[:40], ", ".join(keys)))
    return value


def _names(value, pattern, who):
    if not isinstance(value, list) or len(value) > 64 or not all(
            isinstance(name, str) and pattern.fullmatch(name) for name in value):
        raise Wrong("%s is %s; it must be a list of names" % (who, json.dumps(value)[:60]))
    return tuple(value)


def _shares(value, who):
    found = []
    for key, percent in _object(value, tuple("01234567"), who).items():
        found.append((int(key), _number(percent, 100, "%s of %s" % (who, key))))
    if sum(percent for _, percent in found) != 100:
        raise Wrong("%s: the sum is %d; it must be 100" % (who, sum(each[1] for each in found)))
    return tuple(sorted(found))


def _ecn_files(value, who):
    if not isinstance(value, dict) or len(value) > 64:
        raise Wrong("%s must be an object of files and numbers" % who)
    for name in value:
        if not re.fullmatch(r"(roce_np|roce_rp|cc_params)/[a-z0-9_]{1,64}", name):
            raise Wrong("%s has %r; it must be as roce_rp/rpg_threshold or cc_params/rp_threshold" %
                        (who, name[:60]))
    return tuple(sorted((name, _number(number, (1 << 32) - 1, "%s, %s" % (who, name)))
                        for name, number in value.items()))


_ADAPTER = {
    "dscp": lambda value, who: _number(value, 63, who),
    "lossless_priority": lambda value, who: _number(value, 7, who),
    "shares": _shares,
    "ecn": lambda value, who: bool(_number(int(value) if isinstance(value, bool) else value, 1,
                                           who)),
    "ecn_files": _ecn_files,
    "cnp_dscp": lambda value, who: _number(value, 63, who),
    "default_class": lambda value, who: _number(value, 255, who),
    "virtual_functions": lambda value, who: _number(value, 4096, who),
}


def _adapter(pattern, value):
    who = "adapters, " + pattern[:63]
    if not _PATTERN.fullmatch(pattern):
        raise Wrong("%s: it is no pattern of names of devices" % who)
    read = {key: _ADAPTER[key](each, "%s, %s" % (who, key))
            for key, each in _object(value, tuple(_ADAPTER), who).items()}
    read["priority"] = read.pop("lossless_priority", None)
    for key in ("dscp", "ecn"):
        if read.get(key) not in (None, False) and read["priority"] is None:
            raise Wrong("%s: %s needs lossless_priority" % (who, key))
    if read["priority"] is not None and read.get("shares") and not dict(read["shares"]).get(
            read["priority"]):
        raise Wrong("%s: shares leave nothing for priority %d, which is lossless" % (
            who, read["priority"]))
    return Adapter(pattern, **read)


def parse(text):
    """Raises Wrong."""
    if len(text) > MOST_BYTES:
        raise Wrong("it is longer than %d bytes" % MOST_BYTES)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Wrong("it is no JSON: %s" % error) from None
    _object(value, ("modules", "huge_pages_2mi", "memlock_units", "adapters"), "the file")
    adapters = value.get("adapters", {})
    if not isinstance(adapters, dict) or len(adapters) > MOST_ADAPTERS:
        raise Wrong("adapters must be an object of at most %d patterns" % MOST_ADAPTERS)
    pages = value.get("huge_pages_2mi")
    return Wanted(
        _names(value.get("modules", []), _NAME, "modules"),
        None if pages is None else _number(pages, 1 << 24, "huge_pages_2mi"),
        _names(value.get("memlock_units", []), _UNIT, "memlock_units"),
        tuple(_adapter(pattern, each) for pattern, each in adapters.items()))
