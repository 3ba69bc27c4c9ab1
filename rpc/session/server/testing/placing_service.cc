// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/testing/placing_service.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/buffer/buffer.h"

namespace farcall {
namespace {

constexpr size_t kCanary = 24;
constexpr char kOwners = 'o';  // what the owner writes when it has its memory again
constexpr char kCanaryByte = '#';

uint64_t IdOf(const std::string& text) {
  uint64_t id = 0;
  Check(absl::SimpleAtoi(text, &id), "the message of a request is its id");
  return id;
}

}  // namespace

// Memory that was given for one request.
struct PlacingService::Given {
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

PlacingService::PlacingService(TestRandom& random, PlacingOutcome& outcome, WritesTo writes_to)
    : random_(random), outcome_(outcome), writes_to_(std::move(writes_to)) {}

std::string PlacingService::AttachmentOf(uint64_t id, size_t bytes) {
  TestRandom random(id * 31 + 7);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>('A' + random.Below(26));
  return text;
}

void PlacingService::Say(google::protobuf::RpcController* rpc, const one::Ping* request,
                         one::Ping* response, google::protobuf::Closure* done) {
  auto& controller = static_cast<Controller&>(*rpc);
  const uint64_t id = IdOf(request->text());
  if (runs_[id]++ > 0) outcome_.Violated("a handler ran twice");
  ++outcome_.handled;
  const Buffer& attachment = controller.request_attachment();
  if (attachment.ToString() != AttachmentOf(id, sizes_[id])) outcome_.Violated("other bytes came");
  for (const auto& given : given_) {
    if (given->id != id) continue;
    if (!given->ok) outcome_.Violated("a handler ran for what had failed");
    if (attachment.slices().front().view().data() != given->begin()) {
      outcome_.Violated("the attachment lies elsewhere");
    }
    ++outcome_.in_place;
    controller.request_attachment().Clear();
    given->TakeBack();
  }
  response->set_text(request->text());
  done->Run();
}

bool PlacingService::WantsMessage(const google::protobuf::MethodDescriptor&) const {
  return wants_message_;
}

void PlacingService::Place(const IncomingRequest& request, PlaceReply reply) {
  const uint64_t id = static_cast<uint64_t>(request.controller.log_id());
  if (wants_message_) {
    const auto* const ping = dynamic_cast<const one::Ping*>(request.message);
    if (ping == nullptr || IdOf(ping->text()) != id) outcome_.Violated("another message was shown");
  }
  if (request.attachment_bytes != sizes_[id]) outcome_.Violated("the placer got another size");
  if (random_.Chance(0.4)) {
    replies_.push_back({id, std::move(reply)});
  } else {
    Answer(id, std::move(reply));
  }
  if (random_.Chance(0.03)) throw std::runtime_error("on purpose");
}

void PlacingService::Answer(uint64_t id, PlaceReply reply) {
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

void PlacingService::End(Given& given, const absl::Status& how) {
  if (++given.ended > 1) outcome_.Violated("memory was given back twice");
  given.ok = how.ok();
  if (writes_to_(given.begin(), given.size)) {
    outcome_.Violated("memory is given that is written to");
  }
  if (how.ok()) {
    const absl::string_view bytes(given.begin(), sizes_[given.id]);
    if (bytes != AttachmentOf(given.id, bytes.size())) {
      outcome_.Violated("OK, and other bytes are there");
    }
    return;
  }
  if (runs_.count(given.id) > 0) outcome_.Violated("an error for what was handled");
  ++outcome_.failed;
  if (answering_) ++outcome_.late;
  given.TakeBack();
}

bool PlacingService::OnIncoming(const google::protobuf::MethodDescriptor&, Controller& controller,
                                size_t) {
  if (!random_.Chance(0.04)) return true;
  controller.SetFailed(778, "on purpose");
  return false;
}

bool PlacingService::OnRequest(const google::protobuf::MethodDescriptor&, Controller& controller,
                               const google::protobuf::Message&) {
  if (!random_.Chance(0.04)) return true;
  controller.SetFailed(779, "on purpose");
  return false;
}

void PlacingService::AnswerOne() {
  if (replies_.empty()) return;
  auto [id, reply] = std::move(replies_.front());
  replies_.pop_front();
  // A thread that holds no loop, as one of the service.
  Answer(id, std::move(reply));
}

void PlacingService::Look() {
  for (const auto& given : given_) {
    if (given->Spoilt()) outcome_.Violated("memory was written that no one may write");
  }
}

void PlacingService::LookAtEnd() {
  Look();
  for (const auto& given : given_) {
    if (given->ended != 1) outcome_.Violated("memory was not given back");
  }
}

}  // namespace farcall
