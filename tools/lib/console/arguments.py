# SPDX-License-Identifier: Apache-2.0
"""Arguments of the scripts: --help is the script's own, errors are one line."""

import argparse
import os
import sys


class Arguments(argparse.ArgumentParser):
    def __init__(self, program):
        super().__init__(prog=program, add_help=False, allow_abbrev=False)

    def error(self, message):
        print("%s: %s (see %s --help)" % (self.prog, message, self.prog), file=sys.stderr)
        sys.exit(2)


def bounded(kind, least, most):
    """A number from `least` to `most`."""

    def convert(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            raise argparse.ArgumentTypeError(
                '"%s" is not a number from %g to %g' % (text, least, most)
            )
        return value

    return convert


def parsed(function):
    """What `function` makes of the text; its ValueError is the message."""

    def convert(text):
        try:
            return function(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def new_file(text):
    """A path that can be written: told before the work, not after it."""
    folder = os.path.dirname(os.path.abspath(text))
    if os.path.isdir(text):
        raise argparse.ArgumentTypeError('"%s" is a directory' % text)
    if not os.path.isdir(folder):
        raise argparse.ArgumentTypeError('there is no directory "%s"' % folder)
    if not os.access(text if os.path.exists(text) else folder, os.W_OK):
        raise argparse.ArgumentTypeError('"%s" cannot be written' % text)
    return text
