// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_BLOCK_TESTING_H_
#define FARCALL_TRANSPORT_BUFFER_BLOCK_TESTING_H_

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/buffer/block.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// Blocks for tests, which count their way home. One thread at a time; its destructor
// checks that all are back.
class TestBlocks final : public BlockOwner {
 public:
  ~TestBlocks() { Check(live_ == 0, "every test block comes home"); }

  // A block that holds `bytes`.
  BlockRef New(absl::string_view bytes) {
    auto stored = std::make_unique<Stored>();
    stored->bytes.assign(bytes.data(), bytes.size());
    Block& block = stored->block;
    block.data = reinterpret_cast<std::byte*>(stored->bytes.data());
    block.capacity = static_cast<uint32_t>(bytes.size());
    block.owner = this;
    block.references = 1;
    all_.push_back(std::move(stored));
    ++live_;
    return BlockRef::Adopt(block);
  }
  // A slice that is the whole of a new block.
  Buffer::Slice NewSlice(absl::string_view bytes) {
    return {New(bytes), 0, static_cast<uint32_t>(bytes.size())};
  }

  // One slice, each in a block of its own, for each of `pieces`.
  Buffer BufferOf(const std::vector<std::string>& pieces) {
    Buffer buffer;
    for (const std::string& piece : pieces) buffer.Append(NewSlice(piece));
    return buffer;
  }

  void Recycle(Block& block) override {
    Check(block.references == 0, "no reference is left");
    Check(block.data != nullptr, "a block comes home once");
    block.data = nullptr;
    --live_;
  }

  int live() const { return live_; }

 private:
  struct Stored {
    Block block;
    std::string bytes;
  };
  std::vector<std::unique_ptr<Stored>> all_;
  int live_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_BLOCK_TESTING_H_
