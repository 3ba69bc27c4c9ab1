// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/checksum.h"

#include <isa-l/crc.h>

#include <algorithm>

#include "absl/strings/string_view.h"

namespace farcall {
namespace {

// ISA-L counts in int.
constexpr size_t kPiece = size_t{1} << 30;

}  // namespace

uint32_t Crc32c(const Buffer& data, uint32_t before) {
  // ISA-L leaves both inversions of the CRC to its caller.
  uint32_t crc = ~before;
  for (const Buffer::Slice& slice : data.slices()) {
    for (absl::string_view rest = slice.view(); !rest.empty();
         rest.remove_prefix(std::min(kPiece, rest.size()))) {
      // Not const in its signature, but only read.
      auto* const bytes = reinterpret_cast<unsigned char*>(const_cast<char*>(rest.data()));
      crc = crc32_iscsi(bytes, static_cast<int>(std::min(kPiece, rest.size())), crc);
    }
  }
  return ~crc;
}

}  // namespace farcall
