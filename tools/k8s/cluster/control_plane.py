# SPDX-License-Identifier: Apache-2.0
"""etcd, the API server, the controllers and the scheduler, as processes of this one."""

import json
import os
import secrets
import socket
import subprocess
import time

from api import Api, Refused
from cases import Trouble, need

PATIENCE = 180


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def kubeconfig(url, certificate, token):
    return {"apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {
                "server": url, "certificate-authority": certificate,
                "tls-server-name": "kubernetes"}}],
            "users": [{"name": "test", "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]}


class ControlPlane:
    """Starts them in a directory, and ends them. They listen at 127.0.0.1 alone."""

    def __init__(self, etcd, programs, room):
        self.programs, self._etcd, self._room = programs, etcd, room
        self._running = []
        client, self._peer, self._port = free_ports(3)
        self._store = "http://127.0.0.1:%d" % client
        self._token = secrets.token_hex(16)
        self.api = None
        # No proxy, no cluster and no home of the user's.
        self.environment = {"PATH": programs + ":/usr/bin:/bin", "HOME": room,
                            "KUBECONFIG": self._path("kubeconfig")}

    def _path(self, name):
        return os.path.join(self._room, name)

    def _write(self, name, text):
        with open(self._path(name), "w", encoding="utf-8") as stream:
            stream.write(text)

    def _start(self, program, *words):
        name = os.path.basename(program)
        with open(self._path(name + ".log"), "wb") as log:
            self._running.append((name, subprocess.Popen(
                [program, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=self._room, env=self.environment)))

    def need_running(self):
        for name, process in self._running:
            if process.poll() is not None:
                with open(self._path(name + ".log"), encoding="utf-8", errors="replace") as log:
                    raise Trouble("%s ended: %s" % (name, log.read()[-800:]))

    def __enter__(self):
        try:
            self._start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start_all(self):
        url = "https://127.0.0.1:%d" % self._port
        self._write("tokens", '%s,admin,admin,"system:masters"\n' % self._token)
        key = self._path("accounts.key")
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        client = self._path("client")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=apiserver", "-keyout", client + ".key",
                        "-out", client + ".crt"], check=True, capture_output=True)
        peer = "http://127.0.0.1:%d" % self._peer
        self._start(self._etcd, "--data-dir=" + self._path("store"), "--listen-peer-urls=" + peer,
                    "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
                    "--listen-client-urls=" + self._store, "--advertise-client-urls=" + self._store)
        self._start(
            os.path.join(self.programs, "kube-apiserver"), "--etcd-servers=" + self._store,
            "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none", "--secure-port=%d" % self._port,
            "--cert-dir=" + self._path("certificates"), "--authorization-mode=RBAC",
            "--token-auth-file=" + self._path("tokens"), "--allow-privileged=true",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
            "--service-cluster-ip-range=10.96.0.0/16",
            # Kubelets admit whoever has this certificate, and are met at their node's name.
            "--kubelet-client-certificate=" + client + ".crt",
            "--kubelet-client-key=" + client + ".key",
            "--kubelet-preferred-address-types=Hostname")
        certificate = self._path("certificates/apiserver.crt")
        self._wait(lambda: os.path.exists(certificate))
        self._write("kubeconfig", json.dumps(kubeconfig(url, certificate, self._token)))
        # For a guest of QEMU, to which 10.0.2.2 is this machine.
        self._write("kubeconfig.node", json.dumps(kubeconfig(
            "https://10.0.2.2:%d" % self._port, certificate, self._token)))
        self.api = Api(url, certificate, self._token)
        self._wait(self._is_ready)
        common = ("--kubeconfig=" + self._path("kubeconfig"), "--leader-elect=false",
                  "--secure-port=0")
        # Nobody renews the leases of these nodes.
        self._start(os.path.join(self.programs, "kube-controller-manager"), *common,
                    "--node-monitor-grace-period=24h")
        self._start(os.path.join(self.programs, "kube-scheduler"), *common)

    def _is_ready(self):
        try:
            return self.api.call("GET", "/readyz") == b"ok"
        except (OSError, Refused):
            return False

    def _wait(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.need_running()
            need(time.monotonic() < end, "the API server is not ready within %d s" % PATIENCE)
            time.sleep(0.1)

    def __exit__(self, *_):
        for _, process in reversed(self._running):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running = []
