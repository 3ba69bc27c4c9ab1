// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/echo/echo_pacer.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace farcall::bench {
namespace {

// Where a call that is due cannot begin.
constexpr std::chrono::microseconds kAskAgain{10};

}  // namespace

EchoPacer::EchoPacer(EventLoop& loop, OpenLoopSchedule schedule, Time end, BeginCall begin)
    : loop_(loop), schedule_(schedule), end_(end), begin_(std::move(begin)), timer_([this] {
        loop_.RunUser(*this);
      }) {
  loop_.RunOrPost([this] {
    loop_.NeedThread(+1);
    loop_.SetTimer(timer_, schedule_.next());
  });
}

void EchoPacer::Wait() { over_.get_future().wait(); }

void EchoPacer::Run() {
  const Time now = std::chrono::steady_clock::now();
  Time next = schedule_.next();
  while (now < end_ && next <= now && begin_(next)) {
    schedule_.Take();
    next = schedule_.next();
  }
  if (next <= now) next = now + kAskAgain;
  // What is still due after the end, because calls were missing, is not begun.
  const bool over = now >= end_ || schedule_.next() >= end_;
  loop_.RunOrPost([this, over, next] {
    if (!over) return loop_.SetTimer(timer_, next);
    loop_.NeedThread(-1);
    over_.set_value();
  });
}

}  // namespace farcall::bench
