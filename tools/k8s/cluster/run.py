# SPDX-License-Identifier: Apache-2.0
"""Applies the manifests to a control plane of its own, whose nodes are there in the API alone.

  run.py ETCD CONTROL_PLANE       prints a line for each case
"""

import os
import signal
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.dirname(HERE))

import schemas  # noqa: E402
from cases import run_cases  # noqa: E402
from cluster import Cluster  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from manifests import RENDERED  # noqa: E402
from overlay_cases import OverlayCases  # noqa: E402
from page_cases import PageCases  # noqa: E402
from traffic_class_cases import TrafficClassCases  # noqa: E402
from world import load_overlays  # noqa: E402


def test(etcd, programs):
    overlays = load_overlays(RENDERED)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as room, ControlPlane(etcd, programs, room) as plane:
        cluster = Cluster(plane)
        cluster.set_up(schemas.OURS)
        print("k8s: the cluster is there after %.0f s" % (time.monotonic() - began), flush=True)
        cases = []
        # The traffic classes come first: once their policy was deleted, the API server takes no
        # ConfigMap of another one (docs/qos.md, "The policy has to stay").
        for each in TrafficClassCases, OverlayCases, PageCases:
            cases += each(cluster, overlays, room).cases()
        return run_cases("cluster", cases)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(0 if test(sys.argv[1], sys.argv[2]) else 1)
