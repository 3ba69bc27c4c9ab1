#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What may not include each other is found, and the lists have an order."""

import graphlib
import unittest

import layers
import order
from tidy_selftest import findings


class LayersTest(unittest.TestCase):
    def includes(self, path, *headers):
        files = {"transport/transport.h": "", "rpc/errors.h": "", "examples/echo/echo.h": ""}
        files[path] = "".join('#include "%s"\n' % header for header in headers)
        return findings(layers.check, files)

    def test_allowed(self):
        self.assertEqual([], self.includes("transport/tcp/a.cc", "transport/loop/event_loop.h"))
        self.assertEqual([], self.includes("transport/tcp/a.cc", "transport/base/threads/b.h"))
        self.assertEqual([], self.includes("transport/base/threads/a.h", "transport/base/host/b.h"))
        self.assertEqual([], self.includes("transport/loop/a.h", "transport/loop/queues/mailbox.h"))
        drivers = "transport/loop/drivers/b.h"
        self.assertEqual([], self.includes("transport/loop/a_test.cc", drivers))
        self.assertEqual([], self.includes("transport/tcp/a.cc", "transport/tcp/b.h"))
        self.assertEqual([], self.includes("transport/rdma/a.cc", "transport/rdma/verbs/v.h"))
        self.assertEqual([], self.includes("transport/rdma/host/a.cc", "transport/rdma/cm/b.h"))
        self.assertEqual([], self.includes("transport/rdma/flow/a_test.cc", "transport/rdma/b.h"))
        self.assertEqual([], self.includes("rpc/session/a.cc", "rpc/wire/frame.h"))
        self.assertEqual([], self.includes("rpc/session/client/a.cc", "rpc/session/turn_output.h"))
        self.assertEqual([], self.includes("rpc/session/server/a.cc", "rpc/dispatch/b.h"))
        self.assertEqual([], self.includes("rpc/cluster/a.cc", "rpc/errors.h", "rpc/naming/b.h"))
        self.assertEqual([], self.includes("rpc/http/a.cc", "rpc/status/json_writer.h"))
        self.assertEqual([], self.includes("tools/x/a.cc", "rpc/runtime/channel.h"))
        self.assertEqual([], self.includes("rpc/testing/calls/a_test.cc", "rpc/testing/b.h"))
        self.assertEqual([], self.includes("rpc/runtime/runtime.cc", "transport/tcp/t.h"))
        self.assertEqual([], self.includes("examples/echo/a.cc", "examples/echo/echo.pb.h"))
        self.assertEqual([], self.includes("benchmarks/micro/a.cc", "rpc/wire/frame.h"))
        self.assertEqual([], self.includes("transport/tcp/a_test.cc", "transport/testing/sim.h"))
        self.assertEqual([], self.includes("rpc/a.cc", "absl/status/status.h", "google/p.h"))

    def test_forbidden(self):
        cases = [
            ("transport/tcp/a.cc", "rpc/errors.h"),
            ("transport/tcp/a_test.cc", "rpc/errors.h"),
            ("transport/tcp/a.cc", "transport/rdma/verbs/v.h"),
            ("transport/rdma/a.h", "transport/tcp/socket.h"),
            ("transport/rdma/flow/a.h", "transport/rdma/verbs/verbs_api.h"),
            ("transport/rdma/device/a.cc", "transport/rdma/channel/device_poller.h"),
            ("transport/rdma/channel/a.cc", "transport/rdma/cm/cm_source.h"),
            ("transport/rdma/cm/a.h", "transport/rdma/channel/device_poller.h"),
            ("transport/rdma/host/a.cc", "transport/rdma/setup/connect_attempt.h"),
            ("transport/rdma/setup/a.cc", "transport/rdma/rdma_transport.h"),
            ("transport/link/stream/bytes/a.h", "transport/link/stream/rails/rails.h"),
            ("transport/link/stream/rails/a.cc", "transport/link/stream/switching_stream.h"),
            ("transport/link/stream/frames/a.h", "transport/link/stream/bytes/byte_range.h"),
            ("transport/link/upgrade/a.cc", "transport/link/stream/frames/frame.h"),
            ("transport/loop/a.cc", "transport/transport.h"),
            ("transport/loop/a.cc", "transport/loop/drivers/loop_driver.h"),
            ("transport/loop/drive/a.h", "transport/loop/event_loop.h"),
            ("transport/loop/drive/a_test.cc", "transport/loop/loop_visitor.h"),
            ("transport/loop/queues/a.cc", "transport/loop/sources/epoll_source.h"),
            ("transport/base/a.cc", "transport/loop/event_loop.h"),
            ("transport/base/a.h", "transport/base/threads/thread.h"),
            ("transport/base/host/a.cc", "transport/base/threads/thread.h"),
            ("rpc/runtime/server.cc", "transport/tcp/tcp_transport.h"),
            ("rpc/session/runtime.cc", "transport/tcp/tcp_transport.h"),
            ("rpc/a.h", "rpc/runtime/channel.h"),
            ("rpc/a.cc", "rpc/wire/frame.h"),
            ("rpc/cluster/a.cc", "rpc/runtime/runtime.h"),
            ("rpc/http/a.cc", "rpc/status/status_pages.h"),
            ("rpc/testing/a.h", "rpc/testing/calls/b.h"),
            ("rpc/testing/calls/a_test.cc", "rpc/testing/hostile/b.h"),
            ("rpc/session/a.h", "rpc/session/client/client_session.h"),
            ("rpc/session/a.h", "rpc/session/server/server_session.h"),
            ("rpc/session/client/a.cc", "rpc/session/server/server_session.h"),
            ("rpc/session/server/a.h", "rpc/session/client/client_session.h"),
            ("rpc/session/server/a.h", "rpc/cluster/cluster.h"),
            ("rpc/a.cc", "examples/echo/echo.h"),
            ("examples/echo/a.cc", "rpc/wire/frame.h"),
            ("examples/echo/a.cc", "transport/tcp/tcp_transport.h"),
            ("benchmarks/echo/a.cc", "rpc/session/session.h"),
            ("tools/x/a.cc", "rpc/call/call_table.h"),
        ]
        for path, header in cases:
            found = self.includes(path, header)
            self.assertEqual(1, len(found), (path, header, found))
            self.assertIn("%s:1: " % path, found[0])
            self.assertIn("may not include " + header, found[0])

    def expect_order(self, rooms):
        sees = {
            room: [other for other in rooms if not self.includes(room + "a.cc", other + "b.h")]
            for room in rooms
        }
        for room in rooms:
            sees[room].remove(room)
        # A CycleError names them.
        graphlib.TopologicalSorter(sees).prepare()

    def test_the_rooms_of_transport_have_an_order(self):
        self.expect_order([room for room in order.LAYERS if room.startswith("transport/")])

    def test_the_rooms_of_rpc_have_an_order(self):
        self.expect_order(
            [room for room in order.LAYERS if room.startswith("rpc/") and room.endswith("/")]
        )

    def test_the_rooms_of_tests_have_an_order(self):
        self.expect_order([room for room in order.TEST_LAYERS if "/testing/" in room])

    def test_the_rooms_of_python_have_an_order(self):
        def imports(path, text):
            names = ("run.py", "console/table.py", "places/hosts.py", "loads/cells.py")
            files = {"tools/lib/" + name: "" for name in names}
            return findings(layers.check, {**files, path: text})

        self.assertEqual([], imports("tools/lib/a.py", "import run\nfrom loads import cells\n"))
        self.assertEqual([], imports("tools/lib/places/a.py", "import re\nimport console.table\n"))
        self.assertEqual([], imports("tools/lib/places/a.py", "from places.hosts import A\n"))
        for room, text, path in [
            ("console", "import run", "run.py"),
            ("console", "from loads.cells import Cell", "loads/cells.py"),
            ("places", "from loads import cells, other", "loads/cells.py"),
        ]:
            what = "tools/lib/%s/ may not include tools/lib/%s" % (room, path)
            for name in ("a.py", "a_test.py"):
                full = "tools/lib/%s/%s" % (room, name)
                self.assertEqual(["%s:1: %s" % (full, what)], imports(full, text + "\n"))

    def test_testing_is_for_tests(self):
        found = self.includes("benchmarks/micro/a.cc", "transport/testing/sim.h")
        self.assertEqual([], found)
        found = self.includes("rpc/runtime/a.cc", "rpc/testing/fake.h")
        self.assertEqual(["rpc/runtime/a.cc:1: only tests may include rpc/testing/fake.h"], found)
        self.assertEqual(1, len(self.includes("rpc/runtime/a.cc", "rpc/wire/frame_testing.h")))
        self.assertEqual([], self.includes("rpc/wire/a_test.cc", "rpc/wire/frame_testing.h"))

    def test_system_headers_have_a_place(self):
        text = "#include <infiniband/verbs.h>\n"
        for path, count in [("transport/rdma/a.cc", 0), ("transport/tcp/a.cc", 1), ("rpc/a.cc", 1)]:
            self.assertEqual(count, len(findings(layers.check, {path: text})), path)

    def test_includes_start_at_the_root(self):
        found = self.includes("rpc/a.cc", "channel.h")
        what = 'rpc/a.cc:1: quoted include "channel.h" is not relative to the root'
        self.assertEqual([what], found)


if __name__ == "__main__":
    unittest.main()
