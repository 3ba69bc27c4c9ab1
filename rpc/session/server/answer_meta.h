// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_ANSWER_META_H_
#define FARCALL_RPC_SESSION_SERVER_ANSWER_META_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "rpc/session/thread_meta.h"
#include "rpc/wire/rpc_meta.pb.h"

namespace farcall {

// Longer texts are cut: they travel in the meta, which peers limit.
inline constexpr size_t kMaxErrorText = 800;

// The meta of an answer: this thread's one, so that its memory is used again; valid until the
// next call on this thread. `code` 0: success, and `text` is not sent.
inline wire::RpcMeta& AnswerMeta(int64_t correlation_id, int code, absl::string_view text) {
  wire::RpcMeta& meta = ThreadMeta<MetaOf::kAnswer>::Get();
  meta.mutable_response()->set_error_code(code);
  if (code != 0) {
    text = text.substr(0, kMaxErrorText);
    meta.mutable_response()->mutable_error_text()->assign(text.data(), text.size());
  }
  meta.set_correlation_id(correlation_id);
  return meta;
}

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_ANSWER_META_H_
