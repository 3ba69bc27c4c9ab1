# SPDX-License-Identifier: Apache-2.0
"""What the numbers were measured on, and which cores each side gets."""

import os
import platform
import resource
import time


def _first_value(path, key):
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == key:
                    return value.strip()
    except OSError:
        pass
    return ""


def _os_name():
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"


def facts():
    """CPU, cores, memory, kernel: a dict of texts and numbers for the JSON."""
    memory = _first_value("/proc/meminfo", "MemTotal").split()
    return {
        "cpu": _first_value("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": os.cpu_count() or 1,
        "usable_cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(memory[0]) / (1 << 20), 1) if memory else 0,
        "virtual": "hypervisor" in _first_value("/proc/cpuinfo", "flags").split(),
        "os": _os_name(),
        "kernel": platform.release(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def line(known):
    """One line of them, for the head of a table."""
    return "%s, %d cores%s, %.0f GiB, %s, kernel %s" % (
        known["cpu"],
        known["cores"],
        " (virtual machine)" if known["virtual"] else "",
        known["memory_gib"],
        known["os"],
        known["kernel"],
    )


def _busy_seconds(stat):
    """CPU time of the whole machine by the first line of /proc/stat, proc(5)."""
    user, nice, system, _, _, irq, softirq, steal = map(int, stat.split()[1:9])
    ticks = user + nice + system + irq + softirq + steal
    return ticks / os.sysconf("SC_CLK_TCK")


def _own_seconds():
    used = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        used += usage.ru_utime + usage.ru_stime
    return used


class OthersWatch:
    """How many cores others keep busy meanwhile, other virtual machines included."""

    def __init__(self):
        self._start = self._read()

    @staticmethod
    def _read():
        with open("/proc/stat", encoding="ascii") as stat:
            return time.monotonic(), _busy_seconds(stat.readline()), _own_seconds()

    def cores(self):
        """Since the beginning. Children count when they have ended."""
        passed, busy, own = (now - was for now, was in zip(self._read(), self._start))
        return max(0.0, (busy - own) / passed) if passed > 0 else 0.0


def others_text(cores):
    """A warning, or nothing if they do not matter."""
    if cores < 0.15:
        return ""
    return "note: others kept %.1f cores busy meanwhile; these numbers are too low" % cores


def one_core_each(usable=None):
    """(server's cores, client's cores): one each, the same if there is only one."""
    cores = sorted(os.sched_getaffinity(0) if usable is None else usable)
    return cores[:1], cores[1:2] or cores[:1]


def half_each(usable=None):
    """(server's cores, client's cores): the lower and the upper half."""
    cores = sorted(os.sched_getaffinity(0) if usable is None else usable)
    middle = max(1, len(cores) // 2)
    return cores[:middle], cores[middle:] or cores
