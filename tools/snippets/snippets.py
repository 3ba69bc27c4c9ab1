#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one C++ source of the ```cpp blocks of pages: snippets.py OUT PAGE...

A compiler then says, by page and line, which of them has rotted. The word after "cpp", which
nobody sees who reads the page, says what a block is:

  cpp               statements of a function; a class among them is local to it
  cpp declarations  what stands outside of functions; later blocks of the page see it
  cpp task          statements of a coroutine, a farcall::Task<>
  cpp columns       statements, in the column that the first line calls "// farcall"

tools/snippets/prelude.h has what all of them take as given. Lines with #include go to the top.
"""

import re
import sys

PRELUDE = "tools/snippets/prelude.h"
FENCE = "```"
# What is C++ and would be passed over.
OTHER_NAMES = ("c++", "cc", "cxx", "cplusplus", "hpp", "h")
HEAD_OF = {
    "": "inline int Line%d() {",
    "columns": "inline int Line%d() {",
    "task": "inline farcall::Task<> Line%d() {",
    "declarations": "",
}
TAIL_OF = {
    "": "return 0; }",
    "columns": "return 0; }",
    "task": "co_return; }",
    "declarations": "",
}


class Wrong(Exception):
    """A page that is not understood: PAGE:LINE: why."""


class Block:
    """One block: its kind, its lines, and the number of the first of them in its page."""

    def __init__(self, kind, line):
        self.kind = kind
        self.line = line
        self.lines = []


def kind_of(info, where):
    """The kind of the block that begins with ```INFO; None: it is no C++."""
    language, _, kind = info.strip().partition(" ")
    if language.lower() in OTHER_NAMES:
        raise Wrong("%s: %s%s is spelled %scpp here" % (where, FENCE, language, FENCE))
    if language != "cpp":
        return None
    if kind not in HEAD_OF:
        raise Wrong("%s: a C++ block is not of the kind %r, but of %s" %
                    (where, kind, ", ".join(repr(known) for known in HEAD_OF)))
    return kind


def right_column(block, page):
    """What stands from the column of "// farcall" on."""
    column = block.lines[0].find("// farcall") if block.lines else -1
    if column < 0:
        raise Wrong("%s:%d: the first line of columns has no \"// farcall\"" % (page, block.line))
    for number, line in enumerate(block.lines, block.line):
        if column and line[column - 1:column].strip():
            raise Wrong("%s:%d: the left column reaches into the right one" % (page, number))
    return [line[column:] for line in block.lines]


def blocks_of(page, text):
    """The C++ blocks of a page, in order."""
    blocks = []
    opened = 0  # the line of the block that is open
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith(FENCE):
            if opened and blocks and blocks[-1].line == opened + 1:
                blocks[-1].lines.append(line)
            continue
        if opened:
            opened = 0
            continue
        opened = number
        kind = kind_of(line[len(FENCE):], "%s:%d" % (page, number))
        if kind is not None:
            blocks.append(Block(kind, number + 1))
    if opened:
        raise Wrong("%s:%d: this block has no end" % (page, opened))
    for block in blocks:
        if block.kind == "columns":
            block.lines = right_column(block, page)
    return blocks


def source_of(pages):
    """The source for `pages`, each a path and its text."""
    includes, code = [], []
    for page, text in pages:
        blocks = blocks_of(page, text)
        if not blocks:
            continue
        code.append("namespace %s {" % re.sub(r"\W", "_", "page_" + page))
        for block in blocks:
            code.append(HEAD_OF[block.kind] % block.line if HEAD_OF[block.kind] else "")
            code.append('#line %d "%s"' % (block.line, page))
            for number, line in enumerate(block.lines, block.line):
                is_include = re.match(r"\s*#\s*include\b", line)
                if is_include:
                    includes += ['#line %d "%s"' % (number, page), line.strip()]
                code.append("" if is_include else line)
            code.append(TAIL_OF[block.kind])
        code.append("}")
    return "\n".join(includes + ['#include "%s"' % PRELUDE] + code + [""])


def main():
    target, *paths = sys.argv[1:]
    pages = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            pages.append((path, file.read()))
    try:
        source = source_of(pages)
    except Wrong as wrong:
        sys.exit(str(wrong))
    with open(target, "w", encoding="utf-8") as file:
        file.write(source)


if __name__ == "__main__":
    main()
