# SPDX-License-Identifier: Apache-2.0
"""Alarms under recorded metrics, by promtool: which fire, and that no other does.

tools/k8s/recorded has what /metrics of farcall answered: an echo server without RDMA before and
after a client asked for it (echo_idle, echo_fallen), one over Soft-RoCE before and after calls
while one in 50 packets was lost (rxe_calm, rxe_lossy), and a process whose RDMA is the stand-in of
transport/rdma/testing: in use (over_rdma), after five breaks (breaks), after 64 MiB that had to
wait (waits), with its port down (port_down). node_exporter has the names of its collector
infiniband, and was not recorded.
"""

import dataclasses
import os
import re
import subprocess
import tempfile
import typing

import yaml

from cases import need
from metrics import alarms_of, panels_of

RECORDED = os.path.join(os.path.dirname(os.path.realpath(__file__)), "recorded")
LABELS = {"namespace": "farcall", "pod": "echo-0", "job": "farcall/farcall",
          "instance": "10.0.0.1:8002"}
# Minutes: the second scrape comes after the first has been there for so long, and stays.
FIRST, SECOND = 90, 30


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    first: str  # a recorded scrape
    second: str
    fire: typing.Sequence  # (alarm, labels beside LABELS) that fire, and no other
    changed: typing.Dict = dataclasses.field(default_factory=dict)  # {metric: value} at the second
    again: int = 0  # as often each minute comes again what is between the two


_AT_RDMA = {"device": "fakeA"}
_BROKEN = ("FarcallOverTcp", {"reason": "broken"})
SCENARIOS = [
    Scenario("fine", "over_rdma", "over_rdma", ()),
    Scenario("idle", "echo_idle", "echo_idle", ()),
    # What a server sees of clients that found no device, and so said no hello.
    Scenario("over-tcp", "echo_idle", "echo_fallen",
             [("FarcallOverTcp", {"reason": "peer_silent"})]),
    Scenario("breaks", "over_rdma", "breaks",
             [("FarcallRdmaBreaks", {**_AT_RDMA, "status": "retry_exc_err"}), _BROKEN]),
    # The 64 MiB took less than a second.
    Scenario("waits", "breaks", "waits", [("FarcallWaitsForCredits", _AT_RDMA)], again=60),
    Scenario("few-waits", "breaks", "waits", (), again=1),
    Scenario("port-down", "waits", "port_down",
             [("FarcallPortDown", {**_AT_RDMA, "port": "1"}), _BROKEN,
              ("FarcallOverTcp", {"reason": "unreachable"})]),
    Scenario("out-of-order", "rxe_calm", "rxe_lossy",
             [("FarcallOutOfOrder", {"device": "rdmaB", "port": "1"}), _BROKEN]),
    Scenario("no-loss", "rxe_calm", "rxe_calm", ()),
    Scenario("pool-near-limit", "over_rdma", "over_rdma", [("FarcallPoolNearLimit", {})],
             {"farcall_pool_used_bytes": 1.02e9}),
    Scenario("pool-exhausted", "over_rdma", "over_rdma", [("FarcallPoolExhausted", {})],
             {"farcall_pool_exhausted_total": 1}, again=1),
    Scenario("control-stuck", "over_rdma", "over_rdma", [("FarcallRdmaControlStuck", {})],
             {"farcall_rdma_control_answered": 0}),
    Scenario("stalled", "over_rdma", "over_rdma", [("FarcallStalledConnections", {})],
             {"farcall_stalled_connections": 2}),
    Scenario("not-registered", "over_rdma", "over_rdma", [("FarcallMemoryNotRegistered", {})],
             {"farcall_rdma_registration_failures_total": 1}, again=1),
    Scenario("not-scraped", "over_rdma", "over_rdma", [("FarcallMetricsMissing", {})],
             {"up": 0}),
    Scenario("network", "node_exporter", "node_exporter",
             [("RdmaPortDiscards", {"device": "mlx5_0", "port": "1"}),
              ("RdmaPortErrors", {"device": "mlx5_0", "port": "1"})],
             {"node_infiniband_port_discards_transmitted_total": 40,
              "node_infiniband_port_errors_received_total": 3}, again=1),
]


def _sample(line):
    """(name, labels as text, value) of a line of the exposition format."""
    name, labels, value = re.fullmatch(r"([\w:]+)(?:\{(.*)\})? (\S+)", line).groups()
    return name, labels or "", float(value)


def scrape(name):
    """{(metric, labels): value}."""
    with open(os.path.join(RECORDED, name + ".txt"), encoding="utf-8") as stream:
        lines = [line.strip() for line in stream]
    samples = [_sample(line) for line in lines if line and not line.startswith("#")]
    found = {(metric, labels): value for metric, labels, value in samples}
    found["up", ""] = 1.0
    return found


def series_of(scenario):
    """promtool's input_series."""
    first, second = scrape(scenario.first), scrape(scenario.second)
    for key in second:
        second[key] = scenario.changed.get(key[0], second[key])
    missing = set(scenario.changed) - {metric for metric, _ in second}
    need(not missing, "%s: nothing recorded has %s" % (scenario.name, ", ".join(missing)))
    own = ",".join('%s="%s"' % item for item in LABELS.items())
    series = []
    for metric, labels in sorted(set(first) | set(second)):
        before, after = first.get((metric, labels)), second.get((metric, labels))
        values = "_x%d" % (FIRST - 1) if before is None else "%g+0x%d" % (before, FIRST - 1)
        if after is not None:
            step = scenario.again * (after - (before or 0)) + 0.0
            values += " {!r}{:+}x{}".format(after, step, SECOND)
        series.append({"series": "%s{%s}" % (metric, ",".join(filter(None, [own, labels]))),
                       "values": values})
    return series


def _fired_since(scenario):
    """Of each alarm the labels with which it fired in the last half hour, as promtool compares."""
    labels = sorted({"alertname", *(key for _, own in scenario.fire for key in own)})
    expression = "count by (%s) (max_over_time(ALERTS{alertstate=\"firing\"}[%dm]))" % (
        ", ".join(labels), SECOND)
    expected = [{"labels": "{%s}" % ",".join('%s="%s"' % item for item in sorted(
        {"alertname": alarm, **own}.items())), "value": 1}
        for alarm, own in scenario.fire]
    return {"expr": expression, "eval_time": "%dm" % (FIRST + SECOND), "exp_samples": expected}


def run_promtool(promtool, command, files, *names):
    """With {name: content} in a directory of its own."""
    with tempfile.TemporaryDirectory() as path:
        for name, content in files.items():
            with open(os.path.join(path, name), "w", encoding="utf-8") as stream:
                yaml.safe_dump(content, stream)
        result = subprocess.run([promtool, *command, *names], cwd=path, capture_output=True,
                                text=True, timeout=120)
    need(result.returncode == 0, result.stdout + result.stderr)


def groups_of(overlay):
    return {"groups": [group for item in overlay.of("PrometheusRule")
                       for group in item["spec"]["groups"]]}


def check(promtool, overlay):
    """Alarms and curves are PromQL."""
    run_promtool(promtool, ["check", "rules"], {"rules": groups_of(overlay)}, "rules")
    curves = [{"record": "curve:%d" % number, "expr": re.sub(r"\$\w+", ".*", expression)}
              for number, (_, _, expression) in enumerate(panels_of(overlay))]
    need(curves, "the dashboard has no curves")
    run_promtool(promtool, ["check", "rules"],
                 {"curves": {"groups": [{"name": "curves", "rules": curves}]}}, "curves")


def play(promtool, overlay, scenario):
    test = {"rule_files": ["rules"], "evaluation_interval": "1m",
            "tests": [{"interval": "1m", "input_series": series_of(scenario),
                       "promql_expr_test": [_fired_since(scenario)]}]}
    run_promtool(promtool, ["test", "rules"], {"rules": groups_of(overlay), "test": test}, "test")


def play_each(overlay):
    """There is a scenario for each alarm."""
    fired = {alarm for scenario in SCENARIOS for alarm, _ in scenario.fire}
    need(fired == {rule["alert"] for _, rule in alarms_of(overlay)}, "fired: %s" % sorted(fired))


def say(promtool, overlay):
    """What is told names the pod, the reason and where its cure is."""
    scenario = next(each for each in SCENARIOS if each.name == "over-tcp")
    expected = {
        "eval_time": "%dm" % (FIRST + 2), "alertname": "FarcallOverTcp",
        "exp_alerts": [{
            "exp_labels": {"severity": "warning", "reason": "peer_silent", "namespace": "farcall",
                           "pod": "echo-0"},
            "exp_annotations": {
                "summary": "RDMA was asked for, and calls go over TCP (peer_silent)",
                "description": "%d connections of echo-0 in 10 minutes. docs/why-is-rdma-off.md, "
                               "peer_silent, has the cure." % fallen()}}]}
    test = {"rule_files": ["rules"], "evaluation_interval": "1m",
            "tests": [{"interval": "1m", "input_series": series_of(scenario),
                       "alert_rule_test": [expected]}]}
    run_promtool(promtool, ["test", "rules"], {"rules": groups_of(overlay), "test": test}, "test")


def fallen():
    """Connections of the recorded echo server that stayed on TCP."""
    return sum(value for (metric, _), value in scrape("echo_fallen").items()
               if metric == "farcall_rdma_fallbacks_total")


def cases(promtool, overlay):
    listed = [("alarms-check", lambda: check(promtool, overlay)),
              ("alarms-each-fires", lambda: play_each(overlay)),
              ("alarms-say", lambda: say(promtool, overlay))]
    return listed + [("alarms-" + scenario.name,
                      lambda scenario=scenario: play(promtool, overlay, scenario))
                     for scenario in SCENARIOS]
