// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/sim/sim_run.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/retry_policy.h"
#include "transport/base/check.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kLoops = 2;
constexpr int kActions = 80;
constexpr int kRetries = 3;
// In packets, so that no run takes long; and in bytes.
constexpr size_t kMaxPackets = 24;
constexpr size_t kLargestAttachment = size_t{60} << 10;
// Virtual; longer than whatever a run waits for by itself.
constexpr Duration kDrainStep = milliseconds(1);
constexpr int kDrainSteps = 5000;

SimOptions Network(SimOptions network, TestRandom random) {
  network.seed = random.Next();
  network.min_delay = std::chrono::nanoseconds(random.Size(100'000));
  network.max_delay = network.min_delay + std::chrono::nanoseconds(random.Size(2'000'000));
  network.window = (size_t{1} << 10) + random.Below(size_t{128} << 10);
  network.max_packet = random.Size(size_t{32} << 10);
  return network;
}

ServerOptions ServerLimits(TestRandom random) {
  ServerOptions options;
  options.handler_threads = 0;
  if (random.Chance(0.3)) options.max_concurrency = static_cast<int>(random.Size(10));
  if (random.Chance(0.3)) {
    options.max_concurrency_per_connection = static_cast<int>(random.Size(5));
  }
  return options;
}

}  // namespace

SimRun::SimRun(uint64_t seed, BlockPool& pool, const SimRunOptions& options)
    : options_(options),
      pool_(pool),
      random_(seed),
      may_run_twice_(options.retries && random_.Chance(0.5)),
      network_(Network(options.network, TestRandom(random_.Next()))),
      transport_(network_, pool),
      tampering_(transport_, options.tamper, random_.Next()),
      world_(random_.Next(), kLoops),
      runtime_(Runtime::On(Parts())),
      largest_attachment_(
          std::min(kLargestAttachment, kMaxPackets * network_.options().max_packet)),
      service_(largest_attachment_,
               [this](std::function<void(bool)> then) {
                 SimCall& inner = NewCall(/*depth=*/0);
                 inner.Start(*channels_.front(), [&inner, then] { then(inner.Succeeded()); });
               }),
      address_("10.0.0.1:80"),
      server_options_(ServerLimits(TestRandom(random_.Next()))) {
  server_options_.runtime = runtime_.get();
  StartServer();
  for (uint64_t channels = 1 + random_.Below(3); channels > 0; --channels) OpenChannel();
}

SimRun::~SimRun() {
  channels_.clear();
  StopServer();
  service_.AnswerAll();
  world_.RunFor(seconds(1));
}

RuntimeParts SimRun::Parts() {
  RuntimeParts parts;
  parts.clock = &world_.clock();
  parts.loops = &world_.loops();
  parts.transport = &tampering_;
  parts.pool = &pool_;
  parts.run_blocking = [](std::function<void()>) { return false; };
  parts.log = [](LogSeverity, absl::string_view) {};
  return parts;
}

void SimRun::StartServer() {
  server_ = std::make_unique<Server>();
  const absl::Status added = server_->AddService(&service_.service(), SERVER_DOESNT_OWN_SERVICE);
  const absl::Status started = server_->Start(address_, server_options_);
  Check(added.ok() && started.ok(), "a simulated server starts");
}

// Stop waits for connections to close, which takes the loops' turns.
void SimRun::StopServer() {
  if (server_ == nullptr || server_->connection_count() == 0) return server_.reset();
  TestEvent stopped;
  std::thread stopper([&] {
    server_.reset();
    stopped.Signal();
  });
  while (stopped.count() == 0) {
    // Sleeps, so that the other thread has the core.
    if (!world_.Step()) std::this_thread::sleep_for(microseconds(100));
  }
  stopper.join();
}

void SimRun::OpenChannel() {
  ChannelOptions options;
  options.runtime = runtime_.get();
  options.timeout_ms = -1;
  options.connect_timeout_ms = 20;
  options.max_retry = options_.retries ? kRetries : 0;
  if (!may_run_twice_) {
    options.retry_policy = RetryPolicy::OnlyIfNotRun();
  } else if (random_.Chance(0.5)) {
    options.backup_request_ms = static_cast<int64_t>(random_.Below(4));
  }
  if (random_.Chance(0.3)) options.max_pending_calls = static_cast<int>(random_.Size(20));
  if (random_.Chance(0.3)) options.max_backlog = size_t{64} << 10;
  auto channel = Channel::Create(address_, options);
  Check(channel.ok(), "a simulated channel has good options");
  channels_.push_back(*std::move(channel));
}

// Of the handler of one call: by each retry, and by a backup request.
int SimRun::MostRuns() const { return may_run_twice_ ? 1 + kRetries + 1 : 1; }

void SimRun::Act() {
  const uint64_t dice = random_.Below(100);
  if (dice < 60) {
    StartCall();
  } else if (dice < 75) {
    service_.AnswerOne(random_);
  } else if (dice < 85) {
    if (options_.cancels && !calls_.empty()) calls_[random_.Below(calls_.size())]->Cancel();
  } else if (dice < 90) {
    channels_.erase(channels_.begin() + static_cast<int64_t>(random_.Below(channels_.size())));
    OpenChannel();
  } else if (dice < 93) {
    if (!options_.restarts) return;
    server_ != nullptr ? StopServer() : StartServer();
  }
}

SimCall& SimRun::NewCall(int depth) {
  SimCall::Plan plan;
  plan.id = calls_.size();
  plan.depth = depth;
  plan.attachment = random_.Chance(0.5) ? random_.Size(largest_attachment_) : 0;
  // A call on behalf of another has one in any case: it may wait for the other's end.
  const bool inner = depth == 0;
  if (options_.deadlines || inner || random_.Chance(0.3)) {
    plan.timeout_ms = static_cast<int64_t>(random_.Size(30));
  }
  calls_.push_back(std::make_unique<SimCall>(plan, world_.clock()));
  return *calls_.back();
}

void SimRun::StartCall() {
  SimCall& call = NewCall(/*depth=*/1);
  Channel& channel = *channels_[random_.Below(channels_.size())];
  if (options_.cancels && random_.Chance(0.02)) call.Cancel();
  call.Start(channel);
}

// Until all calls have ended; true if they have.
bool SimRun::Drain() {
  service_.Hurry();
  const auto ended = [](const auto& call) { return call->ended(); };
  for (int step = 0; step < kDrainSteps; ++step) {
    service_.AnswerAll();
    world_.RunFor(kDrainStep);
    if (std::all_of(calls_.begin(), calls_.end(), ended) && !service_.waiting()) return true;
  }
  return false;
}

SimOutcome SimRun::Go() {
  for (int action = 0; action < kActions; ++action) {
    Act();
    if (random_.Chance(0.7)) world_.RunFor(microseconds(random_.Size(1000)));
  }
  if (server_ == nullptr) StartServer();
  SimOutcome outcome;
  const bool drained = Drain();
  outcome.calls = static_cast<int>(calls_.size());
  for (const auto& call : calls_) {
    outcome.succeeded += call->Succeeded() ? 1 : 0;
    outcome.digest = outcome.digest * 31 + call->Digest();
  }
  outcome.violation = drained ? CallViolation() : "calls did not end";
  if (outcome.violation.empty()) outcome.violation = EndViolation();
  return outcome;
}

// Of the calls, which have all ended.
std::string SimRun::CallViolation() {
  for (const auto& call : calls_) {
    if (std::string violation = call->Violation(); !violation.empty()) return violation;
  }
  for (size_t id = 0; id < calls_.size(); ++id) {
    const int code = calls_[id]->controller().ErrorCode();
    const bool must_have_run = code == 0 || code == SimCall::kOwnError;
    if (must_have_run && service_.runs().count(id) == 0) {
      return absl::StrCat("call ", id, ": answered, but no handler ran");
    }
  }
  return "";
}

// Of what is left when everybody has gone.
std::string SimRun::EndViolation() {
  channels_.clear();
  StopServer();
  world_.RunFor(seconds(1));
  calls_.clear();
  if (std::string violation = service_.Violation(MostRuns()); !violation.empty()) return violation;
  const size_t lost = pool_.stats().used_bytes;
  return lost == 0 ? "" : absl::StrCat(lost, " bytes of blocks did not come home");
}

}  // namespace farcall
