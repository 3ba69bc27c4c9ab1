// SPDX-License-Identifier: Apache-2.0
//
// For the tests of frames: frames put together by hand, and Buffers of given pieces.

#ifndef FARCALL_RPC_WIRE_FRAME_TESTING_H_
#define FARCALL_RPC_WIRE_FRAME_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/message_lite.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/rpc_meta.pb.h"
#include "rpc/wire/test_message.pb.h"
#include "transport/buffer/buffer.h"

namespace farcall::testing {

// The 12 bytes of a header, whatever they say.
std::string Header(uint32_t body_size, uint32_t meta_size);
// A frame of these bytes, with the sizes that they have.
std::string RawFrame(absl::string_view meta, absl::string_view payload,
                     absl::string_view attachment);
// As a sender does it: by FrameEncoder::WriteTo and the attachment after it. Sets
// meta.attachment_size.
std::string Encode(wire::RpcMeta& meta, const google::protobuf::MessageLite* payload,
                   absl::string_view attachment);

// In slices of `piece` bytes (> 0; the last may be shorter). Each lies in an
// allocation of just its size, so that AddressSanitizer sees a byte read too many.
Buffer InPieces(absl::string_view bytes, size_t piece);
// In two slices, the first of `at` bytes; in one at either end.
Buffer SplitAt(absl::string_view bytes, size_t at);

// The bytes behind hexadecimal digits; spaces do not count.
std::string FromHex(absl::string_view hex);

// A request with most fields set: `correlation_id`, example.EchoService.Echo.
wire::RpcMeta RequestMeta(int64_t correlation_id);
EchoMessage Echo(absl::string_view message);

}  // namespace farcall::testing

#endif  // FARCALL_RPC_WIRE_FRAME_TESTING_H_
