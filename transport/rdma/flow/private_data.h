// SPDX-License-Identifier: Apache-2.0
//
// What the two ends tell each other while rdma_cm sets a connection up, in the private data
// of connect, accept and reject. Numbers are big-endian.
//
//   connect (36 or 40 bytes)    accept (20, 24 or 40 bytes) reject (8 to 104 bytes)
//    0  magic "FCrq"             0  magic "FCac"             0  magic "FCrj"
//    4  u8  version              4  u8  version              4  u8  version
//    5  u8  length of all        5  u8  length of all        5  u8  length of all
//    6  u16 0                    6  u16 0                    6  u8  WhyNotRdma
//    8  16  token                8  u32 generation           7  u8  0
//   24  u32 generation          12  u32 receive block        8  text
//   28  u32 receive block       16  u16 initial receives
//   32  u16 initial receives    18  u16 receive slots
//   34  u16 receive slots       20  u8  windows
//   36  u8  windows             21  u8  reads
//   37  u8  reads               22  u16 0
//   38  u16 0                   24  16  answer
//
// rdma_connect(3) carries 56 bytes for a reliable connection, rdma_accept(3) 196 and
// rdma_reject(3) 148. The other end may see zeros after them, so a length is inside. A
// later version keeps these fields, and may have more behind them, which are skipped; what
// cannot be understood so gets another magic.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_PRIVATE_DATA_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_PRIVATE_DATA_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/why_not_rdma.h"

namespace farcall {

constexpr uint8_t kPrivateDataVersion = 1;

// What each end says of the receives that it gives, and of references (message_header.h).
struct ReceiveTerms {
  // Bytes of each receive, header included: no message is longer. kMinBlock to kMaxBlock.
  static constexpr uint32_t kMinBlock = 1 << 10;
  static constexpr uint32_t kMaxBlock = 1 << 30;
  uint32_t block_bytes = 0;
  // CreditLimits::initial_receives and receive_slots; 4 <= initial <= slots <= 16384.
  uint16_t initial_receives = 0;
  uint16_t receive_slots = 0;
  // References that it has sent and that were not read, at most; and READs that it answers at
  // once. 0: it sends none. Up to kMaxWindows, as is what follows.
  uint8_t windows = 0;
  // READs that it begins before others have ended. 0: it takes no references.
  uint8_t reads = 0;
  static constexpr uint8_t kMaxWindows = 64;

  // References go from this end to `peer`.
  bool RefersTo(const ReceiveTerms& peer) const { return windows > 0 && peer.reads > 0; }
  // READs at once that this end answers `peer`, and begins itself: no more than both can.
  uint8_t AnswersTo(const ReceiveTerms& peer) const { return std::min(windows, peer.reads); }
  uint8_t BeginsAt(const ReceiveTerms& peer) const { return peer.AnswersTo(*this); }
  // In one direction at least: the headers of messages tell of them.
  bool AgreeOnReferences(const ReceiveTerms& peer) const {
    return RefersTo(peer) || peer.RefersTo(*this);
  }

  bool operator==(const ReceiveTerms&) const = default;
};

struct ConnectData {
  static constexpr size_t kBytes = 36;
  static constexpr size_t kMaxBytes = kBytes + 4;  // with windows or reads
  // What admits the connection. All zeros: to a listener of a test that admits anybody.
  std::array<uint8_t, 16> token{};
  uint32_t generation = 0;
  ReceiveTerms receives{};  // of the connecting end

  bool operator==(const ConnectData&) const = default;
};

struct AcceptData {
  static constexpr size_t kBytes = 20;
  static constexpr size_t kWithReferences = kBytes + 4;      // with windows or reads
  static constexpr size_t kMaxBytes = kWithReferences + 16;  // with an answer
  uint32_t generation = 0;                                   // as asked for
  ReceiveTerms receives{};                                   // of the accepting end
  // That this end is the one which has handed out the token. All zeros: there is none.
  std::array<uint8_t, 16> answer{};

  bool operator==(const AcceptData&) const = default;
};

struct RejectData {
  static constexpr size_t kHeaderBytes = 8;
  static constexpr size_t kMaxText = 96;
  // A number that this version does not know reads as kRejected.
  WhyNotRdma why = WhyNotRdma::kRejected;
  // Printable ASCII; others read as '?'. Cut to kMaxText when it is encoded.
  std::string text;

  bool operator==(const RejectData&) const = default;
};

// The fields are valid.
std::string EncodeConnectData(const ConnectData& data);
std::string EncodeAcceptData(const AcceptData& data);
// `text` may be any.
std::string EncodeRejectData(const RejectData& data);

// Of the private data of an event, with whatever follows. Errors (kInvalidArgument) say
// what is wrong with it. It may be of another program, or garbage.
absl::StatusOr<ConnectData> DecodeConnectData(absl::string_view bytes);
absl::StatusOr<AcceptData> DecodeAcceptData(absl::string_view bytes);
absl::StatusOr<RejectData> DecodeRejectData(absl::string_view bytes);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_PRIVATE_DATA_H_
