# SPDX-License-Identifier: Apache-2.0
"""Folders, files, functions and lines that fit a reader."""

import ast
import collections
import os
import re

import policy
from source_tree import Finding

_NO_FUNCTION = re.compile(
    r"(template\s*<.*>\s*)?(namespace|class|struct|enum|union|extern)\b", re.DOTALL
)
_STRUCTURE = re.compile(r"[(){};\n]")
_SHELL_FUNCTION = re.compile(r"^(function\s+)?[\w-]+\s*\(\)\s*\{\s*$")


def cpp_functions(source):
    """(first line, number of lines) of each function that closes in column 0 or 2.

    The tree is clang-formatted, so a function's last brace stands alone there, in
    column 2 for a member defined inside its class.
    """
    code = source.code()
    opened = []
    start = 0  # where the statement began that the next brace belongs to
    depth = 0  # open parentheses: no statement begins within them
    for match in _STRUCTURE.finditer(code):
        index, char = match.start(), match.group()
        if char in "()":
            depth += 1 if char == "(" else -1
        elif char == "{":
            opened.append((start, code[start:index]))
            start = index + 1
        elif char == "}" and opened:
            begin, head = opened.pop()
            column = index - (code.rfind("\n", 0, index) + 1)
            alone = not code[index - column : index].strip()
            if alone and column in (0, 2) and "(" in head and not _NO_FUNCTION.match(head.strip()):
                first = code.count("\n", 0, begin + len(head) - len(head.lstrip())) + 1
                yield first, code.count("\n", 0, index) + 2 - first
            start = index + 1
        elif char == ";" and depth == 0:
            start = index + 1
        elif char == "\n" and code[start:index].strip().startswith("#"):
            start = index + 1


def python_functions(source):
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


def shell_functions(source):
    first = None
    for number, line in enumerate(source.lines, 1):
        if _SHELL_FUNCTION.match(line):
            first = number
        elif line == "}" and first is not None:
            yield first, number - first + 1
            first = None


def _check_functions(source):
    if source.is_cpp:
        functions = cpp_functions(source)
    elif source.is_python:
        functions = python_functions(source)
    else:
        functions = shell_functions(source)
    for first, length in functions:
        if length > policy.FUNCTION_LINES:
            what = "function of %d lines, more than %d" % (length, policy.FUNCTION_LINES)
            yield Finding(source.path, first, what, "split it by what it does")


def _too_long(source, number, line, limit):
    what = "line of %d characters, more than %d" % (len(line), limit)
    return Finding(source.path, number, what, "break it")


def _check_lines(source):
    for number, line in enumerate(source.lines, 1):
        if len(line) > policy.LINE_LENGTH and "http" not in line:
            yield _too_long(source, number, line, policy.LINE_LENGTH)


def _check_text(source):
    example = False
    for number, line in enumerate(source.lines, 1):
        if line.lstrip().startswith("```"):
            example = not example
        if example or line.lstrip().startswith("|") or "http" in line:
            continue
        if len(line) > policy.TEXT_LINE_LENGTH:
            yield _too_long(source, number, line, policy.TEXT_LINE_LENGTH)


def _check_folders(tree):
    sources = [source for source in tree if source.is_cpp or source.is_python]
    folders = collections.Counter(
        os.path.dirname(source.path) for source in sources if not source.is_test
    )
    for folder, count in folders.items():
        if count > policy.FOLDER_SOURCES:
            what = "%d sources, more than %d" % (count, policy.FOLDER_SOURCES)
            yield Finding(folder, 1, what, "make rooms of it, with an order (tools/tidy/order.py)")


def check(tree):
    findings = list(_check_folders(tree))
    for source in tree:
        if source.extension == ".md":
            findings.extend(_check_text(source))
        if not (source.is_cpp or source.is_python or source.is_shell):
            continue
        if len(source.lines) > policy.FILE_LINES:
            what = "%d lines, more than %d" % (len(source.lines), policy.FILE_LINES)
            cure = "split it: one noun or verb a file"
            findings.append(Finding(source.path, policy.FILE_LINES, what, cure))
        findings.extend(_check_functions(source))
        findings.extend(_check_lines(source))
    return findings
