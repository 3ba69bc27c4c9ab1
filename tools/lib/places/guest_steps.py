# SPDX-License-Identifier: Apache-2.0
"""Steps of a plan, each a server on hostB and a client on hostA. It runs in the guest of
tools/rdma_vm, and prints one line of JSON for each: what the client said. It does no more than
that: a floating point operation takes 27 times longer there than on the host. ends_run.py does
the same steps on ends that are real.

usage: guest_steps.py PLAN, a file with a JSON list of
  {"server": [word...], "client": [word...], "limit": seconds, "pause": seconds,
   "enough": calls, "go_on": whether the next step is done though this one fails}
A server that announces "listening on ADDRESS" gets no pause; the client's word "@" is
replaced by the address. With "enough" a client whose report has fewer calls measures again,
for longer: its word "--seconds=S" is multiplied."""

import json
import select
import subprocess
import sys
import tempfile
import time

START_LIMIT = 60
ATTEMPTS = 3
# Seconds for a server to end by itself, once its standard input has ended.
END_LIMIT = 0.3
# So many times as long as asked for a client measures, one after the other, until it has enough.
LONGER = (1, 4, 16)


def _in_namespace(host, words):
    return ["ip", "netns", "exec", host, *words]


class Failed(Exception):
    pass


def _address(server):
    """Of the line "listening on ADDRESS"."""
    end = time.monotonic() + START_LIMIT
    while select.select([server.stdout], [], [], max(0, end - time.monotonic()))[0]:
        line = server.stdout.readline()
        if line.startswith(b"listening on "):
            return line.split()[2].decode()
        if not line:
            break
    raise Failed("the server did not begin to listen")


def _stop(server, end_limit):
    server.stdin.close()
    try:
        server.wait(end_limit)
    except subprocess.TimeoutExpired:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
    server.stdout.close()


def _attempt(step, log, inside, end_limit):
    pipe = subprocess.PIPE
    server = subprocess.Popen(
        inside("hostB", step["server"]), stdin=pipe, stdout=pipe, stderr=log, bufsize=0
    )
    try:
        address = ""
        if step.get("pause"):
            time.sleep(step["pause"])
        else:
            address = _address(server)
        words = [word.replace("@", address) for word in step["client"]]
        done = subprocess.run(
            inside("hostA", words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=step["limit"],
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Failed("the client did not end within %d s" % step["limit"]) from None
    finally:
        _stop(server, end_limit)
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip()
        raise Failed("the client ended with %d: %s" % (done.returncode, said[-2000:]))
    return done.stdout.decode(errors="replace")


def _longer(words, factor):
    """The client's words, measuring so many times as long."""
    begin = "--seconds="
    return [
        begin + "%g" % (factor * float(word[len(begin) :])) if word.startswith(begin) else word
        for word in words
    ]


def _calls(output):
    """Of the report that is its last line; None: there is no such report."""
    try:
        return json.loads(output.strip().rpartition("\n")[2]).get("calls")
    except (ValueError, AttributeError):
        return None


def perform(step, inside=_in_namespace, end_limit=END_LIMIT):
    """What there is to print of it. `inside`: of a host and words, those that run them there."""
    enough = step.get("enough", 0)
    for factor in LONGER:
        longer = dict(step, client=_longer(step["client"], factor))
        result = _perform(longer, inside, end_limit)
        calls = _calls(result.get("output", ""))
        if calls is None or calls >= enough:
            break
    return result


def _perform(step, inside, end_limit):
    with tempfile.TemporaryFile() as log:
        for attempt in range(ATTEMPTS):
            try:
                return {"output": _attempt(step, log, inside, end_limit)}
            except Failed as failed:
                why = str(failed)
            # Only a server that announces nothing can have been too late.
            if not step.get("pause"):
                break
            time.sleep(attempt + 1)
        log.seek(0)
        said = log.read().decode(errors="replace").strip()
        return {"error": why, "server_log": said[-2000:]}


def main(plan, inside=_in_namespace):
    for step in plan:
        result = perform(step, inside)
        print(json.dumps(result), flush=True)
        if "error" in result and not step.get("go_on"):
            return 1
    return 0


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as text:
        PLAN = json.load(text)
    sys.exit(main(PLAN))
