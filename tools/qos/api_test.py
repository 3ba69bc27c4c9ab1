#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Lists and watches against an API server of this test, which ends, refuses and forgets."""

import http.server
import json
import os
import queue
import sys
import tempfile
import threading
import unittest

import api


def item(uid, name="p", namespace="payments", version="1", **spec):
    return {"kind": "Pod", "metadata": {"uid": uid, "name": name, "namespace": namespace,
                                        "labels": {"a": "b"}, "resourceVersion": version},
            "spec": spec, "status": {"phase": "Running"}}


class PodTest(unittest.TestCase):
    def test_what_a_pod_is(self):
        pod = api.pod_of(item("u1", hostNetwork=True))
        self.assertEqual((pod.uid, str(pod), pod.labels, pod.host_network),
                         ("u1", "payments/p", {"a": "b"}, True))

    def test_those_that_ended_are_none(self):
        for phase in "Succeeded", "Failed":
            self.assertIsNone(api.pod_of({**item("u1"), "status": {"phase": phase}}))
        self.assertIsNone(api.pod_of({}))

    def test_a_static_pod_is_known_by_the_kubelets_hash(self):
        one = item("u1")
        one["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "0a0b"}
        self.assertEqual(api.pod_of(one).uid, "0a0b")


class WatchedTest(unittest.TestCase):
    def test_events_change_what_was_listed(self):
        watched = api.Watched()
        self.assertIsNone(watched.items())
        watched.replace({"items": [item("u1"), item("u2")], "metadata": {"resourceVersion": "7"}})
        self.assertEqual(watched.version, "7")
        watched.take({"type": "ADDED", "object": item("u3", version="8")})
        watched.take({"type": "DELETED", "object": item("u1", version="9")})
        watched.take({"type": "MODIFIED", "object": item("u2", name="q", version="10")})
        watched.take({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "12"}}})
        self.assertEqual(sorted(one["metadata"]["name"] for one in watched.items()), ["p", "q"])
        self.assertEqual(watched.version, "12")
        with self.assertRaises(api.Gone):
            watched.take({"type": "ERROR", "object": {"code": 410, "message": "too old"}})
        watched.replace({"items": None})
        self.assertEqual(watched.items(), [])


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        test = self.server.test
        path, _, query = self.path.partition("?")
        test.asked.put((path, query, self.headers.get("Authorization")))
        answer = test.answers[path].get()
        if isinstance(answer, int):
            self.send_error(answer)
            return
        self.send_response(200)
        self.end_headers()
        for line in answer:
            self.wfile.write(json.dumps(line).encode() + b"\n" if not isinstance(line, bytes)
                             else line)

    def log_message(self, *_):
        pass


class ClusterTest(unittest.TestCase):
    PODS, SPACES = "/api/v1/pods", "/api/v1/namespaces"
    PATIENCE = 30

    def setUp(self):
        self.asked = queue.Queue()
        self.answers = {self.PODS: queue.Queue(), self.SPACES: queue.Queue()}
        self.said = []
        self.changes = threading.Semaphore(0)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        server.daemon_threads = True
        server.test = self
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        token = os.path.join(holder.name, "token")
        with open(token, "w", encoding="ascii") as stream:
            stream.write("secret\n")
        self.pause = api.FIRST_PAUSE
        api.FIRST_PAUSE = 0.01
        self.addCleanup(setattr, api, "FIRST_PAUSE", self.pause)
        self.cluster = api.Cluster(api.Server("http://127.0.0.1:%d" % server.server_port, token),
                                   "node-1", self.said.append, self.changes.release)
        self.answers[self.SPACES].put([{"items": [{"metadata": {
            "uid": "n1", "name": "payments", "labels": {"x": "y"}}}],
            "metadata": {"resourceVersion": "5"}}])
        self.cluster.start()
        self.addCleanup(self.cluster.stop)

    def give_pods(self, *lines):
        self.answers[self.PODS].put(list(lines))

    def list_of(self, *items):
        return {"items": list(items), "metadata": {"resourceVersion": "7"}}

    def until(self, names):
        """The pods are these, after so many changes as it takes."""
        while True:
            state = self.cluster.state()
            if state and sorted(pod.name for pod in state[0]) == names:
                return state
            self.assertTrue(self.changes.acquire(timeout=self.PATIENCE), (names, state, self.said))

    def question(self, path, word):
        """The next question to this path with this word in it."""
        while True:
            asked = self.asked.get(timeout=self.PATIENCE)
            if asked[0] == path and word in asked[1]:
                return asked

    def test_listed_and_watched(self):
        self.assertIsNone(self.cluster.state())
        self.give_pods(self.list_of(item("u1", "a")))
        self.assertEqual(self.until(["a"])[1], {"payments": {"x": "y"}})
        asked = self.question(self.PODS, "nodeName%3Dnode-1")
        self.assertEqual(asked[2], "Bearer secret")
        self.assertIn("resourceVersion=7", self.question(self.PODS, "watch=1")[1])
        self.give_pods({"type": "ADDED", "object": item("u2", "b", version="9")})
        self.until(["a", "b"])
        # The watch has ended: the next begins where it ended.
        self.assertIn("resourceVersion=9", self.question(self.PODS, "watch=1")[1])
        self.assertEqual(self.said, [])

    def test_what_is_known_stays_while_the_server_is_away(self):
        self.give_pods(self.list_of(item("u1", "a")))
        self.until(["a"])
        self.answers[self.PODS].put(500)
        self.answers[self.PODS].put(503)
        self.give_pods(b'{"type": "ADDED", "object": {"cut')
        self.assertEqual([pod.name for pod in self.cluster.state()[0]], ["a"])
        self.give_pods({"type": "ADDED", "object": item("u2", "b")})
        self.until(["a", "b"])
        self.assertIn("what is known goes on", self.said[0])

    def test_what_the_server_forgot_is_listed_again(self):
        self.give_pods(self.list_of(item("u1", "a")))
        self.until(["a"])
        self.give_pods({"type": "ERROR", "object": {"code": 410}})
        self.give_pods(self.list_of(item("u3", "c")))
        self.until(["c"])
        self.answers[self.PODS].put(410)
        self.give_pods(self.list_of(item("u4", "d")))
        self.until(["d"])

    def test_a_list_that_is_none_is_asked_for_again(self):
        self.give_pods(b"<html>")
        self.give_pods({"items": [{}]})
        self.give_pods(self.list_of(item("u1", "a")))
        self.until(["a"])


class FileTest(unittest.TestCase):
    def test_what_was_read_last_stays(self):
        said = []
        with tempfile.TemporaryDirectory() as holder:
            path = os.path.join(holder, "pods.json")
            state = api.of_file(path, said.append)
            self.assertIsNone(state())
            space = {"kind": "Namespace", "metadata": {"uid": "n", "name": "payments"}}
            with open(path, "w", encoding="utf-8") as stream:
                json.dump({"items": [item("u1"), space]}, stream)
            self.assertEqual(state()[1], {"payments": {}})
            with open(path, "w", encoding="utf-8") as stream:
                stream.write("{")
            self.assertEqual([pod.uid for pod in state()[0]], ["u1"])
            state()
            self.assertEqual(len(said), 2, said)


if __name__ == "__main__":
    sys.exit(unittest.main())
