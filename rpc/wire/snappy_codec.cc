// SPDX-License-Identifier: Apache-2.0

#include <snappy-sinksource.h>
#include <snappy.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "rpc/wire/codecs.h"
#include "transport/buffer/block_size.h"
#include "transport/buffer/zero_copy_stream.h"

namespace farcall {
namespace {

// No element of the format makes more than 64 bytes of 3, so a payload cannot become more than
// 64/3 times as large: what announces more is no payload, whatever the limit.
constexpr uint64_t kMaxRatio = 22;

class BufferSource final : public snappy::Source {
 public:
  explicit BufferSource(const Buffer& data) : slices_(data.slices()), left_(data.size()) {}

  size_t Available() const override { return left_; }
  const char* Peek(size_t* size) override {
    *size = left_ == 0 ? 0 : slices_.front().length - used_;
    return left_ == 0 ? nullptr : slices_.front().view().data() + used_;
  }
  void Skip(size_t bytes) override {
    left_ -= bytes;
    while (bytes > 0) {
      const size_t part = std::min<size_t>(bytes, slices_.front().length - used_);
      used_ += part;
      bytes -= part;
      if (used_ < slices_.front().length) return;
      slices_ = slices_.subspan(1);
      used_ = 0;
    }
  }

 private:
  std::span<const Buffer::Slice> slices_;
  size_t used_ = 0;  // bytes of the first slice
  size_t left_;
};

// Snappy cannot be stopped: once the pool is at its limit, the rest is thrown away.
class BlockSink final : public snappy::Sink {
 public:
  BlockSink(BlockPool& pool, size_t expected) : stream_(pool, expected) {}

  // Room in the block where there is enough of it in one piece.
  char* GetAppendBuffer(size_t size, char* scratch) override {
    if (!NextPiece()) return scratch;
    stream_.BackUp(static_cast<int>(piece_.size()));
    return piece_.size() >= size ? piece_.data() : scratch;
  }

  void Append(const char* bytes, size_t size) override {
    absl::string_view rest(bytes, size);
    while (!rest.empty() && NextPiece()) {
      const size_t part = std::min(piece_.size(), rest.size());
      // The same place if it came from GetAppendBuffer.
      if (rest.data() != piece_.data()) std::memcpy(piece_.data(), rest.data(), part);
      stream_.BackUp(static_cast<int>(piece_.size() - part));
      rest.remove_prefix(part);
    }
  }

  bool failed() const { return failed_; }
  Buffer Take() { return stream_.Take(); }

 private:
  bool NextPiece() {
    void* data = nullptr;
    int size = 0;
    failed_ = failed_ || !stream_.Next(&data, &size);
    if (!failed_) piece_ = {static_cast<char*>(data), static_cast<size_t>(size)};
    return !failed_;
  }

  BlockOutputStream stream_;
  std::span<char> piece_;
  bool failed_ = false;
};

// `bytes` in blocks, which are not written yet, and the same for snappy. False: the pool is at
// its limit.
bool AllocateAll(size_t bytes, BlockPool& pool, Buffer& blocks, std::vector<iovec>& room) {
  while (bytes > 0) {
    BlockRef block = AllocateFor(bytes, pool);
    if (!block) return false;
    const auto part = static_cast<uint32_t>(std::min<size_t>(bytes, block->capacity));
    room.push_back({block->bytes(), part});
    blocks.Append(block, 0, part);
    bytes -= part;
  }
  return true;
}

}  // namespace

absl::StatusOr<Buffer> SnappyCompress(const Buffer& data, BlockPool& pool) {
  if (data.size() > UINT32_MAX) {
    return absl::OutOfRangeError(
        absl::StrCat("message of ", data.size(), " bytes: snappy carries at most ", UINT32_MAX));
  }
  BufferSource source(data);
  BlockSink sink(pool, data.size() / 2);
  snappy::Compress(&source, &sink);
  if (sink.failed()) return NoBlocksFor("snappy", "compress");
  return sink.Take();
}

absl::StatusOr<Buffer> SnappyDecompress(const Buffer& data, size_t max_size, BlockPool& pool) {
  uint32_t size = 0;
  BufferSource front(data);
  if (!snappy::GetUncompressedLength(&front, &size)) {
    return MalformedPayload("snappy", data.size(), "it does not begin with a length");
  }
  if (size > data.size() * kMaxRatio) {
    return MalformedPayload("snappy", data.size(),
                            absl::StrCat("it announces ", size, " bytes, which it cannot hold"));
  }
  if (size > max_size) return DecompressesToTooMuch("snappy", data.size(), max_size);
  Buffer blocks;
  std::vector<iovec> room;
  if (!AllocateAll(size, pool, blocks, room)) return NoBlocksFor("snappy", "decompress");
  BufferSource source(data);
  if (!snappy::RawUncompressToIOVec(&source, room.data(), room.size())) {
    return MalformedPayload(
        "snappy", data.size(),
        absl::StrCat("it is no block of snappy that holds the announced ", size, " bytes"));
  }
  return blocks;
}

}  // namespace farcall
