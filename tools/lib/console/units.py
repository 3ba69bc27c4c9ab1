# SPDX-License-Identifier: Apache-2.0
"""Numbers as a reader wants them, and sizes as a user types them."""

import re

_SIZE = re.compile(r"(\d+)\s*(|B|K|KB|KiB|M|MB|MiB)", re.IGNORECASE)
_FACTORS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20}


def parse_size(text):
    """Bytes of "32", "4K", "4 KiB" or "1M", which are powers of two."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError('"%s" is no size; write it like 32, 4K or 1M' % text)
    return int(match.group(1)) * _FACTORS[match.group(2)[:1].lower()]


def bytes_text(size):
    """32 B, 4 KiB, 1 MiB; whole numbers only, so that nothing is hidden."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor and size % factor == 0:
            return "%d %s" % (size // factor, unit)
    return "%d B" % size


def number(value):
    """Three digits that count, or all before the point: 0.123, 4.56, 78.9, 1,234,567."""
    if value >= 99.95:
        return "{:,.0f}".format(value)
    if value >= 9.995:
        return "%.1f" % value
    if value >= 0.9995 or value == 0:
        return "%.2f" % value
    return "%.3f" % value


def short(value):
    """For the ticks of an axis: 500, 10k, 2M; 0.5 stays 0.5."""
    for suffix, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= factor:
            return "%g%s" % (value / factor, suffix)
    return "%g" % value


def duration(seconds):
    """0:07, 12:34, 1:02:03."""
    whole = int(seconds + 0.5)
    minutes = "%d:%02d" % (whole // 60, whole % 60)
    if whole < 3600:
        return minutes
    return "%d:%02d:%02d" % (whole // 3600, whole % 3600 // 60, whole % 60)
