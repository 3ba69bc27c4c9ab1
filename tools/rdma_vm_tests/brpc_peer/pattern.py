# SPDX-License-Identifier: Apache-2.0
"""The bytes of rdma_peer's calls: transport/testing/test_pattern.h, once more. Pure."""

import functools

PERIOD = 1048573
SEED = 0x66617263616C6C
_STEP = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
# Numbers that are mixed at once: one at a time takes seconds in an emulated machine. Each has 128
# bits of one large number, so that a product has room.
_LANES = 1024


def _lanes(value):
    return int.from_bytes(value.to_bytes(16, "little") * _LANES, "little")


def mixed(z, mask=_MASK):
    """splitmix64's output for a state, or for one in each lane."""
    z = ((z ^ z >> 30) & mask) * 0xBF58476D1CE4E5B9 & mask
    z = ((z ^ z >> 27) & mask) * 0x94D049BB133111EB & mask
    return (z ^ z >> 31) & mask


def table():
    mask = _lanes(_MASK)
    first = b"".join((SEED + step * _STEP & _MASK).to_bytes(16, "little")
                     for step in range(1, _LANES + 1))  # fmt: skip
    states, next_states = int.from_bytes(first, "little"), _lanes(_LANES * _STEP & _MASK)
    found = []
    for _ in range(0, PERIOD, _LANES):
        found.append(mixed(states, mask).to_bytes(16 * _LANES, "little")[::16])
        states = states + next_states & mask
    return b"".join(found)[:PERIOD]


@functools.lru_cache(maxsize=1)
def _twice():
    return table() * 2


def pattern(stream, size):
    start = mixed((stream & _MASK) + _STEP & _MASK) % PERIOD
    once = _twice()[start : start + min(size, PERIOD)]
    return once if size <= PERIOD else once * (size // PERIOD) + once[: size % PERIOD]
