// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_CONNECTION_LINKED_STREAM_H_
#define FARCALL_TRANSPORT_LINK_CONNECTION_LINKED_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/backlog_bound.h"
#include "transport/buffer/buffer.h"
#include "transport/connection_info.h"
#include "transport/link/connection/generation_links.h"
#include "transport/link/connection/link_settings.h"
#include "transport/link/connection/upgrader.h"
#include "transport/link/stream/piece_joiner.h"
#include "transport/link/stream/stall_watch.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/loop/event_loop.h"
#include "transport/transport.h"

namespace farcall {

// A connection whose hello was accepted: drives a SwitchingStream over its lifeline and
// over what it is upgraded to. With the loop held.
//
// What it does for the stream it does at once; what it tells its User comes from the loop's
// top level only (OnInput, OnLowWater), or comes from anywhere and must be put off
// (OnEnded, OnChanged). Output is written once a turn.
class LinkedStream final : private SwitchingStream::Output,
                           private GenerationLinks::User,
                           private Upgrader::User,
                           private Flushable {
 public:
  class User {
   public:
    // `input` has more bytes, or was left when reading was paused.
    virtual void OnInput(Buffer& input) = 0;
    // As Connection::Handler.
    virtual Buffer InputPlace(size_t ahead, size_t bytes) = 0;
    virtual std::shared_ptr<void> HoldInputPlace() = 0;
    virtual bool InputAwaitsPlace() const = 0;
    virtual void OnLowWater() = 0;
    // The last call: `why` is what Close was given, or what broke. Lifeline and generations
    // may go.
    virtual void OnEnded(const absl::Status& why) = 0;
    // Another transport is in use, more or fewer rails are, or why() is another.
    virtual void OnChanged() = 0;

   protected:
    ~User() = default;
  };
  struct Parts {
    EventLoop& loop;
    Connection& lifeline;  // started; outlives it
    LinkRole role;
    std::shared_ptr<const LinkSettings> settings;
    ConnectionOptions options;
    Introduction introduction;
    size_t peer_window;  // bytes, what the peer takes
    uint32_t rails;      // as agreed
    std::string peer;    // for messages
    std::string log_name;
    User& user;  // outlives it
  };

  // Reading is paused.
  explicit LinkedStream(const Parts& parts);
  LinkedStream(const LinkedStream&) = delete;
  LinkedStream& operator=(const LinkedStream&) = delete;
  // Not from inside a callback of lifeline or generations.
  ~LinkedStream();

  // The lifeline's Handler.
  size_t OnLifelineRead(Buffer& input);
  void OnLifelineDrained() { AfterEvent(); }
  void OnLifelineEnd(const absl::Status& why);

  // As those of Connection.
  void Write(Buffer&& data);
  void PauseRead();
  void ResumeRead();
  void Close(absl::Status why, CloseMode mode);
  size_t backlog() const;
  void TrustPeer();
  // Adds what is known here to what the lifeline says of itself.
  void Describe(ConnectionInfo& info) const;

  bool on_rdma() const { return stream_.sending_on() != kLifeline; }
  // Another upgrade may come: neither end is closing.
  bool may_upgrade() const { return !closing_ && !stream_.ending(); }
  // Why not, while not.
  const absl::Status& why_not() const { return upgrader_->why(); }

 private:
  // SwitchingStream::Output.
  void Send(LinkId link, Buffer&& frame) override;
  size_t Unsent(LinkId link) const override;
  void Deliver(Buffer&& bytes) override;
  void GiveUp(LinkId generation, const absl::Status& why) override;
  void ShutDownWriting() override;
  void Ended(const absl::Status& why) override;
  // GenerationLinks::User.
  size_t OnGenerationRead(uint32_t generation, FrameParts& parts, Buffer& input) override;
  Buffer GenerationPlace(const FrameParts& parts, size_t ahead, size_t bytes) override;
  std::shared_ptr<void> HoldGenerationPlace() override { return parts_.user.HoldInputPlace(); }
  bool GenerationAwaitsPlace() override;
  void OnGenerationDrained() override { AfterEvent(); }
  void OnGenerationEnd(uint32_t generation, const absl::Status& why) override;
  // Upgrader::User.
  void OnUpgraded(uint32_t generation, std::unique_ptr<Connection> connection) override;
  void OnUpgraderEvent() override { AfterEvent(); }

  void DescribeRails(ConnectionInfo& info) const;
  void Flush() override;
  void OnTime();
  void Arm();
  // Cuts a frame off the input, as CutLinkFrame.
  using Cut = absl::FunctionRef<absl::StatusOr<size_t>(Buffer&, LinkFrame&)>;
  size_t ReadFrames(LinkId link, Buffer& input, Cut cut);
  void AfterEvent();
  void NotifyInput();
  void NotifyDrained();
  void NotifyChange();
  void NotifySwitch(LinkId now);
  void NotifyEnd();
  void WatchForStall();
  void ReportStall(StallWatch::Change change);
  absl::Status Cause(const absl::Status& why) const;

  const Parts parts_;
  EventLoop& loop_;
  SwitchingStream stream_;
  GenerationLinks generations_{*this};
  std::unique_ptr<Upgrader> upgrader_;

  Buffer input_;  // delivered, and not taken by the handler
  PieceJoiner joiner_;
  bool trusted_ = false;
  bool paused_ = true;
  bool input_due_ = false;              // OnInput is due
  std::optional<TimePoint> place_due_;  // until then a handler that has paused is waited for
  BacklogBound written_;
  bool above_high_ = false;
  bool closing_ = false;       // by Close
  bool shut_ = false;          // the stream is done, but for the lifeline's end
  bool ended_ = false;         // so is the lifeline
  bool end_notified_ = false;  // OnEnded was called
  absl::Status close_why_;     // once closing_
  absl::Status end_why_;       // once ended_
  LinkId notified_link_ = kLifeline;
  size_t told_rails_ = 0;
  uint64_t upgrades_ = 0;
  uint64_t fallbacks_ = 0;
  WhyNotRdma last_fallback_ = WhyNotRdma::kInUse;
  absl::Status told_why_;
  uint64_t read_ = 0;
  StallWatch stall_;
  Timer timer_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_CONNECTION_LINKED_STREAM_H_
