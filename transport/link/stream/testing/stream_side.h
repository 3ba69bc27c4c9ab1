// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_SIDE_H_
#define FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_SIDE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/base/time.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/block_writer.h"
#include "transport/buffer/buffer.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/link/stream/testing/stream_wire.h"
#include "transport/testing/test_random.h"

namespace farcall {

// One end of a simulated link: drives a SwitchingStream as the link does, and watches that
// it keeps to the rules. The first violation is kept, with what came before it if a log is
// wanted.
class StreamSide final : public SwitchingStream::Output {
 public:
  // What both ends share.
  struct World {
    TestRandom random;
    BlockPool& pool;
    TimePoint now{};
    std::string* log = nullptr;  // a line for each event
    std::string failure;
  };
  // What happens beside the two streams; called from inside of them.
  class Network {
   public:
    // `side` has given `generation` up, or ended. `stuck`: because it moved nothing.
    virtual void Gone(int side, LinkId generation, bool stuck) = 0;
    // An ASK or DECLINE that `side` has read.
    virtual void Upgrade(int side, LinkFrameType type, uint32_t generation) = 0;

   protected:
    ~Network() = default;
  };

  StreamSide(int side, const StreamLimits& limits, World& world, Network& network);

  // Where frames of `link` go to and come from. The lifeline first.
  void Connect(LinkId link, StreamWire& out, StreamWire& in);

  // --- What happens to it.
  void Write(size_t bytes);
  void Pause(bool paused);
  void Close();
  void Abort();
  void Ready(LinkId generation);
  void Broken(LinkId generation, const absl::Status& why);
  void LifelineEnd(const absl::Status& why);
  void Arrive(LinkId link);
  void Expect(uint32_t generation);
  void Decline(uint32_t generation);
  uint32_t Start(bool ask);
  void Timer();
  // The end of a turn.
  void Flush();
  // It does nothing any more, as a stopped process.
  void Freeze() { frozen_ = true; }

  const SwitchingStream& stream() const { return stream_; }
  std::optional<TimePoint> timer() const { return frozen_ ? std::nullopt : timer_; }
  bool dirty() const { return dirty_ && !frozen_; }
  bool frozen() const { return frozen_; }
  bool closed() const { return closed_; }
  // Bytes that the handler wrote, up to Close; that were delivered.
  uint64_t written() const { return written_; }
  uint64_t delivered() const { return delivered_; }
  // The most bytes that waited for others at once; the most rails that it sent on.
  uint64_t early() const { return early_; }
  uint64_t rails_lost() const { return rails_lost_; }
  size_t rails_at_once() const { return rails_at_once_; }
  const std::optional<absl::Status>& end() const { return end_; }

 private:
  struct Link {
    StreamWire* out;
    StreamWire* in;
    Buffer inbox;
    bool gone = false;
    bool alive = false;  // the stream has known it
  };

  // Output.
  void Send(LinkId link, Buffer&& frame) override;
  bool SendNow(LinkId link, absl::string_view head, const Buffer& payload) override;
  size_t Unsent(LinkId link) const override;
  void Deliver(Buffer&& bytes) override;
  void GiveUp(LinkId generation, const absl::Status& why) override;
  void ShutDownWriting() override;
  void Ended(const absl::Status& why) override;

  void Begin();
  void Done();
  void ReadAll();
  void ReadOne(LinkId link);
  void Take(LinkId link, LinkFrame& frame);
  void CheckSent(LinkId link, const LinkFrame& frame);
  void CheckData(const LinkFrame& frame);
  void CheckResume(const LinkFrame& frame);
  void Note(absl::string_view what);
  void Violation(absl::string_view what);

  const int side_;
  const StreamLimits limits_;
  World& world_;
  Network& network_;
  BlockWriter writer_;
  SwitchingStream stream_;
  std::map<LinkId, Link> links_;
  std::optional<TimePoint> timer_;
  // When it was flushed, and whether it has only written since then, and read DATA and ACK of
  // generations.
  TimePoint flushed_{};
  bool steady_ = false;
  bool dirty_ = false;
  bool frozen_ = false;
  bool closed_ = false;
  bool paused_ = false;
  bool shut_ = false;
  uint64_t written_ = 0;
  uint64_t delivered_ = 0;
  uint64_t early_ = 0;
  uint64_t rails_lost_ = 0;
  size_t rails_at_once_ = 0;
  uint64_t acknowledged_ = 0;  // the highest offset that a frame read has acknowledged
  uint64_t resume_floor_ = 0;  // nothing below it needs to be sent on this link any more
  std::set<uint64_t> resumes_;
  uint64_t paused_at_ = 0;         // delivered when the handler paused
  std::optional<uint64_t> final_;  // what the peer's BYE said
  // In the call that runs.
  std::set<uint32_t> given_up_;
  std::set<uint32_t> resumed_;
  std::optional<absl::Status> end_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_SIDE_H_
