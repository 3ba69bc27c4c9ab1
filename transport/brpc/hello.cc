// SPDX-License-Identifier: Apache-2.0

#include "transport/brpc/hello.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "transport/base/big_endian.h"
#include "transport/base/check.h"
#include "transport/brpc/brpc_hello.pb.h"

namespace farcall {
namespace {

constexpr absl::string_view kSecondMagic = "RDMA";
constexpr absl::string_view kThirdMagic = "RDM3";

// Of version 2: the size counts magic and itself. What follows the 40 bytes is skipped.
constexpr size_t kSecondHead = kBrpcMagic + 2;
constexpr size_t kSecondLeast = 40;
constexpr size_t kSecondMost = 4096;
constexpr uint16_t kHelloVersion = 2;
constexpr uint16_t kWireVersion = 1;
constexpr uint16_t kNoVersion = 0xffff;
constexpr size_t kGidAt = 20;
// Of version 3: the size counts what follows it.
constexpr size_t kThirdHead = kBrpcMagic + 4;
constexpr size_t kThirdMost = 8192;

constexpr size_t kDecisionSize = 4;
constexpr uint32_t kQueuePairs = 1u << 24;

absl::Status BadSize(absl::string_view magic, size_t size, size_t least, size_t most) {
  return absl::InvalidArgumentError(absl::StrCat("malformed RDMA hello of brpc, \"", magic,
                                                 "\": it says that it has ", size, " bytes, and ",
                                                 least, " to ", most, " are allowed"));
}

// Bytes of the hello at the front in all, or of what tells it.
absl::StatusOr<size_t> SizeOf(absl::string_view front) {
  const absl::string_view magic = front.substr(0, kBrpcMagic);
  if (magic == kSecondMagic) {
    if (front.size() < kSecondHead) return kSecondHead;
    const size_t size = GetBigEndian<uint16_t>(front.data() + kBrpcMagic);
    if (size < kSecondLeast || size > kSecondMost) {
      return BadSize(magic, size, kSecondLeast, kSecondMost);
    }
    return size;
  }
  if (magic == kThirdMagic) {
    if (front.size() < kThirdHead) return kThirdHead;
    const size_t size = GetBigEndian<uint32_t>(front.data() + kBrpcMagic);
    if (size < 1 || size > kThirdMost) return BadSize(magic, size, 1, kThirdMost);
    return kThirdHead + size;
  }
  if (front.size() < kBrpcMagic) return kBrpcMagic;
  return absl::InvalidArgumentError(
      absl::StrCat("no RDMA hello of brpc: it begins with \"", absl::CHexEscape(magic), "\""));
}

absl::Status Unusable(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the RDMA hello of brpc ", what));
}

// What both versions ask for.
absl::Status Usable(const BrpcEnd& end) {
  if (end.block_bytes < BrpcEnd::kMinBlock) {
    return Unusable(absl::StrCat("has receives of ", end.block_bytes, " bytes, less than ",
                                 BrpcEnd::kMinBlock));
  }
  if (end.send_slots < BrpcEnd::kMinSlots || end.receive_slots < BrpcEnd::kMinSlots) {
    return Unusable(absl::StrCat("has queues for ", end.send_slots, " sends and ",
                                 end.receive_slots, " receives, less than ", BrpcEnd::kMinSlots));
  }
  if (end.number == 0 || end.number >= kQueuePairs) {
    return Unusable(absl::StrCat("names queue pair ", end.number));
  }
  return absl::OkStatus();
}

void ReadSecond(absl::string_view whole, BrpcHello& hello) {
  BrpcEnd& end = hello.end;
  const uint32_t version = GetBigEndian<uint16_t>(whole.data() + 6);
  const uint32_t wire = GetBigEndian<uint16_t>(whole.data() + 8);
  end.block_bytes = GetBigEndian<uint32_t>(whole.data() + 10);
  end.send_slots = GetBigEndian<uint16_t>(whole.data() + 14);
  end.receive_slots = GetBigEndian<uint16_t>(whole.data() + 16);
  end.lid = GetBigEndian<uint16_t>(whole.data() + 18);
  std::memcpy(end.gid.data(), whole.data() + kGidAt, end.gid.size());
  end.number = GetBigEndian<uint32_t>(whole.data() + kGidAt + end.gid.size());
  if (version == kHelloVersion && wire == kWireVersion) {
    hello.usable = Usable(end);
  } else if (version == kNoVersion || version == 0) {
    hello.usable = Unusable("refuses");
  } else {
    hello.usable = Unusable(absl::StrCat("is of version ", version, ".", wire, ", not ",
                                         kHelloVersion, ".", kWireVersion));
  }
}

absl::Status ReadThird(absl::string_view body, BrpcEnd& end) {
  brpc::ThirdHello in;
  if (!in.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return Unusable("is no message");
  }
  if (in.gid().size() != end.gid.size()) return Unusable("has a GID that is not of 16 bytes");
  if (in.send_slots() > UINT16_MAX || in.receive_slots() > UINT16_MAX || in.lid() > UINT16_MAX) {
    return Unusable("has a number that is over 65535");
  }
  end.block_bytes = in.block_bytes();
  end.send_slots = static_cast<uint16_t>(in.send_slots());
  end.receive_slots = static_cast<uint16_t>(in.receive_slots());
  end.lid = static_cast<uint16_t>(in.lid());
  std::memcpy(end.gid.data(), in.gid().data(), end.gid.size());
  end.number = in.number();
  if (end == BrpcEnd()) return Unusable("refuses");
  return Usable(end);
}

std::string EncodeThird(const BrpcEnd& end) {
  brpc::ThirdHello out;
  out.set_block_bytes(end.block_bytes);
  out.set_send_slots(end.send_slots);
  out.set_receive_slots(end.receive_slots);
  out.set_lid(end.lid);
  out.set_gid(end.gid.data(), end.gid.size());
  out.set_number(end.number);
  const std::string body = out.SerializeAsString();
  std::string bytes(kThirdMagic);
  AppendBigEndian(static_cast<uint32_t>(body.size()), bytes);
  return bytes + body;
}

std::string EncodeSecond(uint16_t version, uint16_t wire, const BrpcEnd& end) {
  std::string bytes(kSecondMagic);
  AppendBigEndian<uint16_t>(kSecondLeast, bytes);
  AppendBigEndian(version, bytes);
  AppendBigEndian(wire, bytes);
  AppendBigEndian(end.block_bytes, bytes);
  AppendBigEndian(end.send_slots, bytes);
  AppendBigEndian(end.receive_slots, bytes);
  AppendBigEndian(end.lid, bytes);
  bytes.append(reinterpret_cast<const char*>(end.gid.data()), end.gid.size());
  AppendBigEndian(end.number, bytes);
  Check(bytes.size() == kSecondLeast, "a hello of version 2 has 40 bytes");
  return bytes;
}

}  // namespace

bool MayBeBrpcHello(absl::string_view front) {
  front = front.substr(0, kBrpcMagic);
  return front == kSecondMagic.substr(0, front.size()) ||
         front == kThirdMagic.substr(0, front.size());
}

absl::StatusOr<size_t> CutBrpcHello(Buffer& input, BrpcHello& hello) {
  std::array<char, kThirdHead + kThirdMost> scratch;
  const auto front = [&](size_t bytes) {
    return input.Front(std::min(input.size(), bytes), scratch.data());
  };
  const absl::StatusOr<size_t> size = SizeOf(front(kThirdHead));
  if (!size.ok() || *size > input.size()) return size;
  const absl::string_view whole = front(*size);
  hello = BrpcHello();
  if (whole.substr(0, kBrpcMagic) == kSecondMagic) {
    ReadSecond(whole, hello);
  } else {
    hello.version = BrpcVersion::kThird;
    hello.usable = ReadThird(whole.substr(kThirdHead), hello.end);
  }
  input.RemoveFront(*size);
  return 0;
}

absl::StatusOr<size_t> CutBrpcDecision(Buffer& input, bool& rdma) {
  if (input.size() < kDecisionSize) return kDecisionSize;
  std::array<char, kDecisionSize> scratch;
  const uint32_t decision =
      GetBigEndian<uint32_t>(input.Front(kDecisionSize, scratch.data()).data());
  if (decision > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("malformed RDMA handshake of brpc: the client's decision is 0x",
                     absl::Hex(decision, absl::kZeroPad8), ", neither 0 nor 1"));
  }
  rdma = decision == 1;
  input.RemoveFront(kDecisionSize);
  return 0;
}

std::string EncodeBrpcHello(BrpcVersion version, const BrpcEnd& end) {
  return version == BrpcVersion::kSecond ? EncodeSecond(kHelloVersion, kWireVersion, end)
                                         : EncodeThird(end);
}

std::string EncodeBrpcRefusal(BrpcVersion version, BrpcRefusal how) {
  if (version == BrpcVersion::kThird) return EncodeThird(BrpcEnd());
  return EncodeSecond(how == BrpcRefusal::kOff ? kNoVersion : uint16_t{0}, 0, BrpcEnd());
}

std::string EncodeBrpcDecision(bool rdma) {
  std::string bytes;
  AppendBigEndian<uint32_t>(rdma ? 1 : 0, bytes);
  return bytes;
}

}  // namespace farcall
