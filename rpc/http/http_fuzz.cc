// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the stream of an HTTP client. What must hold: nothing is read outside of the slices
// (each has an allocation of its own), pieces do not matter, nothing is answered with a
// status that is no error, and what is read as a request Boost.Beast reads as the same one.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "boost/beast/http/parser.hpp"
#include "boost/beast/http/string_body.hpp"
#include "rpc/http/http_reader.h"
#include "rpc/http/http_testing.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr HttpLimits kLimits{.max_head_size = 2048,
                             .max_target_size = 512,
                             .max_fields = 20,
                             .max_body_size = 1000,
                             .max_chunk_extra = 256};

BlockPool& Pool() {
  static const std::unique_ptr<BlockPool> pool = testing::SmallPool();
  return *pool;
}

// "continue" is returned only where nothing of the body has come, which pieces decide.
std::string Outcome(absl::string_view bytes, size_t piece) {
  return absl::StrReplaceAll(testing::ReadAll(bytes, piece, Pool(), kLimits), {{"continue\n", ""}});
}

// A peer or proxy that is less strict must not find another end of the request, or another one in
// it: so one reader would take what the other let pass.
void CompareWithBeast(absl::string_view bytes) {
  HttpReader reader(kLimits, Pool());
  Buffer input(bytes);
  HttpRequest request;
  if (reader.Read(input, request) != HttpReader::Result::kRequest) return;
  const size_t size = bytes.size() - input.size();
  bytes = bytes.substr(0, size);
  absl::ConsumePrefix(&bytes, "\r\n");
  boost::beast::http::request_parser<boost::beast::http::string_body> beast;
  beast.eager(true);
  while (!beast.is_done()) {
    boost::beast::error_code error;
    const size_t used = beast.put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    Check(!error && used > 0, "Beast finds a whole request too");
    bytes.remove_prefix(used);
  }
  Check(bytes.empty(), "Beast finds the same end");
  Check(beast.get().body() == request.body.ToString(), "Beast finds the same body");
  Check(beast.get().method_string() == request.method, "Beast finds the same method");
  for (const HttpField& field : request.fields) {
    Check(beast.get()[field.name] == *request.Find(field.name), "Beast finds the same fields");
  }
}

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = farcall::Outcome(bytes, size + 1);
  farcall::Check(farcall::Outcome(bytes, 13) == whole, "pieces do not matter");
  if (size <= 300) {
    farcall::Check(farcall::Outcome(bytes, 1) == whole, "single bytes do not matter");
  }
  farcall::CompareWithBeast(bytes);
  return 0;
}
