# SPDX-License-Identifier: Apache-2.0
"""Rules of alarms and dashboards: what they ask for is exported, and what they say is explained."""

import json
import re

from world import label_of

# Of node_exporter's collector infiniband, and of Prometheus itself.
OTHERS = {"node_infiniband_port_discards_transmitted_total",
          "node_infiniband_port_discards_received_total",
          "node_infiniband_port_errors_received_total", "up"}
_WORDS = {"and", "or", "unless", "offset", "bool"}
_GROUPS = r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)"
_BRACES = r"\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\")*\}"


def names_in(expression):
    """The metrics of an expression of PromQL."""
    text = re.sub(_BRACES, " ", re.sub(r"\[[^\]]*\]", " ", expression))
    text = re.sub(r"offset\s+\w+", " ", re.sub(_GROUPS, " ", text))
    words = re.findall(r"(?<![\w.])[a-zA-Z_:][\w:]*(?!\w|\s*\()", text)
    return {word for word in words if word not in _WORDS}


def alarms_of(overlay):
    """(PrometheusRule, rule) of each alarm."""
    for item in overlay.of("PrometheusRule"):
        for group in item["spec"]["groups"]:
            for rule in group["rules"]:
                yield item, rule


def panels_of(overlay):
    """(ConfigMap, title, expression) of each curve of the dashboards."""
    for item in overlay.of("ConfigMap"):
        if "grafana_dashboard" not in item["metadata"].get("labels", {}):
            continue
        for text in item["data"].values():
            for panel in json.loads(text)["panels"]:
                for target in panel["targets"]:
                    yield item, panel["title"], target["expr"]


def _expressions(overlay):
    for item, rule in alarms_of(overlay):
        yield "%s: %s" % (label_of(item), rule["alert"]), rule["expr"]
    for item, title, expression in panels_of(overlay):
        yield "%s: %s" % (label_of(item), title), expression


def metrics(overlay, farcall):
    for who, expression in _expressions(overlay):
        asked = names_in(expression)
        if not asked:
            yield "%s asks for nothing" % who
        for name in asked - OTHERS:
            whole = re.sub(r"_(bucket|sum|count)$", "", name)
            if name not in farcall.metrics and whole not in farcall.histograms:
                yield "%s: nobody exports %s" % (who, name)
        for told in re.findall(r'reason[!=]~?"([^"]*)"', expression):
            for reason in told.split("|"):
                if reason not in farcall.reasons:
                    yield "%s: there is no reason %s" % (who, reason)


def alarms(overlay, farcall):
    for item, rule in alarms_of(overlay):
        who = "%s: %s" % (label_of(item), rule["alert"])
        if rule["alert"] not in farcall.explained:
            yield "%s: docs/operations.md does not explain it" % who
        if not {"summary", "description"} <= set(rule.get("annotations", {})):
            yield "%s: it does not say what it is about" % who
        if rule.get("labels", {}).get("severity") not in ("info", "warning", "critical"):
            yield "%s: it has no severity" % who


RULES = (metrics, alarms)
