// SPDX-License-Identifier: Apache-2.0
//
// ReadChoice: whether the peer of one connection fetches what is large by RDMA READ, or is sent it,
// found by measuring both on the connection's own bytes.
//
// A round has a sample of each way, one after the other. Of a sample only the time from one
// delivery to the next counts, and only while bytes waited or were under way all the time: so what
// is compared is what the two ways carry, with all that the peer does about it (a copy to where the
// bytes shall lie, its processors), and neither how long one piece takes nor how much the program
// has to send. A delivery is the completion of a send, or the peer's word that it has read. Three
// rounds of five decide. Then nothing is measured for a while, so that it costs little.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_READ_CHOICE_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_READ_CHOICE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/base/time.h"
#include "transport/reads_use.h"

namespace farcall {

// Pure. One thread at a time.
class ReadChoice {
 public:
  enum Way : uint8_t { kSend, kRead };

  // Of a sample.
  static constexpr uint64_t kSampleBytes = uint64_t{4} << 20;
  // READs are begun with if they carry so many percent of what sends do, since they save a copy;
  // and ended with only below the lower number, so that it does not go to and fro.
  static constexpr uint64_t kWorth = 95;
  static constexpr uint64_t kStillWorth = 80;
  // That agree, out of five at most: the first one may be wrong, since what a peer has receives for
  // is sent at once, however slow its program, and another one by what disturbs it.
  static constexpr int kRounds = 3;
  // Bytes of the connection until it is measured again: twice as many each time that it is found as
  // it was.
  static constexpr uint64_t kFirstRest = uint64_t{1} << 30;
  static constexpr uint64_t kLongestRest = uint64_t{64} << 30;

  // kMeasuring: it finds out. kAlways: all are read. Else none is.
  explicit ReadChoice(ReadsWhy why) : use_{.why = why} {}

  // Whether the next large piece is read.
  bool reads() const { return use_.why == ReadsWhy::kAlways || (automatic_ && way_ == kRead); }
  // Whether it is to hear of large pieces that are sent.
  bool measures() const { return automatic_ && measures_; }
  const ReadsUse& use() const { return use_; }

  // A large piece was posted: one that is read, or one that is sent while it measures.
  void OnPosted(Way way, uint32_t bytes);
  // The same bytes are with the peer.
  void OnDelivered(Way way, uint64_t bytes, TimePoint now);
  // All was posted that may leave now; whether bytes wait.
  void OnFlushed(bool waits) { waits_ = waits; }
  // Bytes of any kind were posted.
  void OnBytes(uint64_t bytes);

 private:
  struct Sample {
    uint64_t bytes = 0;
    Duration time{};
    uint64_t rate() const;
  };

  void EndSample();
  void EndRound();
  void Decide(bool reads);
  void Measure();
  void GoOn(Way way);

  ReadsUse use_;
  bool automatic_ = use_.why == ReadsWhy::kMeasuring;
  bool measures_ = true;
  Way way_ = kSend;
  std::array<uint64_t, 2> under_way_{};  // bytes, by Way
  bool waits_ = false;
  // The last delivery that the next one is counted from.
  std::optional<TimePoint> last_;
  Sample sample_;
  bool second_ = false;  // of the round
  int for_ = 0;          // rounds that speak for READs
  int against_ = 0;
  bool reads_ = false;  // as was decided last
  uint64_t rest_ = 0;   // 0: nothing was decided yet
  uint64_t left_ = 0;   // of it
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_READ_CHOICE_H_
