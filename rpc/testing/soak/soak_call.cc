// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/soak/soak_call.h"

#include <array>
#include <chrono>
#include <string>

#include "absl/strings/string_view.h"

namespace farcall {
namespace {

constexpr int kBackupMs = 100;
constexpr size_t kLargest = size_t{64} << 10;

// What is attached: a part of this that begins at a place of the call's own.
const std::string& Pattern() {
  static const std::string* const pattern = [] {
    auto* bytes = new std::string(kLargest + 251, '\0');
    for (size_t i = 0; i < bytes->size(); ++i) (*bytes)[i] = static_cast<char>(i % 251);
    return bytes;
  }();
  return *pattern;
}

absl::string_view Attachment(uint64_t id, size_t size) {
  return absl::string_view(Pattern()).substr(id % 251, size);
}

// Most are small, some large.
size_t ChooseSize(uint64_t choice) {
  constexpr std::array<size_t, 8> kSizes = {0, 0, 0, 100, 100, 1000, 4096, kLargest};
  return kSizes[choice % kSizes.size()];
}

// Most answer at once; some run long enough to be caught by what happens to their server.
uint32_t ChooseWorkUs(uint64_t choice) {
  if (choice % 64 == 0) return 20'000;
  return choice % 8 == 0 ? 1'000 : 0;
}

}  // namespace

void SoakCall::Prepare(Kind kind, uint64_t id, uint64_t choice) {
  controller.Reset();
  response.Clear();
  request.set_id(id);
  request.set_work_us(ChooseWorkUs(choice >> 8));
  kind_ = kind;
  attached_ = ChooseSize(choice);
  controller.request_attachment().Append(Attachment(id, attached_));
  if (kind == Kind::kBackedRead) controller.set_backup_request_ms(kBackupMs);
  started_ = std::chrono::steady_clock::now();
  busy_ = true;
}

void SoakCall::Run() {
  if (!busy_) {
    ++ended_twice_;
    return;
  }
  ended_ = std::chrono::steady_clock::now();
  on_end_(*this);
  busy_ = false;
}

bool SoakCall::Answered() {
  return response.id() == request.id() &&
         controller.response_attachment().ToString() == Attachment(request.id(), attached_);
}

}  // namespace farcall
