// SPDX-License-Identifier: Apache-2.0
//
// The meta of an ordinary frame, written and read by hand: it has the few fields that every call
// needs, and generated code, made for any field in any order, takes several times the
// instructions for them. A meta with anything else goes by wire::RpcMeta. Pure.

#ifndef FARCALL_RPC_WIRE_PLAIN_META_H_
#define FARCALL_RPC_WIRE_PLAIN_META_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "rpc/wire/rpc_meta.pb.h"

namespace farcall {

// The bytes that a wire::RpcMeta with the same fields is serialized to.
class PlainMeta {
 public:
  // Bytes of both names of a request together.
  static constexpr size_t kMaxNames = 256;
  // Of a meta: beside the names three tags with their lengths, and four numbers.
  static constexpr size_t kMax = kMaxNames + 64;

  // The names have at most kMaxNames bytes; checked.
  struct Request {
    absl::string_view service_name;
    absl::string_view method_name;
    int64_t log_id = 0;      // 0: not sent
    int32_t timeout_ms = 0;  // below 1: not sent
    int64_t correlation_id = 0;
  };
  // Without an error.
  struct Answer {
    int64_t correlation_id = 0;
  };

  explicit PlainMeta(const Request& request) : end_(Put(request, 0, bytes_) - bytes_) {}
  explicit PlainMeta(const Answer& answer) : end_(Put(answer, 0, bytes_) - bytes_) {}

  // Writes the bytes to where there is room for kMax, and returns their end. An attachment of 0
  // bytes is not sent.
  static char* Put(const Request& request, int32_t attachment_size, char* to);
  static char* Put(const Answer& answer, int32_t attachment_size, char* to);

  // At most once.
  void SetAttachmentSize(int32_t bytes);
  // Valid until this changes or dies.
  absl::string_view bytes() const { return {bytes_, static_cast<size_t>(end_)}; }

 private:
  char bytes_[kMax];
  std::ptrdiff_t end_;
};

// Reads the metas of one connection, one after the other, into one RpcMeta that no other code
// changes meanwhile. One thread at a time.
class PlainMetaReader {
 public:
  // Replaces `meta` by what `bytes` hold, and returns true, if that is what
  // meta.ParsePartialFromArray would make of them. False: they are malformed, or have something
  // that only generated code reads; what `meta` holds is then not specified.
  bool Read(absl::string_view bytes, wire::RpcMeta& meta);
  // What was read last has the same request, or response, as what was read before.
  bool same() const { return same_; }

 private:
  // A larger part is not kept.
  static constexpr size_t kMaxPart = 512;

  size_t Known(absl::string_view bytes, const wire::RpcMeta& meta) const;
  static bool ReadUsual(absl::string_view rest, wire::RpcMeta& meta);
  void Remember(absl::string_view front, int count);
  bool ReadFrom(size_t known, absl::string_view bytes, wire::RpcMeta& meta);

  // The bytes at the front of the last meta that were its request or response, all of it: most
  // calls of a connection are of one method, and where the next meta begins with the same bytes,
  // what they mean stands in `of_` already.
  std::string part_;
  const wire::RpcMeta* of_ = nullptr;  // null: nothing is known
  bool same_ = false;
};

}  // namespace farcall

#endif  // FARCALL_RPC_WIRE_PLAIN_META_H_
