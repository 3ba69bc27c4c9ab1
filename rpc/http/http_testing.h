// SPDX-License-Identifier: Apache-2.0
//
// For the tests of the reader and its fuzzer: bytes in, and how it went as text.

#ifndef FARCALL_RPC_HTTP_HTTP_TESTING_H_
#define FARCALL_RPC_HTTP_HTTP_TESTING_H_

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "rpc/http/http_message.h"
#include "rpc/http/http_reader.h"
#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace farcall::testing {

// What a request says, on one line.
inline std::string Describe(const HttpRequest& request) {
  std::string text = absl::StrCat(request.method, " ", absl::CHexEscape(request.path));
  for (const HttpField& parameter : request.query) {
    absl::StrAppend(&text, " ?", absl::CHexEscape(parameter.name), "=",
                    absl::CHexEscape(parameter.value));
  }
  for (const HttpField& field : request.fields) {
    absl::StrAppend(&text, " ", field.name, "=", absl::CHexEscape(field.value));
  }
  return absl::StrCat(text, " [", absl::CHexEscape(request.body.ToString()), "]",
                      request.http11 ? "" : " 1.0", request.keep_alive ? "" : " close", "\n");
}

// Small regions: a pool for each test costs little.
inline std::unique_ptr<BlockPool> SmallPool() {
  auto pool = BlockPool::Create({.region_bytes = size_t{2} << 20, .max_bytes = size_t{8} << 20});
  Check(pool.ok(), "a test gets memory");
  return *std::move(pool);
}

// All that comes of `bytes` when they come in pieces of at most `piece`, each in an allocation of
// its own, so that reading beyond one is seen: requests, "continue", and "STATUS text" at a
// refusal.
inline std::string ReadAll(absl::string_view bytes, size_t piece, BlockPool& pool,
                           const HttpLimits& limits = {}) {
  HttpReader reader(limits, pool);
  Buffer input;
  std::string outcome;
  HttpRequest request;
  for (;;) {
    switch (reader.Read(input, request)) {
      case HttpReader::Result::kRequest:
        absl::StrAppend(&outcome, Describe(request));
        continue;
      case HttpReader::Result::kContinue:
        absl::StrAppend(&outcome, "continue\n");
        continue;
      case HttpReader::Result::kRefused:
        return absl::StrCat(outcome, reader.refusal().status, " ", reader.refusal().text);
      case HttpReader::Result::kMore:
        break;
    }
    Check(reader.need() == 0 || reader.need() > input.size(), "more is asked for than there is");
    if (bytes.empty()) return absl::StrCat(outcome, reader.begun() ? "more" : "");
    const absl::string_view next = bytes.substr(0, std::max<size_t>(piece, 1));
    // Not merged with what lies before it.
    auto* const copy = new std::string(next);
    input.AppendUserData(copy->data(), copy->size(), [copy] { delete copy; });
    bytes.remove_prefix(next.size());
  }
}

}  // namespace farcall::testing

#endif  // FARCALL_RPC_HTTP_HTTP_TESTING_H_
