# SPDX-License-Identifier: Apache-2.0
"""Requests to the API server by its administrator."""

import json
import ssl
import urllib.error
import urllib.request

PATCH = "application/strategic-merge-patch+json"


class Refused(Exception):
    """The server's answer, when it is no."""

    def __init__(self, code, message):
        super().__init__("%d: %s" % (code, message))
        self.code, self.message = code, message


def message_of(text):
    """What a Status says, or the text itself."""
    try:
        return json.loads(text)["message"]
    except (ValueError, KeyError, TypeError):
        return text.decode(errors="replace")[:1000]


class Api:
    def __init__(self, url, certificate, token):
        self._url, self._token = url, token
        context = ssl.create_default_context(cafile=certificate)
        # Whatever proxy the environment has: it does not lead to this machine.
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))

    def call(self, method, path, body=None, content="application/json"):
        """The answer as text."""
        request = urllib.request.Request(
            self._url + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + self._token, "Content-Type": content,
                     "Accept": "application/json"})
        try:
            with self._opener.open(request, timeout=60) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            raise Refused(error.code, message_of(error.read())) from None

    def get(self, path):
        return json.loads(self.call("GET", path))

    def items(self, path):
        return self.get(path)["items"]

    def post(self, path, body):
        return json.loads(self.call("POST", path, body))

    def patch(self, path, body):
        return json.loads(self.call("PATCH", path, body, PATCH))

    def all_objects(self):
        """{(group, resource, namespace, name)} of all that can be listed, without what comes and
        goes by itself: events, and leases of who leads."""
        groups = [("", "/api/v1")] + [
            (group["name"], "/apis/" + group["preferredVersion"]["groupVersion"])
            for group in self.get("/apis")["groups"]]
        found = set()
        for group, path in groups:
            for resource in self.get(path)["resources"]:
                name = resource["name"]
                if "list" not in resource["verbs"] or name in (
                        "events", "leases", "componentstatuses"):
                    continue
                found |= {(group, name, item["metadata"].get("namespace", ""),
                           item["metadata"]["name"])
                          for item in self.items("%s/%s" % (path, name))}
        return found
