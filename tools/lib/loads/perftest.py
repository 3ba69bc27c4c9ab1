# SPDX-License-Identifier: Apache-2.0
"""ib_send_lat and ib_send_bw of perftest: bare verbs, to measure ourselves against."""

import dataclasses

from places.children import ChildFailed
from places.vm_run import VM, Step

# Seconds until it listens, which it does not tell.
_PAUSE = 1.0
# It tells MB of 2^20 bytes.
_MIB = 1.048576


@dataclasses.dataclass(frozen=True)
class Perftest:
    """One of its programs with one size of message."""

    program: str
    size: int
    iterations: int

    def __str__(self):
        return "%s -s %d" % (self.program, self.size)

    def step(self, place=VM):
        words = [self.program, "-F", "-s", str(self.size), "-n", str(self.iterations)]
        server, client = (words + list(place.perftest[end]) for end in "BA")
        client.append(place.address)
        return Step(str(self), server, client, limit=90, pause=_PAUSE, go_on=place.go_on)


def _columns(output):
    """{title: text} of its one row. Titles have no spaces but in the percentiles'."""
    lines = output.splitlines()
    for index, line in enumerate(lines[:-1]):
        if line.split()[:2] == ["#bytes", "#iterations"]:
            titles = line.replace("% percentile", "%percentile").replace("BW ", "BW_").split()
            values = lines[index + 1].split()
            if len(titles) == len(values):
                return dict(zip(titles, values))
    return {}


def parse(test, output):
    """{"one_way_us": ...} of ib_send_lat, {"mb_per_s": ..., "messages_per_s": ...} of
    ib_send_bw. The one way is the median, the bandwidth the average."""
    columns = _columns(output)
    try:
        if test.program == "ib_send_lat":
            return {"one_way_us": float(columns["t_typical[usec]"])}
        return {
            "mb_per_s": float(columns["BW_average[MB/sec]"]) * _MIB,
            "messages_per_s": float(columns["MsgRate[Mpps]"]) * 1e6,
        }
    except (KeyError, ValueError):
        raise ChildFailed(str(test), [test.program], "printed no result", output) from None
