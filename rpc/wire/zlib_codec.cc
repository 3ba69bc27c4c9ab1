// SPDX-License-Identifier: Apache-2.0

#include <zlib.h>

#include <limits>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rpc/wire/codecs.h"

namespace farcall {
namespace {

// zlib.h, deflateInit2: the largest window; 16 more stands for gzip.
constexpr int kWindowBits = 15;
constexpr int kGzipBits = 16;
constexpr int kMemoryLevel = 8;  // zlib's default

const char* Name(ZlibWrapper wrapper) { return wrapper == ZlibWrapper::kGzip ? "gzip" : "zlib"; }

int Bits(ZlibWrapper wrapper) {
  return kWindowBits + (wrapper == ZlibWrapper::kGzip ? kGzipBits : 0);
}

// One end of zlib: `ok()` or there was no memory.
struct Deflater {
  explicit Deflater(ZlibWrapper wrapper)
      : result(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, Bits(wrapper), kMemoryLevel,
                            Z_DEFAULT_STRATEGY)) {}
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream); }

  z_stream stream{};
  const int result;
};

struct Inflater {
  explicit Inflater(ZlibWrapper wrapper) : result(inflateInit2(&stream, Bits(wrapper))) {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }

  z_stream stream{};
  const int result;
};

// zlib never writes to its input.
Bytef* Input(absl::string_view bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

void SetOutput(z_stream& stream, std::span<char> room) {
  stream.next_out = reinterpret_cast<Bytef*>(room.data());
  stream.avail_out = static_cast<uInt>(room.size());
}

// Deflates what is set as the input, and to the end of the stream with Z_FINISH. False: the
// pool is at its limit.
bool Deflate(z_stream& stream, int flush, BoundedOutput& out) {
  for (;;) {
    const std::span<char> room = out.Room();
    if (room.empty()) return false;
    SetOutput(stream, room);
    const int result = deflate(&stream, flush);
    if (!out.Wrote(room.size() - stream.avail_out)) return false;
    if (result == Z_STREAM_END || (flush == Z_NO_FLUSH && stream.avail_out > 0)) return true;
  }
}

// Inflates a stream of slices, one Add for each.
class Inflating {
 public:
  Inflating(ZlibWrapper wrapper, size_t size, size_t max_size, BlockPool& pool)
      // Text and protobuf often shrink to a third.
      : wrapper_(wrapper),
        size_(size),
        max_size_(max_size),
        inflater_(wrapper),
        out_(pool, 3 * size, max_size) {}

  absl::Status Add(absl::string_view bytes) {
    z_stream& stream = inflater_.stream;
    if (inflater_.result != Z_OK) return NoMemoryFor(Name(wrapper_));
    stream.next_in = Input(bytes);
    stream.avail_in = static_cast<uInt>(bytes.size());
    do {
      if (ended_) {
        if (absl::Status status = BeginMember(); !status.ok()) return status;
      }
      if (absl::Status status = Step(); !status.ok()) return status;
    } while (stream.avail_in > 0 || (full_ && !ended_));
    return absl::OkStatus();
  }

  absl::StatusOr<Buffer> Take() {
    if (!ended_) return Malformed("it is cut short");
    return out_.Take();
  }

 private:
  absl::Status Malformed(absl::string_view what) const {
    return MalformedPayload(Name(wrapper_), size_, what);
  }

  // There are bytes after the end: of another member, which only gzip has.
  absl::Status BeginMember() {
    if (wrapper_ != ZlibWrapper::kGzip) return Malformed("bytes follow its end");
    // Keeps input and output as they are.
    inflateReset(&inflater_.stream);
    ended_ = false;
    first_member_ = false;
    return absl::OkStatus();
  }

  absl::Status Step() {
    z_stream& stream = inflater_.stream;
    const std::span<char> room = out_.Room();
    if (room.empty()) return NoBlocksFor(Name(wrapper_), "decompress");
    SetOutput(stream, room);
    const int result = inflate(&stream, Z_NO_FLUSH);
    full_ = stream.avail_out == 0;
    if (!out_.Wrote(room.size() - stream.avail_out)) {
      return DecompressesToTooMuch(Name(wrapper_), size_, max_size_);
    }
    switch (result) {
      case Z_STREAM_END:
        ended_ = true;
        return absl::OkStatus();
      case Z_OK:
      case Z_BUF_ERROR:  // wants more input, which is seen at the end if there is none
        return absl::OkStatus();
      case Z_NEED_DICT:
        return Malformed("it needs a preset dictionary");
      case Z_MEM_ERROR:
        return NoMemoryFor(Name(wrapper_));
      default:
        if (!first_member_ && stream.total_out == 0) return Malformed("bytes follow its end");
        return Malformed(stream.msg == nullptr ? "no more is known" : stream.msg);
    }
  }

  const ZlibWrapper wrapper_;
  const size_t size_;
  const size_t max_size_;
  Inflater inflater_;
  BoundedOutput out_;
  bool ended_ = false;
  bool full_ = false;  // the last step filled its room: there may be more to come
  bool first_member_ = true;
};

}  // namespace

absl::StatusOr<Buffer> ZlibCompress(ZlibWrapper wrapper, const Buffer& data, BlockPool& pool) {
  Deflater deflater(wrapper);
  if (deflater.result != Z_OK) return NoMemoryFor(Name(wrapper));
  BoundedOutput out(pool, data.size() / 2, std::numeric_limits<size_t>::max());
  for (const Buffer::Slice& slice : data.slices()) {
    deflater.stream.next_in = Input(slice.view());
    deflater.stream.avail_in = slice.length;
    if (!Deflate(deflater.stream, Z_NO_FLUSH, out)) return NoBlocksFor(Name(wrapper), "compress");
  }
  if (!Deflate(deflater.stream, Z_FINISH, out)) return NoBlocksFor(Name(wrapper), "compress");
  return out.Take();
}

absl::StatusOr<Buffer> ZlibDecompress(ZlibWrapper wrapper, const Buffer& data, size_t max_size,
                                      BlockPool& pool) {
  Inflating inflating(wrapper, data.size(), max_size, pool);
  for (const Buffer::Slice& slice : data.slices()) {
    if (absl::Status status = inflating.Add(slice.view()); !status.ok()) return status;
  }
  return inflating.Take();
}

}  // namespace farcall
