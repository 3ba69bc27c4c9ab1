# SPDX-License-Identifier: Apache-2.0
"""Pods of this node and labels of namespaces: from the API server, watched, or from a file."""

import http.client
import json
import os
import ssl
import threading
import urllib.parse
import urllib.request

import plan

SECRETS = "/var/run/secrets/kubernetes.io/serviceaccount"
# The server ends a watch after so long, and a read that brings nothing for longer is given up.
WATCH_SECONDS = 240
SILENT_SECONDS = 300
FIRST_PAUSE, LONGEST_PAUSE = 1, 30
MOST_LINE = 16 << 20


class Gone(Exception):
    """The server no longer has what came after the version that is known: list again."""


def pod_of(item):
    """None: it has ended, or is no pod."""
    meta, status = item.get("metadata", {}), item.get("status", {})
    if not meta.get("uid") or status.get("phase") in ("Succeeded", "Failed"):
        return None
    # A static pod's cgroup has the hash that the kubelet gave it.
    uid = meta.get("annotations", {}).get("kubernetes.io/config.mirror", meta["uid"])
    return plan.Pod(uid, meta.get("namespace", ""), meta.get("name", ""), meta.get("labels") or {},
                    bool(item.get("spec", {}).get("hostNetwork")))


class Watched:
    """Objects of one kind by their uid, as lists and events tell them. Thread-safe."""

    def __init__(self):
        self._lock = threading.Lock()
        self._items = None  # until the first list
        self.version = ""

    def replace(self, listed):
        with self._lock:
            self._items = {item["metadata"]["uid"]: item for item in listed.get("items") or []}
            self.version = listed.get("metadata", {}).get("resourceVersion", "")

    def take(self, event):
        """Raises Gone, also for an error that is another one: to list again is right then, too."""
        kind, item = event.get("type"), event.get("object") or {}
        if kind == "ERROR":
            raise Gone(item.get("message", "the watch failed"))
        meta = item.get("metadata", {})
        with self._lock:
            self.version = meta.get("resourceVersion", self.version)
            if kind in ("ADDED", "MODIFIED"):
                self._items[meta["uid"]] = item
            elif kind == "DELETED":
                self._items.pop(meta["uid"], None)

    def items(self):
        """None: nothing is known yet."""
        with self._lock:
            return None if self._items is None else list(self._items.values())


class Server:
    """The API server, as a pod reaches it."""

    def __init__(self, url, token_path=None, ca_path=None):
        self._url = url
        self._token_path = token_path
        self._tls = ssl.create_default_context(cafile=ca_path) if ca_path else None

    @classmethod
    def of_pod(cls):
        host = os.environ.get("KUBERNETES_SERVICE_HOST")
        if not host:
            return None
        host = "[%s]" % host if ":" in host else host
        port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        return cls("https://%s:%s" % (host, port), os.path.join(SECRETS, "token"),
                   os.path.join(SECRETS, "ca.crt"))

    def get(self, path, seconds, **query):
        request = urllib.request.Request("%s%s?%s" % (self._url, path,
                                                      urllib.parse.urlencode(query)))
        if self._token_path:
            # It is renewed every hour.
            with open(self._token_path, encoding="ascii") as stream:
                request.add_header("Authorization", "Bearer " + stream.read().strip())
        return urllib.request.urlopen(request, timeout=seconds, context=self._tls)


class Watcher:
    """Keeps one Watched as the server has it, on a thread of its own. What is known stays while the
    server is not reached."""

    def __init__(self, server, path, selector, log, changed):
        self.watched = Watched()
        self._server = server
        self._path = path
        self._query = {"fieldSelector": selector} if selector else {}
        self._log = log
        self._changed = changed
        self._stopped = threading.Event()
        self._told = ""
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()

    def stop(self):
        """The thread ends with its read, which the program does not wait for."""
        self._stopped.set()

    def _list(self):
        with self._server.get(self._path, 30, **self._query) as answer:
            self.watched.replace(json.load(answer))
        self._changed()

    def _watch(self):
        query = {**self._query, "watch": "1", "allowWatchBookmarks": "true",
                 "timeoutSeconds": WATCH_SECONDS, "resourceVersion": self.watched.version}
        with self._server.get(self._path, SILENT_SECONDS, **query) as answer:
            while not self._stopped.is_set():
                line = answer.readline(MOST_LINE)
                if not line:
                    return
                self.watched.take(json.loads(line))
                self._changed()

    def _run(self):
        pause, listed = FIRST_PAUSE, False
        while not self._stopped.is_set():
            try:
                if not listed:
                    self._list()
                    listed = True
                self._watch()
                pause, self._told = FIRST_PAUSE, ""
            except Gone:
                listed = False
            except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
                # urllib's errors are OSErrors; 410 Gone may be the answer itself.
                listed = listed and getattr(error, "code", None) != 410
                self._tell("%s: %s" % (self._path, error))
                self._stopped.wait(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    def _tell(self, trouble):
        if trouble != self._told:
            self._log("the API server: %s; what is known goes on" % trouble)
        self._told = trouble


class Cluster:
    """What an Agent goes by, from two Watchers."""

    def __init__(self, server, node_name, log, changed):
        self._pods = Watcher(server, "/api/v1/pods", "spec.nodeName=" + node_name, log, changed)
        self._namespaces = Watcher(server, "/api/v1/namespaces", "", log, changed)

    def start(self):
        self._pods.start()
        self._namespaces.start()

    def stop(self):
        self._pods.stop()
        self._namespaces.stop()

    def state(self):
        pods, namespaces = self._pods.watched.items(), self._namespaces.watched.items()
        return None if pods is None or namespaces is None else of_items(pods, namespaces)


def of_items(pods, namespaces):
    """([Pod], {namespace: labels})"""
    return ([pod for pod in map(pod_of, pods) if pod],
            {item["metadata"]["name"]: item["metadata"].get("labels") or {}
             for item in namespaces})


def of_file(path, log):
    """As `kubectl get pods,namespaces --all-namespaces --output=json` writes it. What was read last
    stays where the file cannot be read."""
    known = {"state": None, "told": ""}

    def state():
        try:
            with open(path, encoding="utf-8") as stream:
                items = json.load(stream)["items"]
            known["state"] = of_items([item for item in items if item["kind"] == "Pod"],
                                      [item for item in items if item["kind"] == "Namespace"])
            known["told"] = ""
        except (OSError, ValueError, KeyError, TypeError) as error:
            trouble = "%s cannot be read: %s" % (path, error)
            if trouble != known["told"]:
                log(trouble)
            known["told"] = trouble
        return known["state"]

    return state
