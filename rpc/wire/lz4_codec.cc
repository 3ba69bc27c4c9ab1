// SPDX-License-Identifier: Apache-2.0

#include <lz4frame.h>

#include <algorithm>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "rpc/wire/codecs.h"
#include "transport/buffer/zero_copy_stream.h"

namespace farcall {
namespace {

constexpr size_t kBlock = size_t{64} << 10;

struct FreeCompression {
  void operator()(LZ4F_cctx* context) const { LZ4F_freeCompressionContext(context); }
};
struct FreeDecompression {
  void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
};

// Writes with liblz4, which wants room for the worst case in one piece.
class Lz4Writer {
 public:
  Lz4Writer(size_t size, BlockPool& pool) : stream_(pool, size / 2) {
    LZ4F_cctx* context = nullptr;
    if (LZ4F_isError(LZ4F_createCompressionContext(&context, LZ4F_VERSION))) return;
    context_.reset(context);
    preferences_.frameInfo.blockSizeID = LZ4F_max64KB;
    preferences_.frameInfo.contentSize = size;
    preferences_.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    scratch_size_ =
        std::max<size_t>(LZ4F_compressBound(kBlock, &preferences_), LZ4F_HEADER_SIZE_MAX);
    scratch_ = std::make_unique_for_overwrite<char[]>(scratch_size_);
  }

  // liblz4 is out of memory, whichever step said so.
  bool memory() const { return context_ != nullptr && !failed_; }

  // False, here and below: no memory (memory() tells), or the pool is at its limit.
  bool Begin() {
    return context_ != nullptr &&
           Write(LZ4F_compressBegin(context_.get(), scratch_.get(), scratch_size_, &preferences_));
  }
  bool Add(absl::string_view bytes) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(kBlock, bytes.size()))) {
      const absl::string_view part = bytes.substr(0, kBlock);
      if (!Write(LZ4F_compressUpdate(context_.get(), scratch_.get(), scratch_size_, part.data(),
                                     part.size(), nullptr))) {
        return false;
      }
    }
    return true;
  }
  bool End() {
    return Write(LZ4F_compressEnd(context_.get(), scratch_.get(), scratch_size_, nullptr));
  }
  Buffer Take() { return stream_.Take(); }

 private:
  // The first `size` of scratch, or an error of liblz4.
  bool Write(size_t size) {
    failed_ = LZ4F_isError(size) != 0;
    if (failed_) return false;
    for (absl::string_view rest(scratch_.get(), size); !rest.empty();) {
      void* data = nullptr;
      int room = 0;
      if (!stream_.Next(&data, &room)) return false;
      const size_t part = std::min<size_t>(static_cast<size_t>(room), rest.size());
      std::copy_n(rest.data(), part, static_cast<char*>(data));
      stream_.BackUp(room - static_cast<int>(part));
      rest.remove_prefix(part);
    }
    return true;
  }

  BlockOutputStream stream_;
  LZ4F_preferences_t preferences_{};
  std::unique_ptr<LZ4F_cctx, FreeCompression> context_;
  std::unique_ptr<char[]> scratch_;
  size_t scratch_size_ = 0;
  bool failed_ = false;
};

absl::Status Malformed(const Buffer& data, absl::string_view what) {
  return MalformedPayload("lz4", data.size(), what);
}

// Bytes of one block.
size_t BlockBytes(const LZ4F_frameInfo_t& info) {
  switch (info.blockSizeID) {
    case LZ4F_max256KB:
      return size_t{256} << 10;
    case LZ4F_max1MB:
      return size_t{1} << 20;
    case LZ4F_max4MB:
      return size_t{4} << 20;
    default:
      return kBlock;
  }
}

// The header of the frame, before liblz4 allocates what it asks for. Returns its size.
absl::StatusOr<size_t> ReadHeader(LZ4F_dctx* context, const Buffer& data, size_t max_size) {
  char scratch[LZ4F_HEADER_SIZE_MAX];
  const absl::string_view front =
      data.Front(std::min<size_t>(data.size(), LZ4F_HEADER_SIZE_MAX), scratch);
  LZ4F_frameInfo_t info{};
  size_t header_size = front.size();
  const size_t result = LZ4F_getFrameInfo(context, &info, front.data(), &header_size);
  if (LZ4F_isError(result)) {
    return Malformed(data, absl::StrCat("no frame header: ", LZ4F_getErrorName(result)));
  }
  if (info.frameType != LZ4F_frame) return Malformed(data, "a skippable frame");
  if (info.dictID != 0) return Malformed(data, "it needs a dictionary");
  if (info.contentSize > max_size || BlockBytes(info) > std::max(max_size, kBlock)) {
    return DecompressesToTooMuch("lz4", data.size(), max_size);
  }
  return header_size;
}

// Feeds what follows the header, slice by slice.
class Lz4Reader {
 public:
  Lz4Reader(LZ4F_dctx* context, const Buffer& data, size_t max_size, BlockPool& pool)
      : context_(context),
        data_(data),
        max_size_(max_size),
        out_(pool, 3 * data.size(), max_size) {}

  absl::Status Add(absl::string_view bytes) {
    do {
      if (ended_) return Malformed(data_, "bytes follow its end");
      const std::span<char> room = out_.Room();
      if (room.empty()) return NoBlocksFor("lz4", "decompress");
      size_t written = room.size();
      size_t read = bytes.size();
      const size_t hint =
          LZ4F_decompress(context_, room.data(), &written, bytes.data(), &read, nullptr);
      if (LZ4F_isError(hint)) return Malformed(data_, LZ4F_getErrorName(hint));
      if (!out_.Wrote(written)) return DecompressesToTooMuch("lz4", data_.size(), max_size_);
      bytes.remove_prefix(read);
      ended_ = hint == 0;
      more_ = written == room.size();
    } while (!bytes.empty() || (more_ && !ended_));
    return absl::OkStatus();
  }

  absl::StatusOr<Buffer> Take() {
    if (!ended_) return Malformed(data_, "it is cut short");
    return out_.Take();
  }

 private:
  LZ4F_dctx* const context_;
  const Buffer& data_;
  const size_t max_size_;
  BoundedOutput out_;
  bool ended_ = false;
  bool more_ = false;  // the last step filled its room
};

}  // namespace

absl::StatusOr<Buffer> Lz4Compress(const Buffer& data, BlockPool& pool) {
  Lz4Writer writer(data.size(), pool);
  bool ok = writer.Begin();
  for (const Buffer::Slice& slice : data.slices()) ok = ok && writer.Add(slice.view());
  if (ok && writer.End()) return writer.Take();
  return writer.memory() ? NoBlocksFor("lz4", "compress") : NoMemoryFor("lz4");
}

absl::StatusOr<Buffer> Lz4Decompress(const Buffer& data, size_t max_size, BlockPool& pool) {
  LZ4F_dctx* raw = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&raw, LZ4F_VERSION))) return NoMemoryFor("lz4");
  const std::unique_ptr<LZ4F_dctx, FreeDecompression> context(raw);
  const absl::StatusOr<size_t> header_size = ReadHeader(context.get(), data, max_size);
  if (!header_size.ok()) return header_size.status();
  Lz4Reader reader(context.get(), data, max_size, pool);
  size_t skip = *header_size;
  for (const Buffer::Slice& slice : data.slices()) {
    const size_t skipped = std::min<size_t>(skip, slice.length);
    skip -= skipped;
    if (skipped == slice.length) continue;
    if (absl::Status status = reader.Add(slice.view().substr(skipped)); !status.ok()) return status;
  }
  return reader.Take();
}

}  // namespace farcall
