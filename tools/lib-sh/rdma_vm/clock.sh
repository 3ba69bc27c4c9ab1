# SPDX-License-Identifier: Apache-2.0
#
# The rate of the guest's clock. Its time stamp counter is the host's. A kernel that has to find
# out how fast that runs compares it with emulated timers, and where the host is busy it takes it
# for up to ten times slower: the guest's time then runs so many times too fast, and what it waits
# for is late. So it is measured here and told. Sourced by tools/rdma_vm.

# Prints the kHz of what QEMU takes for the guest's counter. The closest of many pairs of readings
# at both ends of 20 ms: one that was interrupted between its two clocks is none of them.
_clock_program() {
  cat <<'END'
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static int64_t Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static uint64_t Ticks(void) {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return Now();
#endif
}

struct Pair {
  int64_t when;
  uint64_t ticks;
};

static struct Pair Closest(void) {
  struct Pair best = {0, 0};
  int64_t least = INT64_MAX;
  for (int i = 0; i < 1000; ++i) {
    const int64_t before = Now();
    const uint64_t ticks = Ticks();
    const int64_t after = Now();
    if (after - before >= least) continue;
    least = after - before;
    best.when = before + least / 2;
    best.ticks = ticks;
  }
  return best;
}

int main(void) {
  const struct Pair first = Closest();
  while (Now() < first.when + 20000000) {
  }
  const struct Pair last = Closest();
  printf("%.0f\n", (double)(last.ticks - first.ticks) / (double)(last.when - first.when) * 1e6);
}
END
}

# As vm_cache/clock.
_prepare_clock() {
  [ ! -x "$vm_cache/clock" ] || [ "$vm_cache/clock" -ot "$room/clock.sh" ] || return 0
  _clock_program | gcc-12 -O2 -x c -o "$vm_cache/clock.new" - 2>"$vm_cache/clock.log" ||
    { cat "$vm_cache/clock.log" >&2 && return 1; }
  mv "$vm_cache/clock.new" "$vm_cache/clock"
}
