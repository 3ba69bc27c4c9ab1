#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The parts of the peer that need no device."""

import argparse
import contextlib
import dataclasses
import io
import itertools
import json
import random
import struct
import unittest
from unittest import mock

import echo
import hello
import pattern
import protobuf
import prpc
from credits import Credits
from hello import Breach, Hello

GID = bytes.fromhex("00000000000000000000FFFF0A000001")
SECOND = Hello(2, 8160, 128, 128, 0, GID, 17)
THIRD = dataclasses.replace(SECOND, version=3)
# By hand from the description of the wire.
FIXTURES = (
    (SECOND.encode(), "52444D41 0028 0002 0001 00001FE0 0080 0080 0000"
     " 00000000000000000000FFFF0A000001 00000011"),
    (THIRD.encode(), "52444D33 0000001F 08E03F 108001 188001 2000"
     " 2A10 00000000000000000000FFFF0A000001 3011"),
    (hello.refusal(2), "52444D41 0028" + " 00" * 34),
    (hello.refusal(2, rdma_mode=False), "52444D41 0028 FFFF" + " 00" * 32),
    (hello.refusal(3), "52444D33 0000001C 0800 1000 1800 2000 2A10" + " 00" * 16 + " 3000"),
    (hello.ACK_RDMA, "00000001"),
    (hello.ACK_TCP, "00000000"),
)  # fmt: skip


def read(data):
    rest = [data[4:]]

    def exactly(size):
        found, rest[0] = rest[0][:size], rest[0][size:]
        if len(found) < size:
            raise EOFError
        return found

    found = hello.read(data[:4], exactly)
    assert not rest[0], rest[0]
    return found


class HelloTest(unittest.TestCase):
    def test_all_are_written_byte_for_byte(self):
        for data, fixture in FIXTURES:
            self.assertEqual(data.hex(), fixture.replace(" ", "").lower())

    def test_what_is_written_is_read(self):
        for said in (SECOND, THIRD, dataclasses.replace(THIRD, block_size=65504, sq_size=4096)):
            self.assertEqual(read(said.encode()), said)

    def test_more_than_40_bytes_are_skipped(self):
        data = SECOND.encode()
        longer = data[:4] + struct.pack(">H", 44) + data[6:] + b"more"
        self.assertEqual(read(longer), SECOND)

    def test_a_field_out_of_its_bounds_is_a_refusal(self):
        wrong = ({"block_size": 1023}, {"sq_size": 15}, {"rq_size": 15})
        wrong_third = ({"sq_size": 65536}, {"lid": 65536}, {"qp_num": 0}, {"gid": GID[1:]})
        for of, fields in ((SECOND, wrong), (THIRD, wrong + wrong_third)):
            for field in fields:
                said = dataclasses.replace(of, **field)
                self.assertTrue(read(said.encode()).refusal, said)
        for refused in (hello.refusal(2), hello.refusal(2, False), hello.refusal(3)):
            self.assertTrue(read(refused).refusal)

    def test_what_is_no_hello_is_a_breach(self):
        second, third = SECOND.encode(), THIRD.encode()
        no_gid = protobuf.number(1, 8160)
        for data in (
            b"RDMB" + second[4:],
            second[:4] + struct.pack(">H", 39) + second[6:],
            second[:4] + struct.pack(">H", 4097) + second[6:],
            third[:4] + struct.pack(">I", 0),
            third[:4] + struct.pack(">I", 8193) + third[8:],
            third[:4] + struct.pack(">I", len(no_gid)) + no_gid,
            third[:4] + struct.pack(">I", 2) + b"\x80\x80",
        ):
            with self.assertRaises(Breach):
                read(data)


class End:
    """One end of a simulated queue pair: messages arrive in order, some time after they left."""

    def __init__(self, own, other, report):
        self.credits = Credits(own, other, report)
        self.to_send = 0
        self.receives = own.rq_size
        self.coming = []
        self.got = 0

    def push(self, other):
        while self.to_send and self.credits.can_send():
            self.to_send -= 1
            reported, _ = self.credits.send(1, not self.to_send)
            other.arrive(1, reported)
        if self.credits.report_due():
            other.arrive(0, self.credits.send_report())

    def arrive(self, size, reported):
        assert self.receives > 0, "no receive is posted"
        self.receives -= 1
        self.coming.append((size, reported))


class CreditsTest(unittest.TestCase):
    def run_both(self, seed):
        """Both ends do steps in any order; what was sent is completed at once, or as it comes."""
        rng = random.Random(seed)
        sizes = [dataclasses.replace(SECOND, sq_size=rng.choice((16, 17, 64, 4096)),
                                     rq_size=rng.choice((16, 17, 64, 4096)))
                 for _ in range(2)]  # fmt: skip
        reports = [rng.choice(("half", "early", "late")) for _ in range(2)]
        ends = [End(sizes[i], sizes[1 - i], reports[i]) for i in range(2)]
        for end in ends:
            end.to_send = total = 300
        steps = 0
        while any(end.got < total for end in ends):
            steps += 1
            self.assertLess(steps, 100000, "they stand still: %d" % seed)
            end = rng.choice(ends)
            other = ends[1 - ends.index(end)]
            if end.coming and rng.random() < 0.7:
                size, reported = end.coming.pop(0)
                end.receives += 1
                end.credits.received(size, reported)
                other.credits.completed(size, 1 - size)
                end.got += size
            else:
                end.push(other)
        return ends

    def test_two_ends_move_all_and_never_lack_a_receive(self):
        waits = 0
        for seed in range(300):
            waits += sum(end.credits.waits for end in self.run_both(seed))
        self.assertGreater(waits, 1000)

    def test_late_reports_use_the_whole_window(self):
        small = dataclasses.replace(SECOND, sq_size=16, rq_size=16)
        credits = Credits(small, small, "late")
        for count in range(13):
            self.assertFalse(credits.report_due(), count)
            credits.received(1, 0)
        self.assertTrue(credits.report_due())
        self.assertEqual(credits.send_report(), 13)

    def test_breaches(self):
        for wrong in (lambda c: c.received(0, 0), lambda c: c.received(1, 1)):
            with self.assertRaises(Breach):
                wrong(Credits(SECOND, SECOND))
        credits = Credits(SECOND, SECOND)
        with self.assertRaises(Breach):
            for _ in range(126):
                credits.received(1, 0)


class CallsTest(unittest.TestCase):
    def test_a_request_is_answered_and_both_are_checked(self):
        for call in (2, 3, 1 << 63):
            for size in (0, 1, 100000, pattern.PERIOD + 5):
                frames, back = prpc.Frames(), prpc.Frames()
                data = prpc.request(call, size)
                whole = frames.feed(data[:20]) + frames.feed(data[20:])
                answer, right = prpc.answer(whole[0])
                self.assertTrue(right)
                answers = back.feed(answer)
                self.assertTrue(prpc.answer_is_right(answers[0], size))
                self.assertEqual(answers[0].meta[4], call)

    def test_wrong_bytes_are_found(self):
        for at in (-1, -100001, 40):
            data = bytearray(prpc.request(3, 100000))
            data[at] ^= 1
            try:
                found = [prpc.answer(frame)[1] for frame in prpc.Frames().feed(data)]
            except (Breach, protobuf.Malformed):
                continue
            self.assertEqual(found, [False])
        answer = prpc.answer(prpc.Frames().feed(prpc.request(2, 10))[0])[0]
        wrong = prpc.Frames().feed(answer[:-1] + b"x")
        self.assertFalse(prpc.answer_is_right(wrong[0], 10))

    def test_what_is_no_frame_is_a_breach(self):
        with self.assertRaises(Breach):
            prpc.Frames().feed(b"HTTP/1.1 200 OK")

    def test_the_mixer_is_splitmix64(self):
        self.assertEqual(pattern.mixed(0x9E3779B97F4A7C15), 0xE220A8397B1DCDAF)

    def test_the_table_is_that_of_one_number_after_the_other(self):
        table = pattern.table()
        self.assertEqual(len(table), pattern.PERIOD)
        for at in (0, 1, 1023, 1024, pattern.PERIOD - 1):
            state = pattern.SEED + (at + 1) * 0x9E3779B97F4A7C15 & (1 << 64) - 1
            self.assertEqual(table[at], pattern.mixed(state) & 255)


class EchoTest(unittest.TestCase):
    def answer(self, request):
        (frame,) = prpc.Frames().feed(request)
        made, right = echo.answer(frame)
        self.assertTrue(right)
        (frame,) = prpc.Frames().feed(made)
        return frame

    def test_what_is_sent_comes_back(self):
        frame = self.answer(echo.request(7, b"text"))
        self.assertEqual((frame.call_id(), protobuf.fields(frame.payload)), (7, {1: b"text"}))

    def test_usage_is_two_clocks(self):
        names = protobuf.text(1, b"farcall.bench.Echo") + protobuf.text(2, b"Usage")
        frame = self.answer(prpc.encode(protobuf.text(1, names) + protobuf.number(4, 1), b"", b""))
        clocks = [struct.unpack("<d", protobuf.fields(frame.payload)[i])[0] for i in (1, 2)]
        self.assertGreater(min(clocks), 0)

    def test_other_services_are_not_its(self):
        (frame,) = prpc.Frames().feed(prpc.request(1, 0))
        self.assertIsNone(echo.answer(frame))

    def test_a_load_reports_right_answers_alone(self):
        class Stream:
            carrier, sent = "rdma", b""

            def send(self, data):
                self.sent += data

            def receive(self, _):
                made = b""
                for frame in prpc.Frames().feed(self.sent):
                    wrong = echo.request(frame.call_id(), b"wrong")
                    made += wrong if frame.call_id() == 2 else echo.answer(frame)[0]
                self.sent = b""
                return made

        options = argparse.Namespace(payload=32, in_flight=3, warmup=0, seconds=1)
        clock = mock.patch("time.monotonic", itertools.count(0, 0.01).__next__)
        with clock, contextlib.redirect_stdout(io.StringIO()) as said:
            echo.Load(Stream(), options).run()
        report = json.loads(said.getvalue())
        self.assertEqual(report["errors"], 1)
        self.assertGreater(report["calls"], 2)
        self.assertLessEqual(report["p50_us"], report["p99_us"])


if __name__ == "__main__":
    unittest.main()
