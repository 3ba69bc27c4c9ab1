// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_FUZZ_MUTATOR_H_
#define FARCALL_TOOLS_FUZZ_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace farcall::fuzz {

// Makes damaged inputs out of good ones. Knows nothing of coverage: that is libFuzzer's
// trade. One thread.
class Mutator {
 public:
  // `corpus` outlives this and is not empty (an empty input in it is fine). `max_size`:
  // bytes of a mutated input at most.
  Mutator(const std::vector<std::string>& corpus, size_t max_size)
      : corpus_(corpus), max_size_(max_size) {}

  // The mutation of that number: always the same for the same corpus.
  std::string Make(uint64_t number);

 private:
  void MutateOnce(std::string& input);
  void OverwriteNumber(std::string& input);
  void Insert(std::string& input, const std::string& bytes);
  std::string PieceOf(const std::string& bytes);
  uint64_t Below(uint64_t limit) { return random_() % limit; }  // limit > 0
  char Byte() { return static_cast<char>(random_()); }

  const std::vector<std::string>& corpus_;
  const size_t max_size_;
  std::mt19937_64 random_;
};

}  // namespace farcall::fuzz

#endif  // FARCALL_TOOLS_FUZZ_MUTATOR_H_
