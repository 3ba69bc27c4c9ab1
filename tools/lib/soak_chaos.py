# SPDX-License-Identifier: Apache-2.0
"""What happens to the servers of the soak: by a seed, and never to all of them at once."""

import os

# Seconds.
GAP = (0.1, 0.8)  # between two events
AWAY = (0.0, 2.0)  # from a server's end to its next life
FROZEN = (0.05, 1.5)  # SIGSTOP to SIGCONT or SIGKILL
DROPPED = (0.5, 3.0)  # out of the file
GARBLED = (0.2, 2.0)  # the file
# A server that came into the file counts for calls when every client has seen it.
SEEN = 1.0

SERVER_EVENTS = ["kill", "kill", "freeze", "freeze", "freeze_kill", "restart", "restart"]
FILE_EVENTS = ["drop", "drop", "garble"]


class Listing:
    """The file of file://. Without a path, all servers are always in the list."""

    def __init__(self, path, servers):
        self.path = path
        self._servers = servers
        self._since = {server: float("-inf") for server in servers}  # in the file since
        self.garbled = False

    def text(self):
        lines = ["# servers of the soak"]
        lines += ["%s 1 %s" % (s.address, s.name.replace(" ", "_")) for s in self.listed()]
        return "\n".join(lines) + "\n"

    def listed(self):
        return [server for server in self._servers if server in self._since]

    def seen(self, server, now):
        return server in self._since and now - self._since[server] >= SEEN

    def write(self, in_place=False):
        if not self.path:
            return
        name = self.path if in_place else self.path + ".new"
        with open(name, "w", encoding="utf-8") as out:
            out.write(self.text())
        if not in_place:
            os.rename(name, self.path)
        self.garbled = False

    def drop(self, server):
        del self._since[server]
        self.write()

    def add(self, server, now):
        self._since[server] = now
        self.write(in_place=True)

    def garble(self):
        """Half of the file, whose last line is no server any more."""
        self.garbled = True
        with open(self.path, "w", encoding="utf-8") as out:
            out.write(self.text()[:-1] + "\n127.0.0.1:")


class Chaos:
    """Events by `random`, one after the other. Servers are SoakServers, or what looks so.

    The first server is never restarted, so that its memory can be watched.
    """

    def __init__(self, random, servers, listing, log):
        self._random = random
        self._servers = servers
        self._listing = listing
        self._log = log  # called with (kind, server or None)
        self._next = 0.0
        self._follow = []  # (time, function)
        self._leaving = set()  # to be started again
        self._dropped = set()
        self.counts = {}

    def usable(self, now):
        return [s for s in self._servers if s.state == "up" and self._listing.seen(s, now)]

    def _between(self, bounds):
        return self._random.uniform(*bounds)

    def tick(self, now, calm=False):
        """Does what is due; in a calm, only what brings servers back."""
        for server in sorted(self._leaving, key=lambda s: s.name):
            if server.state == "down":
                self._leaving.remove(server)
                self._later(now + self._between(AWAY), server.start)
        due = [item for item in self._follow if item[0] <= now]
        self._follow = [item for item in self._follow if item[0] > now]
        for _, function in sorted(due, key=lambda item: item[0]):
            function()
        if calm or now < self._next:
            return
        self._next = now + self._between(GAP)
        self._happen(now)

    def quiet(self, now):
        """Whether all servers are there."""
        away = len(self._servers) - len(self.usable(now))
        return not self._follow and not self._leaving and away == 0

    def _later(self, when, function):
        self._follow.append((when, function))

    def _happen(self, now):
        events = SERVER_EVENTS + (FILE_EVENTS if self._listing.path else [])
        kind = self._random.choice(events)
        if kind == "garble":
            self._garble(now)
            return
        server = self._random.choice(self._servers)
        others = [other for other in self.usable(now) if other is not server]
        steady = server is self._servers[0] and kind not in ("freeze", "drop")
        if not others or steady or server.state != "up" or server in self._dropped:
            return
        if kind == "drop" and self._listing.garbled:
            return
        self._note(kind, server)
        getattr(self, "_" + kind)(server, now)

    def _note(self, kind, server):
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self._log(kind, server)

    def _kill(self, server, now):
        server.kill()
        # A second time: on a busy machine it ended long after it was told.
        self._log("killed", server)
        self._later(now + self._between(AWAY), server.start)

    def _freeze(self, server, now):
        server.freeze()
        self._later(now + self._between(FROZEN), server.thaw)

    def _freeze_kill(self, server, now):
        server.freeze()

        def end():
            self._log("kill", server)
            self._kill(server, now + FROZEN[1])

        self._later(now + self._between(FROZEN), end)

    def _restart(self, server, _):
        server.leave()
        self._leaving.add(server)

    def _drop(self, server, now):
        self._listing.drop(server)
        self._dropped.add(server)
        when = now + self._between(DROPPED)
        self._later(when, lambda: self._return(server, when))

    def _return(self, server, now):
        self._dropped.discard(server)
        self._listing.add(server, now)

    def _garble(self, now):
        everyone = all(self._listing.seen(server, now) for server in self._servers)
        if self._listing.garbled or not everyone:
            return
        self._note("garble", None)
        self._listing.garble()
        self._later(now + self._between(GARBLED), self._listing.write)
