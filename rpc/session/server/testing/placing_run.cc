// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/testing/placing_run.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "rpc/attachment_placer.h"
#include "rpc/dispatch/test_services.pb.h"
#include "rpc/interceptor.h"
#include "rpc/session/server/server_session.h"
#include "rpc/session/server/testing/placing_wire.h"
#include "rpc/wire/pack.h"
#include "transport/base/check.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

constexpr int kRequests = 6;
constexpr int kActions = 200;
constexpr size_t kLargest = 2000;
constexpr size_t kCanary = 24;
constexpr char kOwners = 'o';  // what the owner writes when it has its memory again
constexpr char kCanaryByte = '#';
constexpr int kMaxTurns = 5000;

std::string AttachmentOf(uint64_t id, size_t bytes) {
  TestRandom random(id * 31 + 7);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>('A' + random.Below(26));
  return text;
}

// Memory that the service gave for one request.
struct Given {
  Given(uint64_t of, size_t bytes) : id(of), size(bytes), arena(bytes + 2 * kCanary, kCanaryByte) {}

  char* begin() { return arena.data() + kCanary; }
  void TakeBack() {
    back = true;
    std::fill_n(begin(), size, kOwners);
  }
  bool Spoilt() const {
    const absl::string_view all = arena;
    const auto only = [](absl::string_view part, char c) {
      return part.find_first_not_of(c) == absl::string_view::npos;
    };
    if (!only(all.substr(0, kCanary), kCanaryByte)) return true;
    if (!only(all.substr(kCanary + size), kCanaryByte)) return true;
    return back && !only(all.substr(kCanary, size), kOwners);
  }

  const uint64_t id;
  const size_t size;
  std::string arena;
  int ended = 0;
  bool ok = false;
  bool back = false;
};

class PlacingRun final : public one::Lone, private AttachmentPlacer, private ServerInterceptor {
 public:
  explicit PlacingRun(uint64_t seed) : random_(seed), wire_(*world_.loop) {
    core_->parts = world_.parts;
    Check(core_->services.Add(*this, this).ok(), "a service is added");
    core_->options.max_concurrency_per_connection = static_cast<int>(random_.Size(4));
    core_->options.interceptors.push_back(
        std::shared_ptr<ServerInterceptor>(static_cast<ServerInterceptor*>(this), [](auto*) {}));
    if (random_.Chance(0.3)) core_->limit.Set(static_cast<int>(random_.Size(3)));
    ends_from_outside_ = random_.Chance(0.5);
    wants_message_ = random_.Chance(0.5);
  }

  PlacingOutcome Go() {
    Held([&] { ServerSession::Accept(core_, *world_.loop, wire_.Connect(*world_.pool)); });
    for (int i = 0; i < kRequests; ++i) Send();
    for (int i = 0; i < kActions && outcome_.violation.empty(); ++i) Act();
    Finish();
    return outcome_;
  }

 private:
  // --- The service.

  void Say(google::protobuf::RpcController* rpc, const one::Ping* request, one::Ping* response,
           google::protobuf::Closure* done) override {
    auto& controller = static_cast<Controller&>(*rpc);
    const uint64_t id = IdOf(request->text());
    if (runs_[id]++ > 0) Violation("a handler ran twice");
    ++outcome_.handled;
    const Buffer& attachment = controller.request_attachment();
    if (attachment.ToString() != AttachmentOf(id, sizes_[id])) Violation("other bytes came");
    for (const auto& given : given_) {
      if (given->id != id) continue;
      if (!given->ok) Violation("a handler ran for what had failed");
      if (attachment.slices().front().view().data() != given->begin()) {
        Violation("the attachment lies elsewhere");
      }
      ++outcome_.in_place;
      controller.request_attachment().Clear();
      given->TakeBack();
    }
    response->set_text(request->text());
    done->Run();
  }
  bool WantsMessage(const google::protobuf::MethodDescriptor&) const override {
    return wants_message_;
  }
  void Place(const IncomingRequest& request, PlaceReply reply) override {
    const uint64_t id = static_cast<uint64_t>(request.controller.log_id());
    if (wants_message_) {
      const auto* const ping = dynamic_cast<const one::Ping*>(request.message);
      if (ping == nullptr || IdOf(ping->text()) != id) Violation("another message was shown");
    }
    if (request.attachment_bytes != sizes_[id]) Violation("the placer got another size");
    if (random_.Chance(0.4)) {
      replies_.push_back({id, std::move(reply)});
    } else {
      Answer(id, std::move(reply));
    }
    if (random_.Chance(0.03)) throw std::runtime_error("on purpose");
  }
  void Answer(uint64_t id, PlaceReply reply) {
    const uint64_t dice = random_.Below(20);
    if (dice < 1) return reply.Refuse(777, "on purpose");
    if (dice < 3) return;  // as Pool()
    if (dice < 5) return reply.Pool();
    const size_t size = dice < 6 ? std::max<size_t>(1, sizes_[id] - 1) : sizes_[id] + dice % 3;
    auto given = std::make_shared<Given>(id, size);
    given_.push_back(given);
    Buffer memory;
    for (size_t at = 0; at < size;) {
      const size_t piece = std::min(size - at, random_.Size(200));
      memory.AppendUserData(given->begin() + at, piece, nullptr);
      at += piece;
    }
    const bool inside = std::exchange(answering_, true);
    reply.Memory(std::move(memory), [this, given](const absl::Status& how) { End(*given, how); });
    answering_ = inside;
  }
  void End(Given& given, const absl::Status& how) {
    if (++given.ended > 1) Violation("memory was given back twice");
    given.ok = how.ok();
    if (wire_.WritesTo(given.begin(), given.size)) Violation("memory is given that is written to");
    if (how.ok()) {
      const absl::string_view bytes(given.begin(), sizes_[given.id]);
      if (bytes != AttachmentOf(given.id, bytes.size())) Violation("OK, and other bytes are there");
      return;
    }
    if (runs_.count(given.id) > 0) Violation("an error for what was handled");
    ++outcome_.failed;
    if (answering_) ++outcome_.late;
    given.TakeBack();
  }
  bool OnIncoming(const google::protobuf::MethodDescriptor&, Controller& controller,
                  size_t) override {
    if (!random_.Chance(0.04)) return true;
    controller.SetFailed(778, "on purpose");
    return false;
  }
  bool OnRequest(const google::protobuf::MethodDescriptor&, Controller& controller,
                 const google::protobuf::Message&) override {
    if (!random_.Chance(0.04)) return true;
    controller.SetFailed(779, "on purpose");
    return false;
  }

  // --- The client and the world.

  static uint64_t IdOf(const std::string& text) {
    uint64_t id = 0;
    Check(absl::SimpleAtoi(text, &id), "the message of a request is its id");
    return id;
  }
  void Send() {
    const uint64_t id = ++sent_;
    sizes_[id] = random_.Chance(0.15) ? 0 : random_.Size(kLargest);
    wire::RpcMeta meta;
    meta.mutable_request()->set_service_name("farcall.one.Lone");
    meta.mutable_request()->set_method_name("Say");
    meta.mutable_request()->set_log_id(static_cast<int64_t>(id));
    if (random_.Chance(0.5)) meta.mutable_request()->set_timeout_ms(1 + id % 5);
    meta.set_correlation_id(static_cast<int64_t>(id));
    one::Ping ping;
    ping.set_text(absl::StrCat(id));
    const std::string attachment = AttachmentOf(id, sizes_[id]);
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
      AnswerOne();
    } else if (dice < 90) {
      world_.clock.Advance(milliseconds(random_.Below(3)));
    } else if (dice < 97) {
      Held([&] { wire_.GiveUpGeneration(); });
    } else if (ends_from_outside_) {
      if (dice < 98) return Stop();
      Held([&] {
        // An answer is on its way then.
        if (random_.Chance(0.5)) AnswerOne();
        wire_.End(absl::UnavailableError("closed by peer"));
      });
    }
    Look();
  }
  void AnswerOne() {
    if (replies_.empty()) return;
    auto [id, reply] = std::move(replies_.front());
    replies_.pop_front();
    // A thread that holds no loop, as one of the service.
    Answer(id, std::move(reply));
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
  void Look() {
    for (const auto& given : given_) {
      if (given->Spoilt()) Violation("memory was written that no one may write");
    }
  }
  void Violation(absl::string_view what) {
    if (outcome_.violation.empty()) outcome_.violation = std::string(what);
  }
  // All bytes come, all devices end, all placers answer.
  void Finish() {
    for (int i = 0; i < kMaxTurns && !(wire_.idle() && replies_.empty() && !world_.loop->RunOnce());
         ++i) {
      AnswerOne();
      Held([&] { wire_.Step(random_); });
      Turn();
      Look();
    }
    world_.Run();
    if (!wire_.closed() && !stopped_ && wire_.TakeFrames() != sent_) {
      Violation("not all that was sent was answered");
    }
    Held([&] { wire_.End(absl::UnavailableError("closed by peer")); });
    world_.Run();
    if (core_->connections.count() + core_->running.count() + core_->unanswered.count() > 0) {
      Violation(absl::StrCat("under way for ever: ", core_->connections.count(), " connections, ",
                             core_->running.count(), " that run, ", core_->unanswered.count(),
                             " without an answer; stopped: ", stopped_));
    }
    Look();
    for (const auto& given : given_) {
      if (given->ended != 1) Violation("memory was not given back");
    }
    outcome_.landed = wire_.landed();
    outcome_.held = wire_.held_at_end();
    if (core_.use_count() != 1) Violation("something holds the server for ever");
  }

  TestRandom random_;
  SessionWorld world_;
  PlacingOutcome outcome_;
  std::vector<std::shared_ptr<Given>> given_;
  PlacingWire wire_;
  std::map<uint64_t, size_t> sizes_;
  std::map<uint64_t, int> runs_;
  std::deque<std::pair<uint64_t, PlaceReply>> replies_;
  uint64_t sent_ = 0;
  bool ends_from_outside_ = false;
  bool wants_message_ = false;
  bool stopped_ = false;
  bool answering_ = false;
  const std::shared_ptr<ServerCore> core_ = std::make_shared<ServerCore>();
};

}  // namespace

PlacingOutcome RunPlacing(uint64_t seed) { return PlacingRun(seed).Go(); }

}  // namespace farcall
