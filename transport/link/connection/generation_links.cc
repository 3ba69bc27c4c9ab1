// SPDX-License-Identifier: Apache-2.0

#include "transport/link/connection/generation_links.h"

#include <algorithm>
#include <utility>

namespace farcall {

class GenerationLinks::Link final : public Connection::Handler {
 public:
  Link(GenerationLinks& links, uint32_t generation, std::unique_ptr<Connection> connection)
      : links_(links), generation_(generation), connection_(std::move(connection)) {}

  uint32_t generation() const { return generation_; }
  Connection& connection() const { return *connection_; }
  bool given_up() const { return given_up_; }
  void GiveUp(const absl::Status& why) {
    if (std::exchange(given_up_, true)) return;
    connection_->Close(why, CloseMode::kAbort);
  }

  size_t OnRead(Buffer& input) override {
    if (given_up_) return 0;
    const size_t needed = links_.user_.OnGenerationRead(generation_, parts_, input);
    unread_ = input.size();
    return needed;
  }
  Buffer PlaceFor(size_t ahead, size_t bytes) override {
    // The header of their frame says where the bytes stand in the stream.
    if (given_up_ || unread_ > 0 || ahead >= parts_.left()) return {};
    if (links_.user_.GenerationAwaitsPlace()) {
      waits_ = true;
      connection_->PauseRead();
      return {};
    }
    return links_.user_.GenerationPlace(parts_, ahead, std::min(bytes, parts_.left() - ahead));
  }
  std::shared_ptr<void> HoldPlace() override { return links_.user_.HoldGenerationPlace(); }
  void GoOn() {
    if (std::exchange(waits_, false) && !given_up_) connection_->ResumeRead();
  }
  void OnDrained() override {
    if (!given_up_) links_.user_.OnGenerationDrained();
  }
  void OnClose(const absl::Status& why) override {
    GenerationLinks& links = links_;
    const uint32_t generation = generation_;
    const absl::Status reason = why;
    const bool first = !std::exchange(given_up_, true);
    links.Bury(*this);
    if (first) links.user_.OnGenerationEnd(generation, reason);
  }

 private:
  GenerationLinks& links_;
  const uint32_t generation_;
  const std::unique_ptr<Connection> connection_;
  bool given_up_ = false;
  FrameParts parts_;
  size_t unread_ = 0;   // bytes left in the input
  bool waits_ = false;  // reading has paused until GoOn
};

GenerationLinks::GenerationLinks(User& user) : user_(user) {}
GenerationLinks::~GenerationLinks() = default;

void GenerationLinks::Add(uint32_t generation, std::unique_ptr<Connection> connection) {
  links_.push_back(std::make_unique<Link>(*this, generation, std::move(connection)));
  links_.back()->connection().Start(*links_.back());
}

Connection* GenerationLinks::Find(uint32_t generation) const {
  for (const auto& link : links_) {
    if (link->generation() == generation && !link->given_up()) return &link->connection();
  }
  return nullptr;
}

void GenerationLinks::GiveUp(uint32_t generation, const absl::Status& why) {
  for (const auto& link : links_) {
    if (link->generation() == generation) return link->GiveUp(why);
  }
}

void GenerationLinks::GiveUpAll(const absl::Status& why) {
  for (const auto& link : links_) link->GiveUp(why);
}

void GenerationLinks::TrustPeer() {
  for (const auto& link : links_) link->connection().TrustPeer();
}

void GenerationLinks::GoOn() {
  for (const auto& link : links_) link->GoOn();
}

void GenerationLinks::AddCounters(ConnectionInfo& info) const {
  info.reads += reads_;
  info.writes += writes_;
  info.rdma.AddMessages(messages_);
  info.copied += copied_;
  for (const auto& link : links_) {
    const ConnectionInfo of_link = link->connection().info();
    info.reads += of_link.reads;
    info.writes += of_link.writes;
    info.rdma.AddMessages(of_link.rdma);
    info.copied += of_link.copied;
  }
}

void GenerationLinks::Bury(Link& dead) {
  const ConnectionInfo info = dead.connection().info();
  reads_ += info.reads;
  writes_ += info.writes;
  messages_.AddMessages(info.rdma);
  copied_ += info.copied;
  std::erase_if(links_, [&](const auto& link) { return link.get() == &dead; });
}

}  // namespace farcall
