// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/piece_joiner.h"

#include <string>
#include <utility>

namespace farcall {

void PieceJoiner::Append(Buffer&& bytes, size_t waiting, Buffer& to) {
  if (waiting < kPieces || bytes.size() >= kCopyBelow) return to.Append(std::move(bytes));
  const std::string copy = bytes.ToString();
  if (!blocks_.Append(copy, to)) to.Append(copy);
}

}  // namespace farcall
