// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/echo/echo_load.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace farcall::bench {
namespace {

using SteadyTime = LoadWindow::Time;

SteadyTime Now() { return std::chrono::steady_clock::now(); }

// Bytes that puts are sent from, or one place if that is larger.
constexpr size_t kSentPlaces = size_t{1} << 20;

}  // namespace

// One slot of calls under way, used again and again.
class EchoLoad::Call final : public google::protobuf::Closure {
 public:
  Call(EchoLoad& load, bool put) : load_(load) {
    request.set_text(std::string(load.options_.payload, 'x'));
    if (put) request.set_keep_attachment(true);
    if (load.options_.way == "get") request.set_get_bytes(load.options_.attachment);
  }
  void Run() override { load_.OnEnd(*this); }

  Controller controller;
  EchoRequest request;
  EchoResponse response;
  SteadyTime intended;
  Buffer place;  // in the client's memory

 private:
  EchoLoad& load_;
};

EchoLoad::EchoLoad(Channel& channel, const LoadOptions& options, const LoadWindow& window,
                   const Buffer& attachment, bool put, const RegisteredMemory& memory)
    : stub_(&channel),
      store_(&channel),
      options_(options),
      attachment_(attachment),
      echoed_(put || options.way == "put" ? 0 : options.attachment),
      recorder_(window) {
  // What is sent has as many places as with bare sockets.
  const auto places = options.way == "put" ? std::max<size_t>(1, kSentPlaces / options.attachment)
                                           : static_cast<size_t>(options.in_flight);
  for (size_t i = 0; i < static_cast<size_t>(options.in_flight); ++i) {
    calls_.push_back(std::make_unique<Call>(*this, put));
    if (options.way != "echo") {
      calls_.back()->place = memory.Slice(i % places * options.attachment, options.attachment);
    }
    free_.push_back(calls_.back().get());
  }
}

EchoLoad::~EchoLoad() = default;

void EchoLoad::Start() {
  std::vector<Call*> calls;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    calls.swap(free_);
  }
  for (Call* const call : calls) {
    if (options_.synchronous) {
      callers_.emplace_back([this, call] { CallUntilOver(*call); });
    } else {
      Begin(*call, Now());
    }
  }
}

void EchoLoad::Pace(EventLoop& loop, const OpenLoopSchedule& schedule) {
  pacer_ = std::make_unique<EchoPacer>(loop, schedule, recorder_.window().end,
                                       [this](SteadyTime due) { return BeginOne(due); });
}

// False: all are under way.
bool EchoLoad::BeginOne(SteadyTime intended) {
  Call* call = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) return false;
    call = free_.back();
    free_.pop_back();
  }
  Begin(*call, intended);
  return true;
}

void EchoLoad::WaitForLast() {
  for (std::thread& caller : callers_) caller.join();
  callers_.clear();
  if (pacer_ != nullptr) pacer_->Wait();
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return free_.size() == calls_.size(); });
}

void EchoLoad::Begin(Call& call, SteadyTime intended) {
  call.intended = intended;
  call.controller.Reset();
  call.response.Clear();
  Call* const done = options_.synchronous ? nullptr : &call;
  if (options_.way == "put") {
    call.controller.request_attachment() = call.place.Share();
    return store_.Put(&call.controller, &call.request, &call.response, done);
  }
  if (options_.way == "get") {
    call.controller.set_response_attachment_memory(call.place.Share());
    return store_.Get(&call.controller, &call.request, &call.response, done);
  }
  if (!attachment_.empty()) call.controller.request_attachment() = attachment_.Share();
  stub_.Call(&call.controller, &call.request, &call.response, done);
}

void EchoLoad::OnEnd(Call& call) {
  const SteadyTime now = Now();
  if (Record(call, now)) Begin(call, now);
}

void EchoLoad::CallUntilOver(Call& call) {
  for (bool more = true; more;) {
    Begin(call, Now());
    more = Record(call, Now());
  }
}

// Whether the next one follows at once.
bool EchoLoad::Record(Call& call, SteadyTime now) {
  const bool closed_loop = options_.rate == 0;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (call.controller.Failed()) {
    recorder_.Failed(call.controller.ErrorText());
  } else if (call.response.text().size() != options_.payload ||
             call.controller.response_attachment().size() != echoed_) {
    recorder_.Failed("the echo has another size than the call");
  } else {
    recorder_.Succeeded(call.intended, now);
  }
  if (closed_loop && !recorder_.window().Over(now)) return true;
  free_.push_back(&call);
  changed_.notify_all();
  return false;
}

}  // namespace farcall::bench
