// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/testing/placing_run.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rpc/dispatch/test_services.pb.h"
#include "rpc/interceptor.h"
#include "rpc/session/server/server_session.h"
#include "rpc/session/server/testing/placing_service.h"
#include "rpc/session/server/testing/placing_wire.h"
#include "rpc/session/session_testing.h"
#include "rpc/wire/pack.h"
#include "transport/base/check.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

constexpr int kRequests = 6;
constexpr int kActions = 200;
constexpr size_t kLargest = 2000;
constexpr int kMaxTurns = 5000;

// The client, and the world that both ends stand on.
class PlacingRun final {
 public:
  explicit PlacingRun(uint64_t seed)
      : random_(seed),
        service_(random_, outcome_,
                 [this](const char* begin, size_t bytes) { return wire_.WritesTo(begin, bytes); }),
        wire_(*world_.loop) {
    core_->parts = world_.parts;
    Check(core_->services.Add(service_, &service_).ok(), "a service is added");
    core_->options.max_concurrency_per_connection = static_cast<int>(random_.Size(4));
    core_->options.interceptors.push_back(
        std::shared_ptr<ServerInterceptor>(&service_, [](auto*) {}));
    if (random_.Chance(0.3)) core_->limit.Set(static_cast<int>(random_.Size(3)));
    ends_from_outside_ = random_.Chance(0.5);
    service_.set_wants_message(random_.Chance(0.5));
  }

  PlacingOutcome Go() {
    Held([&] { ServerSession::Accept(core_, *world_.loop, wire_.Connect(*world_.pool)); });
    for (int i = 0; i < kRequests; ++i) Send();
    for (int i = 0; i < kActions && outcome_.violation.empty(); ++i) Act();
    Finish();
    return outcome_;
  }

 private:
  void Send() {
    const uint64_t id = ++sent_;
    const size_t bytes = random_.Chance(0.15) ? 0 : random_.Size(kLargest);
    service_.Expect(id, bytes);
    wire::RpcMeta meta;
    meta.mutable_request()->set_service_name("farcall.one.Lone");
    meta.mutable_request()->set_method_name("Say");
    meta.mutable_request()->set_log_id(static_cast<int64_t>(id));
    if (random_.Chance(0.5)) meta.mutable_request()->set_timeout_ms(1 + id % 5);
    meta.set_correlation_id(static_cast<int64_t>(id));
    one::Ping ping;
    ping.set_text(absl::StrCat(id));
    const std::string attachment = PlacingService::AttachmentOf(id, bytes);
    const Buffer attached((absl::string_view(attachment)));
    const bool sums = random_.Chance(0.3);
    const auto payload = Pack(ping, {.checksum = sums ? CHECKSUM_TYPE_CRC32C : CHECKSUM_TYPE_NONE},
                              attached, *world_.pool, meta);
    const auto encoder = FrameEncoder::Create(meta, *payload, attachment.size());
    std::string head(encoder->head_size(), '\0');
    encoder->WriteTo(head.data());
    wire_.Send(head + payload->ToString() + attachment);
  }
  // With the loop held, behind what was posted.
  template <typename Work>
  void Held(Work work) {
    bool done = false;
    world_.loop->RunOrPost([&] {
      work();
      done = true;
    });
    while (!done) Turn();
  }
  void Act() {
    const uint64_t dice = random_.Below(100);
    if (dice < 50) {
      Held([&] { wire_.Step(random_); });
    } else if (dice < 70) {
      Turn();
    } else if (dice < 80) {
      service_.AnswerOne();
    } else if (dice < 90) {
      world_.clock.Advance(milliseconds(random_.Below(3)));
    } else if (dice < 97) {
      Held([&] { wire_.GiveUpGeneration(); });
    } else if (ends_from_outside_) {
      if (dice < 98) return Stop();
      Held([&] {
        // An answer is on its way then.
        if (random_.Chance(0.5)) service_.AnswerOne();
        wire_.End(absl::UnavailableError("closed by peer"));
      });
    }
    service_.Look();
  }
  void Turn() { world_.loop->RunOnce(); }
  // As Server::Stop with no grace time.
  void Stop() {
    if (stopped_) return;
    stopped_ = true;
    core_->calls_over = true;
    std::vector<ServerCall*> calls;
    for (const auto& session : core_->Sessions()) {
      Held([&] { calls = session->ClaimWaiting(); });
      for (ServerCall* const call : calls) {
        call->Refuse(kLogoff, "the server is stopping");
        call->Unref();
      }
      Held([&] { session->Close(absl::CancelledError("the server stopped")); });
    }
  }
  // All bytes come, all devices end, all placers answer.
  void Finish() {
    for (int i = 0; i < kMaxTurns && !(wire_.idle() && !service_.owes() && !world_.loop->RunOnce());
         ++i) {
      service_.AnswerOne();
      Held([&] { wire_.Step(random_); });
      Turn();
      service_.Look();
    }
    world_.Run();
    if (!wire_.closed() && !stopped_ && wire_.TakeFrames() != sent_) {
      outcome_.Violated("not all that was sent was answered");
    }
    Held([&] { wire_.End(absl::UnavailableError("closed by peer")); });
    world_.Run();
    if (core_->connections.count() + core_->running.count() + core_->unanswered.count() > 0) {
      outcome_.Violated(absl::StrCat("under way for ever: ", core_->connections.count(),
                                     " connections, ", core_->running.count(), " that run, ",
                                     core_->unanswered.count(),
                                     " without an answer; stopped: ", stopped_));
    }
    service_.LookAtEnd();
    outcome_.landed = wire_.landed();
    outcome_.held = wire_.held_at_end();
    if (core_.use_count() != 1) outcome_.Violated("something holds the server for ever");
  }

  TestRandom random_;
  SessionWorld world_;
  PlacingOutcome outcome_;
  PlacingService service_;
  PlacingWire wire_;
  uint64_t sent_ = 0;
  bool ends_from_outside_ = false;
  bool stopped_ = false;
  const std::shared_ptr<ServerCore> core_ = std::make_shared<ServerCore>();
};

}  // namespace

PlacingOutcome RunPlacing(uint64_t seed) { return PlacingRun(seed).Go(); }

}  // namespace farcall
