# SPDX-License-Identifier: Apache-2.0
"""Looks through what a browser made of /status: status_page_check.py ADDRESS PAGE LOG NETLOG"""

import html.parser
import json
import re
import sys

CHARTS = {"chart-rate": 2, "chart-latency": 2}  # lines
FEWEST_POINTS = 3
FEWEST_ROWS = {
    "methods": 4, "connections": 3, "loops": 1, "counters": 9, "fallbacks": 1, "machine": 8,
    "options": 10, "devices": 1, "registrations": 8, "events": 1,
}
EVIL = "<img src=x onerror=\"document.title='broken'\"></script><b id=broken>"


class Page(html.parser.HTMLParser):
    """Rows of tables, paths of charts, and text by the id of the element around it."""

    def __init__(self, text):
        super().__init__()
        self.ids = []  # of the open elements, "" without
        self.all_ids = set()
        self.tags = []
        self.rows = {}
        self.paths = {}
        self.text = {}
        self.cells = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.all_ids.add(attributes.get("id", ""))
        self.tags.append(tag)
        around = self.around()
        if tag == "tr":
            self.rows[around] = self.rows.get(around, 0) + 1
        if tag == "td":
            self.cells.append("")
        if tag == "path" and attributes.get("class") == "line":
            self.paths.setdefault(around, []).append(attributes.get("d", ""))
        if tag not in ("meta", "link", "br", "img"):
            self.ids.append((tag, attributes.get("id", "")))

    def handle_endtag(self, tag):
        while self.ids and self.ids.pop()[0] != tag:
            pass

    def handle_data(self, data):
        around = self.around()
        self.text[around] = self.text.get(around, "") + data
        if any(tag == "td" for tag, _ in self.ids):
            self.cells[-1] += data

    def around(self):
        return next((name for _, name in reversed(self.ids) if name), "")


def check_page(page, address, complain):
    for chart, lines in CHARTS.items():
        paths = page.paths.get(chart, [])
        if len(paths) != lines:
            complain("%s has %d lines" % (chart, len(paths)))
        for path in paths[:1]:
            if len(re.findall("[ML]", path)) < FEWEST_POINTS or "NaN" in path:
                complain("%s has a line without points: %s" % (chart, path))
    for table, fewest in FEWEST_ROWS.items():
        if page.rows.get(table, 0) < fewest:
            complain("table %s has %d rows" % (table, page.rows.get(table, 0)))
    if page.text.get("listen") != address:
        complain("it shows another address: %s" % page.text.get("listen"))
    if page.text.get("state") != "serving":
        complain("it shows another state: %s" % page.text.get("state"))
    if page.text.get("trouble", "") != "":
        complain("it has trouble: %s" % page.text["trouble"])
    words = " ".join(page.cells)
    for word in ("Echo", "EINTERNAL", "baidu_std", "http/1.1", "max_body_size"):
        if word not in words:
            complain("no cell says %s" % word)
    for word in ("NaN", "undefined", "[object"):
        if word in words:
            complain("a cell says %s" % word)


def check_harm(page, complain):
    if not any(EVIL in cell for cell in page.cells):
        complain("the client with the evil name is not shown")
    if "broken" in page.all_ids or "img" in page.tags or page.text.get("") == "broken":
        complain("the evil name has become part of the page")


def check_requests(net, address, complain):
    """All addresses that the browser asked for, and how often it asked for the status."""
    types = net["constants"]["logEventTypes"]
    begin = types["URL_REQUEST_START_JOB"]
    urls = [e["params"]["url"] for e in net["events"] if e["type"] == begin and "params" in e]
    here = "http://%s/status" % address
    for url in set(urls):
        if url not in (here, here + "?format=json") and not url.startswith("data:"):
            complain("it asked for %s" % url)
    if urls.count(here + "?format=json") < 2:
        complain("it polled %d times" % urls.count(here + "?format=json"))


def main():
    address, page_path, log_path, net_path = sys.argv[1:]
    complaints = []
    with open(page_path, encoding="utf-8") as stream:
        page = Page(stream.read())
    check_page(page, address, complaints.append)
    check_harm(page, complaints.append)
    with open(log_path, encoding="utf-8") as stream:
        complaints += ["the console says: " + line for line in stream if "CONSOLE" in line]
    with open(net_path, encoding="utf-8") as stream:
        check_requests(json.load(stream), address, complaints.append)
    for complaint in complaints:
        print("status page: " + complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
