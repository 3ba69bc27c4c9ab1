# SPDX-License-Identifier: Apache-2.0
"""What one end of brpc's RDMA may send, and what it has to report. Pure.

Each data message takes a receive that the other end has posted. That end reports, with a message
of its own, how many it has posted again. Three receives are spare, for bare reports."""

from hello import Breach

SPARE = 3
# Without a request to wake the other end.
_MOST_QUIET_BYTES = 1 << 20


class Credits:
    """`own`, `other`: the hellos of both ends. `report`, when a bare report is sent: when "half" of
    the window is unreported, as brpc does; "early", a third, less of which could be more reports
    than there are spare receives; "late", when all is."""

    def __init__(self, own, other, report="half"):
        self.window = min(own.sq_size, other.rq_size) - SPARE
        self.other_window = min(own.rq_size, other.sq_size) - SPARE
        self.credits = self.slots = self.window
        self.unreported = 0
        self.most_unreported = 0
        self.waits = 0  # how often the window was empty
        self._reports = SPARE  # free places of the send queue for bare reports
        self._late = report == "late"
        window = self.other_window
        self._unreported_at_most = {
            "half": window // 2 + 1, "early": window // SPARE, "late": window - 1
        }[report]  # fmt: skip
        self._quiet = self._quiet_bytes = 0

    def can_send(self):
        return self.credits > 0 and self.slots > 0

    def send(self, size, last):
        """A data message goes out, `last` of those that are ready: (what it reports, whether it
        wakes the other end)."""
        self.credits -= 1
        self.slots -= 1
        self._quiet += 1
        self._quiet_bytes += size
        full = min(self.credits, self.slots)
        self.waits += full == 0
        wake = last or full <= 1 or self._quiet > self.window // 4
        wake = wake or self._quiet_bytes > _MOST_QUIET_BYTES
        if wake:
            self._quiet = self._quiet_bytes = 0
        if self._late and self.unreported < self.other_window:
            return 0, wake
        return self._report(), wake

    def _report(self):
        reported, self.unreported = self.unreported, 0
        return reported

    def received(self, size, reported):
        """A message has come, and its receive was posted again."""
        if not size and not reported:
            raise Breach("an empty message that reports nothing")
        self.credits += reported
        if self.credits > self.window:
            raise Breach("reports %d messages more than were sent" % (self.credits - self.window))
        self.unreported += size > 0
        self.most_unreported = max(self.most_unreported, self.unreported)
        if self.unreported > self.other_window:
            raise Breach("sends more than its window of %d" % self.other_window)

    def report_due(self):
        return self._reports > 0 and self.unreported > self._unreported_at_most

    def send_report(self):
        """A bare report goes out; returns what it says."""
        self._reports -= 1
        return self._report()

    def completed(self, data, reports):
        """So many of each were sent."""
        self.slots += data
        self._reports += reports
