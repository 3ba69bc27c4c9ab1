// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/test_pattern.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "transport/testing/test_random.h"

namespace farcall {
namespace {

// A prime, so that no size of block or message divides it.
constexpr size_t kPeriod = 1048573;

const std::string& Table() {
  static const std::string* const table = [] {
    auto* const bytes = new std::string(kPeriod, '\0');
    TestRandom random(0x66617263616c6cULL);
    for (char& byte : *bytes) byte = static_cast<char>(random.Next() & 0xff);
    return bytes;
  }();
  return *table;
}

}  // namespace

TestPattern::TestPattern(uint64_t stream) : start_(TestRandom(stream).Below(kPeriod)) {}

absl::string_view TestPattern::At(uint64_t offset, size_t most) const {
  const size_t at = (start_ + offset) % kPeriod;
  return absl::string_view(Table()).substr(at, most);
}

size_t TestPattern::Matching(uint64_t offset, absl::string_view bytes) const {
  size_t done = 0;
  while (done < bytes.size()) {
    const absl::string_view wanted = At(offset + done, bytes.size() - done);
    const absl::string_view found = bytes.substr(done, wanted.size());
    if (found != wanted) {
      const auto differ = std::mismatch(found.begin(), found.end(), wanted.begin());
      return done + static_cast<size_t>(differ.first - found.begin());
    }
    done += wanted.size();
  }
  return done;
}

}  // namespace farcall
