// SPDX-License-Identifier: Apache-2.0
//
// A target with a planted mistake, for the test of fuzz_main.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0 && data[0] == 0xff) std::abort();
  return 0;
}
