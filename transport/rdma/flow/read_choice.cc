// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/read_choice.h"

#include <algorithm>

namespace farcall {
namespace {

ReadChoice::Way Other(ReadChoice::Way way) {
  return way == ReadChoice::kSend ? ReadChoice::kRead : ReadChoice::kSend;
}

}  // namespace

uint64_t ReadChoice::Sample::rate() const {
  const double seconds = std::chrono::duration<double>(time).count();
  return static_cast<uint64_t>(static_cast<double>(bytes) / std::max(seconds, 1e-9));
}

void ReadChoice::OnPosted(Way way, uint32_t bytes) {
  if (!automatic_) return;
  // Until now there was nothing to send.
  if (under_way_[kSend] + under_way_[kRead] == 0 && !waits_) last_.reset();
  under_way_[way] += bytes;
}

void ReadChoice::OnDelivered(Way way, uint64_t bytes, TimePoint now) {
  if (!automatic_) return;
  under_way_[way] -= std::min(under_way_[way], bytes);
  if (!measures_) return;
  // What is left of the other way takes time of this one.
  if (way != way_ || under_way_[Other(way)] > 0) return last_.reset();
  if (last_) {
    sample_.bytes += bytes;
    sample_.time += now - *last_;
  }
  last_ = now;
  if (sample_.bytes >= kSampleBytes) EndSample();
}

void ReadChoice::EndSample() {
  (way_ == kSend ? use_.send_rate : use_.read_rate) = sample_.rate();
  GoOn(Other(way_));
  if (second_) EndRound();
  second_ = !second_;
}

// With an empty sample.
void ReadChoice::GoOn(Way way) {
  way_ = way;
  sample_ = {};
  last_.reset();
}

void ReadChoice::EndRound() {
  const uint64_t worth = reads_ ? kStillWorth : kWorth;
  const bool reads = use_.read_rate >= use_.send_rate / 100 * worth;
  const int agree = ++(reads ? for_ : against_);
  if (agree == kRounds) Decide(reads);
}

void ReadChoice::Decide(bool reads) {
  const bool as_before = rest_ > 0 && reads == reads_;
  rest_ = as_before ? std::min(2 * rest_, kLongestRest) : kFirstRest;
  left_ = rest_;
  reads_ = reads;
  GoOn(reads ? kRead : kSend);
  use_.why = reads ? ReadsWhy::kReadsPay : ReadsWhy::kSendsAreFaster;
  measures_ = false;
}

void ReadChoice::OnBytes(uint64_t bytes) {
  if (!automatic_ || measures_) return;
  left_ -= std::min(left_, bytes);
  if (left_ == 0) Measure();
}

// First the way that is in use.
void ReadChoice::Measure() {
  measures_ = true;
  for_ = against_ = 0;
  last_.reset();
}

}  // namespace farcall
