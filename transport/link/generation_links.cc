// SPDX-License-Identifier: Apache-2.0

#include "transport/link/generation_links.h"

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
    return given_up_ ? 0 : links_.user_.OnGenerationRead(generation_, input);
  }
  void OnDrained() override {
    if (!given_up_) links_.user_.OnGenerationDrained();
  }
  void OnClose(const absl::Status& why) override {
    GenerationLinks& links = links_;
    const uint32_t generation = generation_;
    const absl::Status told = why;
    const bool news = !std::exchange(given_up_, true);
    links.Bury(*this);
    if (news) links.user_.OnGenerationEnd(generation, told);
  }

 private:
  GenerationLinks& links_;
  const uint32_t generation_;
  const std::unique_ptr<Connection> connection_;
  bool given_up_ = false;
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

void GenerationLinks::AddCounters(ConnectionInfo& info) const {
  info.reads += reads_;
  info.writes += writes_;
  for (const auto& link : links_) {
    const ConnectionInfo of_link = link->connection().info();
    info.reads += of_link.reads;
    info.writes += of_link.writes;
  }
}

void GenerationLinks::Bury(Link& dead) {
  const ConnectionInfo info = dead.connection().info();
  reads_ += info.reads;
  writes_ += info.writes;
  std::erase_if(links_, [&](const auto& link) { return link.get() == &dead; });
}

}  // namespace farcall
