# SPDX-License-Identifier: Apache-2.0
"""The options that say between which ends tools/bench measures."""

import shlex

from console.arguments import parsed

_OF_ENDS = ("devices", "address", "perftest_flags")


def two(text):
    found = text.split(",")
    if len(found) != 2 or not all(found):
        raise ValueError('"%s" is not two names: that of the client, that of the server' % text)
    return found


def devices_of_two(text):
    return [names.split("+") for names in two(text)]


def add_ends(add):
    add("--hosts", type=parsed(two))
    add("--installed", action="store_true")
    add("--pods", nargs="?", const="", metavar="DIR")
    add("--devices", type=parsed(devices_of_two))
    add("--address")


def add_perftest(add):
    add("--perftest_flags", type=shlex.split)


def check_ends(arguments, options):
    """Refuses what does not go together; whether there are ends, or neither hosts nor pods."""
    there = bool(options.hosts) or options.pods is not None
    if options.hosts and options.pods is not None:
        arguments.error("--hosts does not go with --pods")
    if options.installed and not options.hosts:
        arguments.error("--installed goes with --hosts alone")
    for name in _OF_ENDS:
        if not there and getattr(options, name, None) is not None:
            arguments.error("--%s goes with --hosts or --pods alone" % name)
    options.devices = options.devices or [[], []]
    return there
