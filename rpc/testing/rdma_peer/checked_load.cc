// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/rdma_peer/checked_load.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "rpc/testing/rdma_peer/pattern_bytes.h"

namespace farcall::rdma_peer {

namespace {

std::atomic<uint64_t> ids_given{0};

// Between both, by the power of two in which it lies.
size_t AnySize(size_t least, size_t most) {
  const uint64_t random = ids_given.load(std::memory_order_relaxed) * 0x9e3779b97f4a7c15;
  size_t powers = 1;
  while (least << powers < most && powers < 63) ++powers;
  const size_t from = least << ((random >> 32) % powers);
  return std::min(most, from + (random >> 40) % from);
}

}  // namespace

uint64_t NextId() {
  return (static_cast<uint64_t>(getpid()) << 40) +
         ids_given.fetch_add(1, std::memory_order_relaxed);
}

uint64_t IdsGiven() { return ids_given.load(std::memory_order_relaxed); }

void CheckedCall::Prepare(size_t attachment_bytes, std::optional<size_t> answer) {
  const uint64_t id = NextId();
  attachment = attachment_bytes;
  controller.Reset();
  controller.request_attachment() = PatternBuffer(id, attachment_bytes);
  request.set_id(id);
  request.set_text(PatternText(id));
  request.clear_answer();
  if (answer) request.set_answer(*answer);
  response.Clear();
}

bool CheckedCall::Right() const {
  const uint64_t id = request.id();
  // A Buffer is read without being changed; only its owner has no const way to it.
  Buffer& answer = const_cast<Controller&>(controller).response_attachment();
  const bool echo = !request.has_answer() && id % 2 == 1;
  return response.id() == id && response.text() == PatternText(~id) &&
         IsPattern(answer, echo ? id : ~id, request.has_answer() ? request.answer() : attachment);
}

bool CheckedCall::OverRdma() const {
  const auto& connection = controller.connection();
  return connection != nullptr && connection->transport == TransportKind::kRdma;
}

std::string CheckedLoad::Counts::ToString() const {
  return absl::StrCat("ok=", ok, " failed=", failed, " wrong=", wrong, " rdma=", rdma, " tcp=", tcp,
                      " error=", first_error);
}

struct CheckedLoad::Slot final : public google::protobuf::Closure {
  Slot(CheckedLoad& owner, Channel& to, size_t number)
      : load(owner), stub(&to), connection(number) {}
  void Run() override { load.OnEnd(*this); }

  CheckedLoad& load;
  Exchange_Stub stub;
  const size_t connection;
  CheckedCall call;
};

CheckedLoad::CheckedLoad(const std::vector<std::unique_ptr<Channel>>& channels, const Plan& plan)
    : plan_(plan), left_(channels.size(), plan.calls_of_each) {
  for (size_t i = 0; i < channels.size(); ++i) {
    for (int k = 0; k < plan.in_flight; ++k) {
      slots_.push_back(std::make_unique<Slot>(*this, *channels[i], i));
    }
  }
  std::vector<Slot*> ready;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::unique_ptr<Slot>& slot : slots_) {
      if (!TakeTurn(*slot)) continue;
      ++running_;
      ready.push_back(slot.get());
    }
  }
  for (Slot* const slot : ready) Begin(*slot);
}

CheckedLoad::~CheckedLoad() {
  Stop();
  Wait();
}

void CheckedLoad::Stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
}

CheckedLoad::Counts CheckedLoad::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return running_ == 0; });
  return counts_;
}

CheckedLoad::Counts CheckedLoad::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

bool CheckedLoad::TakeTurn(Slot& slot) {
  if (stopped_ || counts_.failed >= kMaxFailures) return false;
  if (plan_.calls_of_each == 0) return true;
  uint64_t& left = left_[slot.connection];
  if (left == 0) return false;
  --left;
  return true;
}

void CheckedLoad::Begin(Slot& slot) {
  slot.call.Prepare(plan_.most_attachment == 0 ? plan_.attachment
                                               : AnySize(plan_.attachment, plan_.most_attachment),
                    plan_.answer);
  slot.stub.Call(&slot.call.controller, &slot.call.request, &slot.call.response, &slot);
}

void CheckedLoad::OnEnd(Slot& slot) {
  const bool failed = slot.call.controller.Failed();
  const bool right = !failed && slot.call.Right();
  // Leaves the core to a server that is coming up.
  if (failed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::unique_lock<std::mutex> lock(mutex_);
  if (failed) {
    ++counts_.failed;
    if (counts_.first_error.empty()) counts_.first_error = slot.call.controller.ErrorText();
  } else {
    ++(right ? counts_.ok : counts_.wrong);
    ++(slot.call.OverRdma() ? counts_.rdma : counts_.tcp);
  }
  if (TakeTurn(slot)) {
    lock.unlock();
    return Begin(slot);
  }
  --running_;
  changed_.notify_all();
}

}  // namespace farcall::rdma_peer
