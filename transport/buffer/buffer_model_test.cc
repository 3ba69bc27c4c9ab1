// SPDX-License-Identifier: Apache-2.0
//
// Random operations on a few Buffers, each beside the std::string that it must equal.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "transport/buffer/block_testing.h"
#include "transport/buffer/buffer.h"

namespace farcall {
namespace {

constexpr int kSeeds = 400;
constexpr int kStepsPerSeed = 200;

class BufferModel {
 public:
  explicit BufferModel(uint32_t seed) : random_(seed) {}
  ~BufferModel() {
    for (Pair& pair : pairs_) pair.buffer.Clear();
    EXPECT_EQ(blocks_.live(), 0);
    for (const auto& user : user_data_) EXPECT_EQ(user->released, 1);
  }

  void Step() {
    Pair& pair = pairs_[Below(pairs_.size())];
    switch (Below(12)) {
      case 0:
        return AppendCopy(pair);
      case 1:
      case 2:
        return AppendSlices(pair);
      case 3:
        return AppendUser(pair);
      case 4:
      case 5:
        return AppendBuffer(pair);
      case 6:
      case 7:
        return Cut(pair);
      case 8:
        return Remove(pair);
      case 9:
        return Share(pair);
      case 10:
        return Read(pair);
      default:
        return Below(8) == 0 ? ClearIt(pair) : MoveAround(pair);
    }
  }

  void Verify() {
    for (const Pair& pair : pairs_) {
      ASSERT_EQ(pair.buffer.size(), pair.model.size());
      ASSERT_EQ(pair.buffer.empty(), pair.model.empty());
      ASSERT_EQ(pair.buffer.ToString(), pair.model);
      const auto slices = pair.buffer.slices();
      for (size_t i = 0; i < slices.size(); ++i) {
        ASSERT_TRUE(slices[i].block);
        ASSERT_GT(slices[i].length, 0u);
        ASSERT_LE(slices[i].length, slices[i].block->capacity - slices[i].offset);
      }
    }
  }

 private:
  struct Pair {
    Buffer buffer;
    std::string model;
  };
  struct UserData {
    std::string bytes;
    int released = 0;
  };

  size_t Below(size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random_);
  }

  std::string NewBytes(size_t limit) {
    std::string bytes(Below(limit), ' ');
    for (char& c : bytes) c = static_cast<char>('a' + Below(26));
    return bytes;
  }

  Pair& Other(const Pair& pair) {
    const auto at = static_cast<size_t>(&pair - pairs_.data());
    return pairs_[(at + 1 + Below(pairs_.size() - 1)) % pairs_.size()];
  }

  void AppendCopy(Pair& pair) {
    const std::string bytes = NewBytes(40);
    pair.buffer.Append(bytes);
    pair.model += bytes;
  }

  // Several slices of one block, some of which continue each other.
  void AppendSlices(Pair& pair) {
    const std::string bytes = NewBytes(64);
    const BlockRef block = blocks_.New(bytes);
    uint32_t offset = 0;
    for (size_t count = Below(5); count > 0; --count) {
      if (Below(2) == 0) offset = static_cast<uint32_t>(Below(bytes.size() + 1));
      const auto length = static_cast<uint32_t>(Below(bytes.size() - offset + 1));
      if (Below(2) == 0) {
        pair.buffer.Append(block, offset, length);
      } else {
        pair.buffer.Append(Buffer::Slice{block, offset, length});
      }
      pair.model += bytes.substr(offset, length);
      offset += length;
    }
  }

  void AppendUser(Pair& pair) {
    auto data = std::make_unique<UserData>();
    data->bytes = NewBytes(40);
    pair.buffer.AppendUserData(data->bytes.data(), data->bytes.size(),
                               [counted = data.get()] { ++counted->released; });
    pair.model += data->bytes;
    user_data_.push_back(std::move(data));
  }

  void AppendBuffer(Pair& pair) {
    Pair& tail = Other(pair);
    if (pair.model.size() + tail.model.size() > 20'000) return ClearIt(pair);
    pair.buffer.Append(std::move(tail.buffer));
    pair.model += std::exchange(tail.model, "");
  }

  void Cut(Pair& pair) {
    Pair& to = Other(pair);
    const size_t bytes = Below(pair.model.size() + 1);
    to.buffer = pair.buffer.CutFront(bytes);
    to.model = pair.model.substr(0, bytes);
    pair.model.erase(0, bytes);
  }

  void Remove(Pair& pair) {
    const size_t bytes = Below(pair.model.size() + 1);
    pair.buffer.RemoveFront(bytes);
    pair.model.erase(0, bytes);
  }

  void Share(Pair& pair) {
    Pair& to = Other(pair);
    to.buffer = pair.buffer.Share();
    to.model = pair.model;
  }

  void Read(Pair& pair) {
    const size_t from = Below(pair.model.size() + 1);
    const size_t bytes = Below(pair.model.size() + 10);
    std::string out(bytes, '?');
    out.resize(pair.buffer.CopyTo(out.data(), bytes, from));
    EXPECT_EQ(out, pair.model.substr(from, bytes));
    std::string scratch(from, '?');
    EXPECT_EQ(pair.buffer.Front(from, scratch.data()),
              absl::string_view(pair.model).substr(0, from));
  }

  void ClearIt(Pair& pair) {
    pair.buffer.Clear();
    pair.model.clear();
  }

  void MoveAround(Pair& pair) {
    Pair& to = Other(pair);
    Buffer taken(std::move(pair.buffer));
    pair.buffer = std::move(to.buffer);
    to.buffer = std::move(taken);
    std::swap(pair.model, to.model);
  }

  std::mt19937 random_;
  TestBlocks blocks_;
  std::vector<std::unique_ptr<UserData>> user_data_;
  std::array<Pair, 4> pairs_;
};

TEST(BufferModelTest, EqualsAStringUnderRandomOperations) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    BufferModel model(seed);
    for (int step = 0; step < kStepsPerSeed; ++step) {
      model.Step();
      ASSERT_NO_FATAL_FAILURE(model.Verify()) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace farcall
