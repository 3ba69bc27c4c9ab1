// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/temp_dir.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "transport/base/check.h"

namespace farcall {

TempDir::TempDir() : path_("/tmp/farcall_XXXXXX") {
  Check(::mkdtemp(path_.data()) != nullptr, "a test gets a directory");
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace farcall
