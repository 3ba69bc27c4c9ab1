// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_FILL_PLACE_H_
#define FARCALL_TRANSPORT_TESTING_FILL_PLACE_H_

#include <cstddef>
#include <cstring>

#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// What a transport does with what Connection::Handler::PlaceFor gave for the next bytes: writes
// the first of them there. Returns how many.
inline size_t FillPlace(const Buffer& target, absl::string_view bytes) {
  Check(target.size() <= bytes.size(), "no more memory is given than was asked for");
  size_t done = 0;
  for (const Buffer::Slice& slice : target.slices()) {
    std::memcpy(slice.block->bytes() + slice.offset, bytes.data() + done, slice.length);
    done += slice.length;
  }
  return done;
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_FILL_PLACE_H_
