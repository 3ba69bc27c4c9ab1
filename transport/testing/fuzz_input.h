// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_FUZZ_INPUT_H_
#define FARCALL_TRANSPORT_TESTING_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace farcall {

// The bytes that a fuzzer gave, read as decisions; behind their end all are 0.
class FuzzInput {
 public:
  // They outlive it.
  FuzzInput(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool empty() const { return size_ == 0; }
  uint8_t Next() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  // As many of the next `bytes` as there are.
  std::string Take(size_t bytes) {
    std::string taken;
    for (; bytes > 0 && size_ > 0; --bytes) taken.push_back(static_cast<char>(Next()));
    return taken;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_FUZZ_INPUT_H_
