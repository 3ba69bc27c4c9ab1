// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/brpc_rdma_hello.h"

#include <algorithm>
#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace farcall {
namespace {

constexpr absl::string_view kSecond = "RDMA";  // version 2 of the handshake
constexpr absl::string_view kThird = "RDM3";
constexpr size_t kMagicSize = 4;
constexpr size_t kDecisionSize = 4;

// Of version 2: the size counts magic and itself.
constexpr size_t kSecondHead = kMagicSize + 2;
constexpr size_t kSecondLeast = 40;
constexpr size_t kSecondMost = 4096;
// Of version 3: the size counts what follows it.
constexpr size_t kThirdHead = kMagicSize + 4;
constexpr size_t kThirdMost = 8192;

uint32_t LoadBigEndian(absl::string_view bytes) {
  uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

// A hello with version 0xffff, and 0 everywhere else.
void RefuseSecond(std::string& answer) {
  answer.append(kSecond.data(), kSecond.size());
  answer.append("\0\x28\xff\xff", 4);
  answer.append(kSecondLeast - kSecondHead - 2, '\0');
}

// block_size, sq_size, rq_size, lid, gid and qp_num: all there, and all 0.
void RefuseThird(std::string& answer) {
  answer.append(kThird.data(), kThird.size());
  answer.append("\0\0\0\x1c", 4);
  answer.append("\x08\0\x10\0\x18\0\x20\0\x2a\x10", 10);
  answer.append(16, '\0');
  answer.append("\x30\0", 2);
}

absl::Status BadSize(absl::string_view magic, size_t size, size_t least, size_t most) {
  return absl::InvalidArgumentError(absl::StrCat("malformed RDMA hello of brpc, \"", magic,
                                                 "\": it says that it has ", size, " bytes, and ",
                                                 least, " to ", most, " are allowed"));
}

// Bytes of the hello at the front in all, or of what tells it.
absl::StatusOr<size_t> SizeOf(absl::string_view front) {
  const absl::string_view magic = front.substr(0, kMagicSize);
  if (magic == kSecond) {
    if (front.size() < kSecondHead) return kSecondHead;
    const size_t size = LoadBigEndian(front.substr(kMagicSize, 2));
    if (size < kSecondLeast || size > kSecondMost) {
      return BadSize(magic, size, kSecondLeast, kSecondMost);
    }
    return size;
  }
  if (magic == kThird) {
    if (front.size() < kThirdHead) return kThirdHead;
    const size_t size = LoadBigEndian(front.substr(kMagicSize, 4));
    if (size < 1 || size > kThirdMost) return BadSize(magic, size, 1, kThirdMost);
    return kThirdHead + size;
  }
  if (front.size() < kMagicSize) return kMagicSize;
  return absl::InvalidArgumentError(
      absl::StrCat("no RDMA hello of brpc: it begins with \"", absl::CHexEscape(magic), "\""));
}

}  // namespace

absl::StatusOr<size_t> BrpcRdmaHello::OnRead(Buffer& input, std::string& answer) {
  if (state_ == State::kHello) {
    const absl::StatusOr<size_t> need = TakeHello(input, answer);
    if (!need.ok() || *need != 0) return need;
    state_ = State::kDecision;
  }
  if (state_ == State::kDecision) {
    const absl::StatusOr<size_t> need = TakeDecision(input);
    if (!need.ok() || *need != 0) return need;
    state_ = State::kDone;
  }
  return 0;
}

absl::StatusOr<size_t> BrpcRdmaHello::TakeHello(Buffer& input, std::string& answer) {
  std::array<char, kThirdHead> scratch;
  const absl::string_view front =
      input.Front(std::min(input.size(), scratch.size()), scratch.data());
  const absl::StatusOr<size_t> size = SizeOf(front);
  if (!size.ok() || *size > input.size()) return size;
  front.substr(0, kMagicSize) == kSecond ? RefuseSecond(answer) : RefuseThird(answer);
  input.RemoveFront(*size);
  return 0;
}

absl::StatusOr<size_t> BrpcRdmaHello::TakeDecision(Buffer& input) {
  if (input.size() < kDecisionSize) return kDecisionSize;
  std::array<char, kDecisionSize> scratch;
  const uint32_t decision = LoadBigEndian(input.Front(kDecisionSize, scratch.data()));
  if (decision == 1) {
    return absl::InvalidArgumentError("the brpc client wants RDMA although it was refused");
  }
  if (decision != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("malformed RDMA handshake of brpc: the client's decision is 0x",
                     absl::Hex(decision, absl::kZeroPad8), ", neither 0 nor 1"));
  }
  input.RemoveFront(kDecisionSize);
  return 0;
}

}  // namespace farcall
