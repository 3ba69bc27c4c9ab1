// SPDX-License-Identifier: Apache-2.0

#include "tools/fuzz/mutator.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace farcall::fuzz {
namespace {

const std::vector<std::string>& Corpus() {
  static const auto& corpus = *new std::vector<std::string>{
      std::string(), "x", "a longer input of some forty or fifty bytes", std::string(500, 'y')};
  return corpus;
}

TEST(MutatorTest, TheSameNumberGivesTheSameInput) {
  Mutator first(Corpus(), 1000);
  Mutator second(Corpus(), 1000);
  const std::string seventh = first.Make(7);
  for (uint64_t number = 0; number < 100; ++number) {
    EXPECT_EQ(first.Make(number), second.Make(number));
  }
  EXPECT_EQ(first.Make(7), seventh);
}

TEST(MutatorTest, InputsDiffer) {
  Mutator mutator(Corpus(), 1000);
  std::set<std::string> inputs;
  for (uint64_t number = 0; number < 1000; ++number) inputs.insert(mutator.Make(number));
  EXPECT_GT(inputs.size(), 800u);
}

TEST(MutatorTest, InputsGrowAndShrinkWithinTheLimit) {
  Mutator mutator(Corpus(), 510);
  size_t smallest = 510;
  size_t largest = 0;
  for (uint64_t number = 0; number < 2000; ++number) {
    const size_t size = mutator.Make(number).size();
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
  }
  EXPECT_LT(smallest, 10u);
  EXPECT_EQ(largest, 510u);
}

TEST(MutatorTest, AnEmptyInputAloneIsEnough) {
  const std::vector<std::string> corpus{std::string()};
  Mutator mutator(corpus, 100);
  std::set<std::string> inputs;
  for (uint64_t number = 0; number < 100; ++number) inputs.insert(mutator.Make(number));
  EXPECT_GT(inputs.size(), 50u);
}

}  // namespace
}  // namespace farcall::fuzz
