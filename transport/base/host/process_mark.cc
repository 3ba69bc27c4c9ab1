// SPDX-License-Identifier: Apache-2.0

#include "transport/base/host/process_mark.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

constexpr size_t kBytes = 1;  // the kernel rounds up to a page

// Reached from here, so that it is no leak.
struct Kept {
  std::shared_ptr<const void> what;
  Kept* next = nullptr;
};
std::atomic<Kept*> kept{nullptr};

}  // namespace

ProcessMark::ProcessMark() : pid_(::getpid()) {
  void* const page =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  // Since Linux 4.14; madvise(2).
  if (::madvise(page, kBytes, MADV_WIPEONFORK) != 0) {
    ::munmap(page, kBytes);
    return;
  }
  page_ = new (page) std::atomic<uint8_t>(1);
}

ProcessMark::~ProcessMark() {
  if (page_ != nullptr) ::munmap(page_, kBytes);
}

bool ProcessMark::SameNumber() const { return ::getpid() == pid_; }

absl::Status ProcessMark::NotHere() const {
  return absl::FailedPreconditionError(
      absl::StrCat("this process is a child that fork(2) made of process ", pid_,
                   ", to which this belongs: make a Runtime, channels and servers here "
                   "(docs/processes.md)"));
}

void KeepForEver(std::shared_ptr<const void> what) {
  auto* const keep = new Kept{std::move(what), kept.load()};
  while (!kept.compare_exchange_weak(keep->next, keep)) {
  }
}

}  // namespace farcall
