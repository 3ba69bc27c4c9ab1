// SPDX-License-Identifier: Apache-2.0
//
// SwitchingStream: one stream of bytes in each direction, over a TCP connection (the
// lifeline, which is always there) and over successive RDMA connections under it
// (generations 1, 2, ...). Each side sends on the one or the other; both may change
// that at any time, together or alone, and no byte is lost, doubled or reordered.
//
// What makes it safe is one local rule: byte k of a direction comes only from a frame that
// covers offset k, and bytes at an offset never change. Mistakes in switching can cost
// time or bytes sent twice, never content.
//
// The link that a direction is sent on:
//
//              a generation is ready here, above every dead one
//     TCP  ------------------------------------------------------>  GENERATION G
//      ^                                                                 |
//      |    G is given up: error, failed set-up, no progress for a       |
//      |    time, or RESUME(>= G) was read. Go on at what was            |
//      +--  acknowledged, or where RESUME says. Send RESUME(G) once.  ---+
//
// How it ends:
//
//            CloseAfterFlush, or all           own bytes acknowledged,      end of the
//            up to the peer's BYE is here      peer's bytes all here        lifeline
//    OPEN --------------------------> BYE SENT --------------------> SHUT ----------> ENDED
//      |                                 |    last ACK, half-close               ^
//      +-- the lifeline breaks, the peer is silent or breaks a rule, Abort ------+
//
// Where both ends have agreed on several rails (StreamLimits::rails), a direction is sent on all
// generations that are ready, and on TCP if there is none. One that is given up ends alone: what
// was in flight on it goes out again on the others. RAIL_ACKs tell what has come by each.
//
// Pure: frames, events and the time go in, frames and orders come out by Output. After any
// call that is not const, and before the loop's turn ends, call Flush; after that, see that
// OnTimer will be called at NextTimer (an earlier call does no harm: so leave a timer that
// is armed for an earlier time as it is).

#ifndef FARCALL_TRANSPORT_LINK_STREAM_SWITCHING_STREAM_H_
#define FARCALL_TRANSPORT_LINK_STREAM_SWITCHING_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/base/time.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/carrier/framed_backlog.h"
#include "transport/link/stream/bytes/early_bytes.h"
#include "transport/link/stream/bytes/receive_side.h"
#include "transport/link/stream/bytes/send_side.h"
#include "transport/link/stream/frames/frame.h"
#include "transport/link/stream/rails/generations.h"
#include "transport/link/stream/rails/lifeline_watch.h"
#include "transport/link/stream/rails/rails.h"
#include "transport/link_options.h"

namespace farcall {

// kLifeline, or the number of a generation.
using LinkId = uint32_t;
inline constexpr LinkId kLifeline = 0;

// Whether a frame is the business of who sets generations up, not of the stream.
bool IsUpgrade(LinkFrameType type);

struct StreamStats {
  uint64_t upgrades = 0;       // changes from the lifeline to a generation
  uint64_t fallbacks = 0;      // and back
  uint64_t resent_bytes = 0;   // sent more than once
  uint64_t dropped_bytes = 0;  // received more than once
  uint64_t pings = 0;          // sent
};

class SwitchingStream {
 public:
  // What the driver of a stream does for it. Called from inside the stream's methods; calls
  // nothing of the stream from there, but for GiveUp. None fails: what breaks comes as an event.
  class Output {
   public:
    // Queues `frame` on `link`, behind what was queued there.
    virtual void Send(LinkId link, Buffer&& frame) = 0;
    // Instead of that, as Connection::SendNow: without a Buffer for a small frame. False: not done.
    virtual bool SendNow(LinkId /*link*/, absl::string_view /*head*/, const Buffer& /*payload*/) {
      return false;
    }
    // Of the bytes given to Send for `link`, how many it has not yet handed to the kernel
    // or the device.
    virtual size_t Unsent(LinkId link) const = 0;
    // The next bytes of the peer. If the handler has paused they are kept for it, at most
    // StreamLimits::receive_window.
    virtual void Deliver(Buffer&& bytes) = 0;
    // `generation` is over, whatever its state: end its set-up, or put its queue pair into
    // error; send nothing more on it. Frames that it has received already and that were
    // not read may be given to OnFrame from here: they need not be sent again then.
    virtual void GiveUp(LinkId generation, const absl::Status& why) = 0;
    // Half-closes the lifeline behind what is queued on it. All generations may go. Nothing
    // that comes from now on counts but the lifeline's end.
    virtual void ShutDownWriting() = 0;
    // The last call: all connections may go. OK: CloseAfterFlush was called and all was done.
    // kUnavailable, "closed by peer": the peer did that, and all its bytes were delivered (a
    // handler that has paused still has a right to them). Else what broke. The stream is not
    // destroyed from here.
    virtual void Ended(const absl::Status& why) = 0;

   protected:
    ~Output() = default;
  };

  // `limits` are valid; `pool` and `output` outlive this. The lifeline is connected, and
  // nothing was sent on it but what came before link frames.
  SwitchingStream(const StreamLimits& limits, BlockPool& pool, Output& output, TimePoint now);
  SwitchingStream(const SwitchingStream&) = delete;
  SwitchingStream& operator=(const SwitchingStream&) = delete;

  // --- The handler's side.

  // Queues. Dropped once this side's stream has its end: after CloseAfterFlush, or when all
  // that the peer had to say before its own close was delivered.
  void Write(Buffer&& data) {
    if (!bye_sent_ && !ended_) send_.Write(std::move(data));
  }
  // As Connection::backlog(): what is to be sent again has left once.
  size_t backlog() const;
  // Bytes written and not acknowledged; and those that are, ever; and those that were sent.
  uint64_t unacknowledged() const { return send_.end() - send_.acknowledged(); }
  uint64_t acknowledged() const { return send_.acknowledged(); }
  uint64_t sent() const { return send_.highest(); }
  // What was delivered is not acknowledged while the handler has paused.
  void SetPaused(bool paused, TimePoint now);
  // Whether an idle lifeline is asked for a sign of life, by default yes.
  void SetExpectsAnswer(bool expects) { expects_answer_ = expects; }
  // What was written is still sent; nothing more is delivered. Ended follows within
  // close_timeout. A second call counts not.
  void CloseAfterFlush(TimePoint now);
  // Ended(why) comes from inside, if it has not come yet.
  void Abort(const absl::Status& why);

  // --- The links.

  // Whether frames of `link` are to be cut and given to OnFrame now: not while it is set up, or
  // dead. Ask before each frame: a frame may change it.
  bool Reads(LinkId link) const {
    if (!active()) return false;
    if (link == kLifeline) return true;
    const Generations::Generation* const generation = generations_.Find(link);
    return generation != nullptr && generation->ready;
  }
  // A frame of `link`. Takes the payload, but of upgrade frames (IsUpgrade), which the
  // caller handles after this. Frames of a dead generation are dropped.
  void OnFrame(LinkId link, LinkFrame& frame, TimePoint now);
  // Bytes came on the lifeline, of which there may be no whole frame yet.
  void OnLifelineBytes(TimePoint now) { watch_.Heard(now); }
  // Bytes of the lifeline or a generation that are no frame: Ended follows, with `why`.
  void OnGarbage(LinkId link, const absl::Status& why);
  // The lifeline ended: its OnClose. OK: in order, by end of file. After all that it
  // and the generations have received was given to OnFrame.
  void OnLifelineEnd(const absl::Status& why);
  // An upgrade frame, on the lifeline. At most kMaxLinkControl bytes. Nothing once SHUT.
  void SendUpgrade(LinkFrameType type, absl::string_view payload);

  // Client: whether the next generation may be begun now, and its number. It is alive until
  // it is given up, so a set-up that fails, or is declined, must come as OnGenerationBroken.
  bool MayStart() const;
  // Whether no generation will begin any more: one end is closing, or the stream has ended.
  bool ending() const { return !active() || bye_sent_ || receive_.final().has_value(); }
  uint32_t Start();
  // Server: the peer asks for generation `number`, which is alive from now on: if it is not
  // set up, OnGenerationBroken must come. An error is a peer that breaks a rule, for
  // OnGarbage.
  absl::Status Expect(uint64_t number);
  // Whether `generation` is being set up or in use.
  bool Alive(LinkId generation) const;
  // `generation` can be sent on. Nothing if it is dead.
  void OnGenerationReady(LinkId generation);
  // Its set-up failed, it broke or was closed; after all that it has received was given to
  // OnFrame. Nothing if it is dead.
  void OnGenerationBroken(LinkId generation, const absl::Status& why);

  // --- Time.

  // Sends what is to be sent: DATA in one frame (more if there are more than max_data bytes),
  // else an ACK if one is due; and a PING if that is due. It leaves now: what the peer owes is
  // counted from here.
  void Flush(TimePoint now);
  std::optional<TimePoint> NextTimer() const;
  // Of a stream whose NextTimer was not before `when` after the Flush at `since`, and which has
  // only written since then, and read DATA and ACK of generations: whether that is still so. False
  // where it would have to be looked up.
  bool NextTimerStays(TimePoint when, TimePoint since) const {
    return !several() && !bye_sent_ && unacknowledged_since_ &&
           when <= since + limits_.ping_interval && receive_.ack_time().value_or(when) >= when;
  }
  // What came before `now` has been read.
  void OnTimer(TimePoint now);

  // What this side sends on; of several rails that for little.
  LinkId sending_on() const { return sending_on_; }
  // All that it sends on, but the lifeline; their DATA.
  const Rails& rails() const { return rails_; }
  bool ended() const { return ended_; }
  // Bytes delivered, or dropped after CloseAfterFlush: the offset of the next.
  uint64_t received() const { return receive_.received(); }
  // Bytes that came before some of those in front of them, and wait; at most the window.
  size_t early() const { return early_.size(); }
  StreamStats stats() const;

 private:
  // A frame in a link's queue.
  struct Queued {
    LinkId link = kLifeline;
    uint64_t end = 0;  // of what was given to the link, behind it
  };

  // switching_stream.cc: the links.
  bool several() const { return generations_.several(); }
  void PickLink();
  void GiveUp(LinkId generation, const absl::Status& why);
  void Leave(LinkId generation);

  // stream_rails.cc: several rails.
  void CountReceived(LinkId link, size_t bytes, TimePoint now);
  void OnRailAck(LinkId link, const LinkFrame& frame, TimePoint now);
  void SendRailAck(LinkId link, Generations::Generation& generation);
  void FlushRailAcks(TimePoint now);
  std::optional<TimePoint> RailAckTime() const;
  void AskRails();
  void CheckRails(TimePoint now);
  bool active() const { return !ended_ && !shut_; }

  // stream_input.cc: what frames do.
  void Handle(LinkId link, LinkFrame& frame, TimePoint now);
  void OnData(LinkId link, LinkFrame& frame, TimePoint now);
  void TakeData(LinkFrame& frame, TimePoint now);
  void KeepEarly(LinkFrame& frame);
  void OnResume(const LinkFrame& frame);
  void OnPing(const LinkFrame& frame);
  void OnPong(const LinkFrame& frame, TimePoint now);
  void OnBye(const LinkFrame& frame, TimePoint now);
  void ApplyAcknowledged(uint64_t offset, TimePoint now);

  // stream_output.cc: what is sent, and when.
  void Send(LinkId link, LinkFrame&& frame);
  void Queue(LinkId link, LinkFrame&& frame, size_t fresh);
  bool SendNow(LinkId link, LinkFrame& frame, const Buffer& payload, size_t fresh);
  FramedBacklog& Given(LinkId link) {
    return link == kLifeline ? on_lifeline_ : rails_.Find(link)->given;
  }
  bool Left(const Queued& queued);
  Queued Behind(LinkId link);
  void FlushData(TimePoint now);
  void FlushAck(TimePoint now);
  void Nudge(LinkId generation);
  void FlushPing(TimePoint now);
  LifelineWatch::Work work() const;

  // stream_closing.cc: the end.
  void SendBye(TimePoint now);
  void AdvanceClose(TimePoint now);
  void OnCloseTimeout();
  void EndInOrder();
  void End(const absl::Status& why);

  const StreamLimits limits_;
  Output& output_;
  LinkFrameWriter writer_;
  SendSide send_;
  ReceiveSide receive_;
  EarlyBytes early_;
  Generations generations_;
  Rails rails_;  // generations in use
  LifelineWatch watch_;

  LinkId sending_on_ = kLifeline;
  uint64_t lifeline_end_ = 0;       // of the stream, behind the last DATA on the lifeline
  FramedBacklog on_lifeline_;       // what was given to it
  std::optional<Queued> last_ack_;  // the last bare one
  std::optional<Queued> last_pong_;
  std::optional<TimePoint> unacknowledged_since_;
  bool expects_answer_ = true;

  bool closing_ = false;  // CloseAfterFlush was called
  bool bye_sent_ = false;
  bool shut_ = false;
  bool ended_ = false;
  TimePoint close_deadline_{};  // counts once bye_sent_
  StreamStats stats_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_SWITCHING_STREAM_H_
