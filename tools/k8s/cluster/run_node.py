# SPDX-License-Identifier: Apache-2.0
"""Goes through the page on a control plane of its own with a real node, in an emulated machine.

  run_node.py ETCD CONTROL_PLANE CACHE IMAGES GEN_SELECTORS

CACHE has what Debian's packages of the runtime hold; IMAGES are archives. Prints a line for each
case."""

import os
import signal
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.dirname(HERE))

from cases import run_cases  # noqa: E402
from cluster import ROOT, Cluster  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from machine import Machine  # noqa: E402
from manifests import RENDERED  # noqa: E402
from node_cases import NodeCases  # noqa: E402
from world import load_overlays  # noqa: E402

# Seconds for each wait: starting a container takes ten there.
_PATIENCE = 400


def test(etcd, programs, cache, images, gen_selectors):
    overlays = load_overlays(RENDERED)
    with tempfile.TemporaryDirectory() as room:
        os.symlink(images, os.path.join(room, "images"))
        with ControlPlane(etcd, programs, room) as plane, \
                Machine(ROOT, cache, programs, room) as machine:
            cluster = Cluster(plane, machine, _PATIENCE)
            return run_cases("node", NodeCases(cluster, overlays, room, gen_selectors).cases())


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(0 if test(*sys.argv[1:]) else 1)
