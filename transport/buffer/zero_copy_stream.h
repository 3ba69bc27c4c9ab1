// SPDX-License-Identifier: Apache-2.0
//
// protobuf's streams over blocks: messages are serialized into blocks and parsed
// out of them without a copy between.

#ifndef FARCALL_TRANSPORT_BUFFER_ZERO_COPY_STREAM_H_
#define FARCALL_TRANSPORT_BUFFER_ZERO_COPY_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "google/protobuf/io/zero_copy_stream.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// Reads a Buffer, which must not change meanwhile.
class BufferInputStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit BufferInputStream(const Buffer& buffer) : slices_(buffer.slices()) {}

  bool Next(const void** data, int* size) override;
  void BackUp(int count) override;
  bool Skip(int count) override;
  int64_t ByteCount() const override { return count_; }

 private:
  std::span<const Buffer::Slice> slices_;
  size_t slice_ = 0;   // the one to give next
  uint32_t used_ = 0;  // bytes of it given already
  int64_t count_ = 0;
};

// Writes into fresh blocks of a pool. Next fails, and with it the serialization,
// when the pool is at its limit.
class BlockOutputStream final : public google::protobuf::io::ZeroCopyOutputStream {
 public:
  // `expected`: bytes that will be written, for the size of the first blocks.
  BlockOutputStream(BlockPool& pool, size_t expected) : pool_(pool), expected_(expected) {}

  bool Next(void** data, int* size) override;
  void BackUp(int count) override;
  int64_t ByteCount() const override;
  // What was written, taken out. The stream is then empty and must not be used.
  Buffer Take();

 private:
  void Seal();

  BlockPool& pool_;
  size_t expected_;
  BlockRef block_;     // the one being written
  uint32_t used_ = 0;  // bytes of it given out
  Buffer done_;        // full blocks
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_ZERO_COPY_STREAM_H_
