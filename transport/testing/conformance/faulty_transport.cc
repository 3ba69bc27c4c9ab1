// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/conformance/faulty_transport.h"

#include <utility>

#include "transport/testing/conformance/faulty_connection.h"

namespace farcall {
namespace {

// Stays open when it is closed, until it dies.
class OpenListener final : public Listener {
 public:
  explicit OpenListener(std::unique_ptr<Listener> inner) : inner_(std::move(inner)) {}

  const Address& address() const override { return inner_->address(); }
  void Close() override {}

 private:
  const std::unique_ptr<Listener> inner_;
};

}  // namespace

void FaultyConnection::Start(Handler& handler) {
  handler_ = &handler;
  inner_->Start(*this);
}

void FaultyConnection::Write(Buffer data) {
  if (inner_->backlog() == 0) written_ = 0;
  written_ += data.size();
  inner_->Write(std::move(data));
}

size_t FaultyConnection::backlog() const {
  const size_t backlog = inner_->backlog();
  if (fault_ == PlantedFault::kCountsItsFrames && backlog > 0) return backlog + 24;
  return fault_ == PlantedFault::kCountsWhatLeft && backlog > 0 ? written_ : backlog;
}

void FaultyConnection::PauseRead() {
  if (fault_ != PlantedFault::kReadsWhilePaused) inner_->PauseRead();
}

void FaultyConnection::Close(absl::Status why, CloseMode mode) {
  if (fault_ == PlantedFault::kForgetsTheFlush) mode = CloseMode::kAbort;
  inner_->Close(why, mode);
  if (fault_ == PlantedFault::kReadsAfterClose && !std::exchange(called_, true)) {
    Buffer late(absl::string_view("late"));
    handler_->OnRead(late);
  }
  // Destroyed here, this must not be touched any more.
  if (fault_ == PlantedFault::kCallsBackAtOnce && !std::exchange(called_, true)) {
    handler_->OnClose(why);
  }
}

size_t FaultyConnection::OnRead(Buffer& input) {
  if (fault_ == PlantedFault::kWritesLate && late_ != nullptr) *late_ = 'w';
  late_ = std::exchange(landed_, nullptr);
  if (fault_ == PlantedFault::kDropsAByte && input.size() > 100) input.RemoveFront(1);
  if (fault_ == PlantedFault::kKeepsABlock && kept_.empty()) kept_ = input.Share();
  if (fault_ != PlantedFault::kSwapsReads) return handler_->OnRead(input);
  if (held_.empty()) {
    held_ = input.CutFront(input.size());
    return 0;
  }
  given_.Append(input.CutFront(input.size()));
  given_.Append(std::exchange(held_, Buffer()));
  return handler_->OnRead(given_);
}

Buffer FaultyConnection::PlaceFor(size_t ahead, size_t bytes) {
  if (fault_ == PlantedFault::kLandsElsewhere) return handler_->PlaceFor(ahead + 1, bytes);
  Buffer target = handler_->PlaceFor(ahead, bytes);
  if (!target.empty()) {
    const Buffer::Slice& first = target.slices()[0];
    landed_ = first.block->bytes() + first.offset;
  }
  return target;
}

void FaultyConnection::OnDrained() {
  if (fault_ != PlantedFault::kNeverDrains) handler_->OnDrained();
}

void FaultyConnection::OnClose(const absl::Status& why) {
  if (fault_ == PlantedFault::kCallsBackAtOnce && called_) return;
  Handler& handler = *handler_;
  const bool twice = fault_ == PlantedFault::kClosesTwice;
  const absl::Status reason = why;
  // The handler may destroy this.
  handler.OnClose(reason);
  if (twice) handler.OnClose(reason);
}

void FaultyTransport::Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
                              OnConnect done) {
  if (fault_ == PlantedFault::kConnectsInside) {
    done(absl::UnavailableError("cannot connect"));
    return;
  }
  inner_.Connect(loop, peer, options,
                 [this, done = std::move(done)](
                     absl::StatusOr<std::unique_ptr<Connection>> connection) mutable {
                   if (!connection.ok()) return done(std::move(connection));
                   done(std::make_unique<FaultyConnection>(*std::move(connection), fault_, kept_));
                 });
}

absl::StatusOr<std::unique_ptr<Listener>> FaultyTransport::Listen(LoopGroup& loops,
                                                                  const Address& address,
                                                                  const ListenOptions& options,
                                                                  OnAccept on_accept) {
  auto listener = inner_.Listen(
      loops, address, options,
      [this, on_accept = std::move(on_accept)](EventLoop& loop,
                                               std::unique_ptr<Connection> connection) {
        on_accept(loop, std::make_unique<FaultyConnection>(std::move(connection), fault_, kept_));
      });
  if (!listener.ok() || fault_ != PlantedFault::kAcceptsAfterClose) return listener;
  return std::make_unique<OpenListener>(*std::move(listener));
}

}  // namespace farcall
