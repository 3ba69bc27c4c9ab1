# SPDX-License-Identifier: Apache-2.0
"""All rules over all overlays: what the schemas of Kubernetes cannot see."""

import links
import metrics
import safety
from world import Farcall

RULES = links.RULES + metrics.RULES + safety.RULES


def findings(overlays, root):
    """"rule: overlay: what is wrong", sorted, of {name: Overlay}."""
    farcall = Farcall(root)
    farcall.resources = safety.provided(overlays.values())
    return sorted("%s: %s: %s" % (rule.__name__, overlay.name, what)
                  for overlay in overlays.values() for rule in RULES
                  for what in rule(overlay, farcall))
