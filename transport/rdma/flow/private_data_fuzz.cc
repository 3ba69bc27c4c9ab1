// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the private data of each event, and as a message. What must hold: nothing is
// read outside of the bytes, and what is taken can be encoded again and says the same.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/rdma/flow/message_header.h"
#include "transport/rdma/flow/private_data.h"

namespace farcall {
namespace {

template <typename Bytes>
absl::string_view View(const Bytes& bytes) {
  return {std::data(bytes), std::size(bytes)};
}

void Run(absl::string_view bytes) {
  if (const auto data = DecodeConnectData(bytes); data.ok()) {
    const auto again = DecodeConnectData(View(EncodeConnectData(*data)));
    Check(again.ok() && *again == *data, "connect data says the same");
  }
  if (const auto data = DecodeAcceptData(bytes); data.ok()) {
    const auto again = DecodeAcceptData(View(EncodeAcceptData(*data)));
    Check(again.ok() && *again == *data, "accept data says the same");
  }
  if (const auto data = DecodeRejectData(bytes); data.ok()) {
    Check(!Explain(data->why).empty(), "a reason has a text");
    Check(data->text.size() <= RejectData::kMaxText, "the text is bounded");
    const auto again = DecodeRejectData(EncodeRejectData(*data));
    Check(again.ok() && *again == *data, "reject data says the same");
  }
  if (const auto header = DecodeMessageHeader(bytes); header.ok()) {
    char again[kMessageHeaderBytes];
    EncodeMessageHeader(*header, again);
    Check(bytes.substr(0, kMessageHeaderBytes) == absl::string_view(again, kMessageHeaderBytes),
          "a header is the same bytes");
    const auto with = DecodeMessageHeader(bytes, References::kYes);
    Check(with.ok() && *with == *header, "what was always known says the same");
  }
  if (const auto header = DecodeMessageHeader(bytes, References::kYes); header.ok()) {
    char again[kMessageHeaderBytes + RemoteBytes::kEncodedBytes];
    EncodeMessageHeader(*header, again);
    Check(bytes.substr(0, kMessageHeaderBytes) == absl::string_view(again, kMessageHeaderBytes),
          "a header with references is the same bytes");
    if (const auto remote = DecodeRemoteBytes(bytes); remote.ok()) {
      EncodeRemoteBytes(*remote, again + kMessageHeaderBytes);
      Check(bytes == View(again), "a reference is the same bytes");
      Check(remote->length > 0 && remote->length <= RemoteBytes::kMax, "a reference is bounded");
    }
  }
}

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy of its own size, so that AddressSanitizer sees what is read behind it.
  const auto copy = std::make_unique<char[]>(size);
  for (size_t i = 0; i < size; ++i) copy[i] = static_cast<char>(data[i]);
  farcall::Run({copy.get(), size});
  return 0;
}
