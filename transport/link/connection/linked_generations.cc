// SPDX-License-Identifier: Apache-2.0
//
// The RDMA connections under a LinkedStream, and what it tells of itself.

#include <algorithm>
#include <utility>

#include "transport/link/connection/linked_generation.h"
#include "transport/link/connection/linked_stream.h"
#include "transport/link/stream/rails/progress_watch.h"
#include "transport/why_not_rdma.h"

namespace farcall {

void LinkedStream::AddGeneration(uint32_t number, std::unique_ptr<Connection> connection) {
  if (!stream_.Alive(number)) return;
  generations_.push_back(std::make_unique<Generation>(*this, number, std::move(connection)));
  generations_.back()->connection().Start(*generations_.back());
  stream_.OnGenerationReady(number);
}

Connection* LinkedStream::FindGeneration(uint32_t number) const {
  for (const auto& one : generations_) {
    if (one->number() == number && !one->given_up()) return &one->connection();
  }
  return nullptr;
}

void LinkedStream::Send(LinkId link, Buffer&& frame) {
  if (link == kLifeline) return parts_.lifeline.Write(std::move(frame));
  if (Connection* const generation = FindGeneration(link)) generation->Write(std::move(frame));
}

bool LinkedStream::SendNow(LinkId link, absl::string_view head, const Buffer& payload) {
  Connection* const generation = link == kLifeline ? nullptr : FindGeneration(link);
  return generation != nullptr && generation->SendNow(head, payload);
}

size_t LinkedStream::Unsent(LinkId link) const {
  if (link == kLifeline) return parts_.lifeline.backlog();
  const Connection* const generation = FindGeneration(link);
  return generation == nullptr ? 0 : generation->backlog();
}

void LinkedStream::GiveUp(LinkId generation, const absl::Status& why) {
  eventful_ = true;
  const absl::Status reason = NotRdma(ReasonOf(why), DetailOf(why));
  for (const auto& one : generations_) {
    if (one->number() == generation) one->GiveUp(reason);
  }
  upgrader_->OnGivenUp(generation, reason);
}

void LinkedStream::GiveUpAll(const absl::Status& why) {
  for (const auto& one : generations_) one->GiveUp(why);
}

// From inside its OnClose.
void LinkedStream::Bury(Generation& dead) {
  buried_.Add(dead.connection().info());
  std::erase_if(generations_, [&](const auto& one) { return one.get() == &dead; });
}

void LinkedStream::TrustPeer() {
  trusted_ = true;
  for (const auto& one : generations_) one->connection().TrustPeer();
  upgrader_->TrustPeer();
  eventful_ = true;
  if (!end_notified_) loop_.FlushLater(*this);
}

// Whether it is too early to ask the handler for a place: it waits for one, or sees in a moment
// what came before. GoOn follows. Shorter than what makes the peer suspect the rail: it asks for
// the first time StillPing after it has sent, and counts SuspectAfter from the answer on.
bool LinkedStream::AwaitsPlace() {
  const Duration timeout = SuspectAfter(parts_.settings->options.stream);
  if (closing_ || end_notified_ || handler_ == nullptr) return false;
  const bool awaits = paused_ ? !input_due_ && handler_->AwaitsPlace() : input_due_;
  if (!awaits) return false;
  if (!place_due_) {
    place_due_ = loop_.now() + timeout;
    eventful_ = true;
    loop_.FlushLater(*this);
  }
  return loop_.now() < *place_due_;
}

// A place for bytes of the DATA frame that was begun, [ahead, ahead + bytes) of what is left of it,
// or of fewer.
Buffer LinkedStream::PlaceFor(const FrameParts& parts, size_t ahead, size_t bytes) {
  // To a handler that has seen all that it could. On others of several rails there may be bytes in
  // front of these.
  if (paused_ || input_due_ || closing_ || end_notified_ || parts.offset() < stream_.received())
    return {};
  const uint64_t before = parts.offset() - stream_.received();
  if (before > 0 && parts_.rails == 1) return {};
  return handler_->PlaceFor(before + ahead, bytes);
}

void LinkedStream::GoOn() {
  for (const auto& one : generations_) one->GoOn();
}

void LinkedStream::EndWaitForPlace() {
  place_due_.reset();
  GoOn();
}

void LinkedStream::Counts::Add(const ConnectionInfo& info) {
  reads += info.reads;
  writes += info.writes;
  messages.AddMessages(info.rdma);
  copied += info.copied;
}

void LinkedStream::Describe(ConnectionInfo& info) const {
  info.bytes_read = read_;
  info.bytes_written = stream_.sent();
  Counts counts = buried_;
  for (const auto& one : generations_) counts.Add(one->connection().info());
  info.reads += counts.reads;
  info.writes += counts.writes;
  info.rdma.AddMessages(counts.messages);
  info.copied += counts.copied;
  info.rdma.upgrades = upgrades_;
  info.rdma.fallbacks = fallbacks_;
  info.rdma.last_fallback = last_fallback_;
  const Connection* const generation = FindGeneration(stream_.sending_on());
  if (on_rdma() && generation != nullptr) {
    info.transport = TransportKind::kRdma;
    info.why_not_rdma = WhyNotRdma::kInUse;
    const ConnectionInfo of_generation = generation->info();
    info.device = of_generation.device;
    info.device_port = of_generation.device_port;
    info.device_why = of_generation.device_why;
    info.set_up = of_generation.set_up;
    info.rdma.generation = stream_.sending_on();
    info.rdma.credits = of_generation.rdma.credits;
    info.rdma.fetches = of_generation.rdma.fetches;
    info.rdma.reads = of_generation.rdma.reads;
    if (parts_.rails > 1) DescribeRails(info);
    return;
  }
  info.why_not_rdma = ReasonOf(why_not());
  info.why_detail = DetailOf(why_not());
}

void LinkedStream::DescribeRails(ConnectionInfo& info) const {
  uint64_t bytes = 0;
  for (const auto& rail : stream_.rails().all()) {
    const Connection* const generation = FindGeneration(rail->number());
    if (generation == nullptr) continue;
    const ConnectionInfo of_rail = generation->info();
    info.rails.push_back({.generation = rail->number(),
                          .device = of_rail.device,
                          .port = of_rail.device_port,
                          .bytes_out = rail->flight().sent()});
    bytes += rail->flight().sent();
  }
  for (RailInfo& rail : info.rails) {
    if (bytes > 0) rail.share = static_cast<double>(rail.bytes_out) / static_cast<double>(bytes);
  }
}

}  // namespace farcall
