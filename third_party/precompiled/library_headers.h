// SPDX-License-Identifier: Apache-2.0

// What many sources include, and takes longer to read than what they say themselves. Each still
// includes what it uses: clang's build of the library reads none first.
#ifndef FARCALL_THIRD_PARTY_PRECOMPILED_LIBRARY_HEADERS_H_
#define FARCALL_THIRD_PARTY_PRECOMPILED_LIBRARY_HEADERS_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/generated_message_reflection.h"
#include "google/protobuf/message.h"
#include "google/protobuf/service.h"

#endif  // FARCALL_THIRD_PARTY_PRECOMPILED_LIBRARY_HEADERS_H_
