// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_CONNECTION_LINKED_STREAM_H_
#define FARCALL_TRANSPORT_LINK_CONNECTION_LINKED_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/buffer.h"
#include "transport/carrier/backlog_bound.h"
#include "transport/connection_info.h"
#include "transport/link/connection/link_settings.h"
#include "transport/link/connection/upgrader.h"
#include "transport/link/stream/bytes/piece_joiner.h"
#include "transport/link/stream/frames/frame_parts.h"
#include "transport/link/stream/stall_watch.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/loop/event_loop.h"
#include "transport/transport.h"

namespace farcall {

// A connection whose hello was accepted: drives a SwitchingStream over its lifeline and
// over what it is upgraded to. With the loop held.
//
// What it does for the stream it does at once; its handler is called from the loop's
// top level only. Output is written once a turn.
class LinkedStream final : private SwitchingStream::Output, private Flushable {
 public:
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
    // Another transport is in use, more or fewer rails are, or why_not() is another. Comes from
    // anywhere, and is put off.
    absl::AnyInvocable<void() const> on_change;
    // The last call, from anywhere. The status says why it is over: what Close was given, or what
    // broke.
    // Lifeline and generations may go.
    absl::AnyInvocable<void(const absl::Status&) const> on_end;
  };

  // Reading is paused.
  explicit LinkedStream(Parts parts);
  LinkedStream(const LinkedStream&) = delete;
  LinkedStream& operator=(const LinkedStream&) = delete;
  // Not from inside a callback of lifeline or generations.
  ~LinkedStream();

  // Who gets the bytes, and the place for them: OnRead, OnDrained and what asks for memory. Before
  // ResumeRead and Write, once.
  void Start(Connection::Handler& handler) { handler_ = &handler; }

  // The lifeline's Handler.
  size_t OnLifelineRead(Buffer& input);
  void OnLifelineDrained() { AfterEvent(); }
  void OnLifelineEnd(const absl::Status& why);

  // As those of Connection.
  void Write(Buffer&& data);
  void PauseRead();
  void ResumeRead();
  void Close(absl::Status why, CloseMode mode);
  size_t backlog() const { return ended_ ? 0 : stream_.backlog(); }
  void TrustPeer();
  // Adds what is known here to what the lifeline says of itself.
  void Describe(ConnectionInfo& info) const;

  bool on_rdma() const { return stream_.sending_on() != kLifeline; }
  // Another upgrade may come: neither end is closing.
  bool may_upgrade() const { return !closing_ && !stream_.ending(); }
  // Why not, while not.
  const absl::Status& why_not() const { return upgrader_->why(); }

 private:
  class Generation;
  // What generations did.
  struct Counts {
    void Add(const ConnectionInfo& info);

    uint64_t reads = 0;
    uint64_t writes = 0;
    RdmaUse messages;
    CopiedBytes copied;
  };

  // SwitchingStream::Output.
  void Send(LinkId link, Buffer&& frame) override;
  bool SendNow(LinkId link, absl::string_view head, const Buffer& payload) override;
  size_t Unsent(LinkId link) const override;
  void Deliver(Buffer&& bytes) override;
  void GiveUp(LinkId generation, const absl::Status& why) override;
  void ShutDownWriting() override;
  void Ended(const absl::Status& why) override;

  // linked_generations.cc: the connections under the lifeline.
  void AddGeneration(uint32_t number, std::unique_ptr<Connection> connection);
  // Null: it is not there, or was given up.
  Connection* FindGeneration(uint32_t number) const;
  void GiveUpAll(const absl::Status& why);
  void Bury(Generation& dead);
  bool AwaitsPlace();
  Buffer PlaceFor(const FrameParts& parts, size_t ahead, size_t bytes);
  // Those that wait for a place ask again; the time of the wait goes on.
  void GoOn();
  // Those that wait ask again, and the next wait has its full time.
  void EndWaitForPlace();
  void DescribeRails(ConnectionInfo& info) const;

  void Flush() override;
  void OnTime();
  void Arm();
  // Cuts a frame off the input, as CutLinkFrame.
  template <typename Cut>
  size_t ReadFrames(LinkId link, Buffer& input, Cut cut);
  size_t OnGenerationRead(uint32_t number, FrameParts& parts, Buffer& input);
  void OnLifelineFrame(const LinkFrame& frame);
  void AfterEvent();
  void AfterBytes();
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
  Connection::Handler* handler_ = nullptr;
  SwitchingStream stream_;
  // In use, or given up and not ended yet.
  std::vector<std::unique_ptr<Generation>> generations_;
  Counts buried_;  // of those that have ended
  std::unique_ptr<Upgrader> upgrader_;

  Buffer input_;  // delivered, and not taken by the handler
  PieceJoiner joiner_;
  bool trusted_ = false;
  // Since the last Flush more has happened than that bytes came on a generation or were written:
  // the upgrader, the link in use and all times are looked at again.
  bool eventful_ = true;
  TimePoint flushed_;  // when Flush was called last
  bool paused_ = true;
  bool input_due_ = false;              // OnRead is due
  std::optional<TimePoint> place_due_;  // until then the handler is waited for
  BacklogBound written_;
  bool above_high_ = false;
  bool closing_ = false;       // by Close
  bool shut_ = false;          // the stream is done, but for the lifeline's end
  bool ended_ = false;         // so is the lifeline
  bool end_notified_ = false;  // on_end was called
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
