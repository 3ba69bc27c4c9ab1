# SPDX-License-Identifier: Apache-2.0
"""The files of the repository as the checks see them."""

import ast
import functools
import os
import re
import subprocess

import order

SKIPPED_DIRECTORIES = {".git", ".cache", "__pycache__"}

_COMMENT_OR_LITERAL = re.compile(
    r"//[^\n]*"
    r"|/\*.*?\*/"
    r'|R"([^\s()\\]*)\(.*?\)\1"'
    r'|"(?:\\.|[^"\\\n])*"'
    # Not the separator of a number such as 1'000.
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


class Finding:
    """One broken rule: where, what, and the cure."""

    def __init__(self, path, line, what, cure):
        self.path = path
        self.line = line
        self.what = what
        self.cure = cure

    def __str__(self):
        return "%s:%d: %s; cure: %s" % (self.path, self.line, self.what, self.cure)


def is_test_path(path):
    """Tests and what only tests use."""
    if os.path.splitext(path)[0].endswith(order.TEST_STEMS):
        return True
    return any("/" + directory in "/" + path for directory in order.TEST_DIRECTORIES)


class SourceFile:
    def __init__(self, root, path):
        self.path = path  # relative to the root, with "/"
        self.name = path.rsplit("/", 1)[-1]
        self.extension = os.path.splitext(self.name)[1]
        self.full_path = os.path.join(root, path)
        with open(self.full_path, "rb") as stream:
            self.data = stream.read()
        self.is_binary = b"\0" in self.data
        self.text = "" if self.is_binary else self.data.decode("utf-8", "replace")
        self.lines = self.text.splitlines()

    def line_of(self, match):
        """Of a match in text or code()."""
        return self.text.count("\n", 0, match.start()) + 1

    @property
    def is_cpp(self):
        return self.extension in (".cc", ".h")

    @property
    def is_script(self):
        return self.text.startswith("#!")

    @property
    def is_python(self):
        return self.extension == ".py" or (self.is_script and "python" in self.lines[0])

    @property
    def is_shell(self):
        return self.extension == ".sh" or (self.is_script and not self.is_python)

    @property
    def is_test(self):
        return is_test_path(self.path)

    @functools.lru_cache(maxsize=None)
    def code(self):
        """The C++ text with comments and literals blanked, line for line."""

        def blank(match):
            return re.sub(r"[^\n]", " ", match.group())

        return _COMMENT_OR_LITERAL.sub(blank, self.text)

    def includes(self):
        """(line number, name, whether in angle brackets) of each #include."""
        for number, line in enumerate(self.lines, 1):
            match = _INCLUDE.match(line)
            if match:
                yield number, match.group(2), match.group(1) == "<"

    def imports(self):
        """(line number, name with dots) of what Python imports; each name may be a module."""
        try:
            nodes = list(ast.walk(ast.parse(self.text)))
        except SyntaxError:
            return  # whoever runs it says so
        for node in nodes:
            if isinstance(node, ast.Import):
                yield from ((node.lineno, one.name) for one in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.lineno, node.module
                yield from ((node.lineno, node.module + "." + one.name) for one in node.names)


def _git_listing(root):
    """What git tracks or would add, or None where there is no git."""
    command = ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z"]
    command += ["--cached", "--others", "--exclude-standard", "--deduplicate"]
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    if result.returncode:
        return None
    return [name for name in result.stdout.decode().split("\0") if name]


def _walk_listing(root):
    for directory, directories, names in os.walk(root):
        directories[:] = [
            name
            for name in directories
            if name not in SKIPPED_DIRECTORIES
            and not os.path.islink(os.path.join(directory, name))
        ]
        for name in names:
            yield os.path.relpath(os.path.join(directory, name), root).replace(os.sep, "/")


def read_tree(root):
    """All files below `root`, sorted by path; links to elsewhere are left out."""
    names = _git_listing(root)
    if names is None:
        names = _walk_listing(root)
    return [
        SourceFile(root, name)
        for name in sorted(names)
        if os.path.isfile(os.path.join(root, name)) and not os.path.islink(os.path.join(root, name))
    ]
