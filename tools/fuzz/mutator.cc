// SPDX-License-Identifier: Apache-2.0

#include "tools/fuzz/mutator.h"

#include <algorithm>
#include <iterator>

namespace farcall::fuzz {
namespace {

// Where lengths and counts turn over.
constexpr uint32_t kNumbers[] = {0,          1,          2,          0x7f,       0x80,
                                 0xff,       0x100,      0x7fff,     0x8000,     0xffff,
                                 0x10000,    0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001,
                                 0xfffffff0, 0xfffffffe, 0xffffffff};
constexpr unsigned char kBytes[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
constexpr size_t kLongestPiece = 64;

}  // namespace

std::string Mutator::Make(uint64_t number) {
  random_.seed(number);
  std::string input = corpus_[Below(corpus_.size())];
  for (uint64_t steps = 1 + Below(4); steps > 0; --steps) MutateOnce(input);
  if (input.size() > max_size_) input.resize(max_size_);
  return input;
}

void Mutator::MutateOnce(std::string& input) {
  const uint64_t kind = Below(8);
  if (input.empty() || kind == 0) {
    Insert(input, std::string(1 + Below(8), Byte()));
    return;
  }
  const size_t at = Below(input.size());
  switch (kind) {
    case 1:
      input[at] = static_cast<char>(input[at] ^ (1 << Below(8)));
      break;
    case 2:
      input[at] = Byte();
      break;
    case 3:
      input[at] = static_cast<char>(kBytes[Below(std::size(kBytes))]);
      break;
    case 4:
      OverwriteNumber(input);
      break;
    case 5:
      input.erase(at, 1 + Below(kLongestPiece));
      break;
    case 6:
      Insert(input, PieceOf(input));
      break;
    default:
      Insert(input, PieceOf(corpus_[Below(corpus_.size())]));
      break;
  }
}

void Mutator::OverwriteNumber(std::string& input) {
  const uint32_t number = kNumbers[Below(std::size(kNumbers))];
  const bool big_endian = Below(2) == 1;
  const size_t at = Below(input.size());
  for (size_t i = 0; i < 4 && at + i < input.size(); ++i) {
    const size_t shift = 8 * (big_endian ? 3 - i : i);
    input[at + i] = static_cast<char>(number >> shift);
  }
}

void Mutator::Insert(std::string& input, const std::string& bytes) {
  input.insert(Below(input.size() + 1), bytes);
}

std::string Mutator::PieceOf(const std::string& bytes) {
  if (bytes.empty()) return bytes;
  return bytes.substr(Below(bytes.size()), 1 + Below(kLongestPiece));
}

}  // namespace farcall::fuzz
