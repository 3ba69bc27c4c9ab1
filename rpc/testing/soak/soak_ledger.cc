// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/soak/soak_ledger.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/base/unique_fd.h"

namespace farcall {
namespace {

// Atomics in shared memory must not need a lock of one process.
static_assert(std::atomic<uint8_t>::is_always_lock_free);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Wrapping around would hide what is counted; so many of one write do not happen at once.
void Increment(std::atomic<uint8_t>& count) {
  if (count.fetch_add(1) == 255) count = 255;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SoakLedger>> SoakLedger::Open(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid() || ::ftruncate(fd.get(), sizeof(File)) != 0) {
    return Annotate(ErrnoStatus(errno), absl::StrCat("ledger ", path));
  }
  void* map = ::mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (map == MAP_FAILED) return Annotate(ErrnoStatus(errno), absl::StrCat("ledger ", path));
  return std::unique_ptr<SoakLedger>(new SoakLedger(static_cast<File*>(map)));
}

SoakLedger::~SoakLedger() { ::munmap(file_, sizeof(File)); }

uint64_t SoakLedger::Begin() {
  const uint64_t id = file_->writes.fetch_add(1);
  Check(id < kMaxWrites, "a soak has as many writes as its ledger has room for");
  return id;
}

void SoakLedger::End(uint64_t id, bool answered) {
  Write& write = file_->write[id];
  Increment(answered ? write.answers : write.failures);
}

bool SoakLedger::Run(uint64_t id) {
  if (id >= std::min(file_->writes.load(), kMaxWrites)) return false;
  Increment(file_->write[id].runs);
  return true;
}

SoakLedger::Counts SoakLedger::Count() const {
  Counts counts;
  counts.writes = std::min(file_->writes.load(), kMaxWrites);
  for (uint64_t id = 0; id < counts.writes; ++id) {
    const Write& write = file_->write[id];
    const int answers = write.answers;
    const int failures = write.failures;
    counts.answered += answers > 0;
    counts.failed += failures > 0;
    counts.failed_and_run += failures > 0 && write.runs > 0;
    counts.doubled += write.runs > 1;
    counts.answered_not_run += answers > 0 && write.runs == 0;
    counts.not_ended += answers + failures == 0;
    counts.ended_twice += answers + failures > 1;
  }
  return counts;
}

}  // namespace farcall
