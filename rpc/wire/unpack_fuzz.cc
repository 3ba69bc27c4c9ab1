// SPDX-License-Identifier: Apache-2.0
//
// Any frame as a packed payload. What must hold: nothing is read outside of the slices (each
// has an allocation of its own), pieces do not matter, no more blocks are taken than the limit
// and one, none are lost, and what was unpacked can be packed and unpacked again.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/frame_testing.h"
#include "rpc/wire/pack.h"
#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"

namespace farcall {
namespace {

constexpr size_t kMaxSize = 20'000;

BlockPool& Pool() {
  static BlockPool* const pool = BlockPool::Create(BlockPoolOptions())->release();
  return *pool;
}

void PackAndUnpackAgain(const testing::EchoMessage& message, int compress_type) {
  for (const ChecksumType checksum : {CHECKSUM_TYPE_NONE, CHECKSUM_TYPE_CRC32C}) {
    wire::RpcMeta meta;
    const auto payload =
        Pack(message, {static_cast<CompressType>(compress_type), checksum}, Buffer(), Pool(), meta);
    Check(payload.ok(), "what was unpacked can be packed");
    testing::EchoMessage again;
    Check(Unpack(PayloadInfo::Of(meta), *payload, Buffer(), kMaxSize, Pool(), again).ok(),
          "what was packed can be unpacked");
    Check(again.SerializeAsString() == message.SerializeAsString(), "the message comes back");
  }
}

// How it ended, as text.
std::string Outcome(const Frame& frame, size_t piece, testing::EchoMessage& message) {
  const Buffer payload = testing::InPieces(frame.payload.ToString(), piece);
  const Buffer attachment = testing::InPieces(frame.attachment.ToString(), piece);
  const absl::Status status =
      Unpack(PayloadInfo::Of(frame.meta), payload, attachment, kMaxSize, Pool(), message);
  return status.ok() ? message.SerializeAsString() : status.ToString();
}

void Run(absl::string_view bytes) {
  Buffer input(bytes);
  Frame frame;
  const auto needed = CutFrame(input, FrameLimits(), frame);
  if (!needed.ok() || *needed > 0) return;
  const BlockPoolStats before = Pool().stats();
  testing::EchoMessage message, again;
  const std::string whole = Outcome(frame, bytes.size() + 1, message);
  // 8 KiB and 64 KiB hold the limit.
  Check(Pool().stats().allocations - before.allocations <= 4, "memory is bounded by the limit");
  Check(Outcome(frame, 13, again) == whole, "pieces do not matter");
  if (bytes.size() <= 300) {
    Check(Outcome(frame, 1, again) == whole, "single bytes do not matter");
  }
  Check(Pool().stats().used_bytes == before.used_bytes, "all blocks go home");
  if (message.IsInitialized() && whole == message.SerializeAsString()) {
    PackAndUnpackAgain(message, frame.meta.compress_type());
  }
}

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  farcall::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
