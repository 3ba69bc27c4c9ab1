// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_SOAK_SOAK_LEDGER_H_
#define FARCALL_RPC_TESTING_SOAK_SOAK_LEDGER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace farcall {

// What became of each write, in a file that client and servers have mapped: what a process wrote
// stays when it is killed. Any thread of any process.
class SoakLedger {
 public:
  static constexpr uint64_t kMaxWrites = uint64_t{1} << 27;  // the file is sparse

  // Makes the file where there is none.
  static absl::StatusOr<std::unique_ptr<SoakLedger>> Open(const std::string& path);
  SoakLedger(const SoakLedger&) = delete;
  SoakLedger& operator=(const SoakLedger&) = delete;
  ~SoakLedger();

  // The client: a write begins; it ends, and how.
  uint64_t Begin();
  void End(uint64_t id, bool answered);
  // A server: the handler of a write runs. False: there is no such write.
  bool Run(uint64_t id);

  struct Counts {
    uint64_t writes = 0;
    uint64_t answered = 0;
    uint64_t failed = 0;
    uint64_t failed_and_run = 0;    // its server died, or the answer did not come
    uint64_t doubled = 0;           // ran more than once
    uint64_t answered_not_run = 0;  // without an answer of a handler
    uint64_t not_ended = 0;
    uint64_t ended_twice = 0;
  };
  // Once all processes have ended.
  Counts Count() const;

 private:
  // All count up to 255.
  struct Write {
    std::atomic<uint8_t> runs;
    std::atomic<uint8_t> answers;
    std::atomic<uint8_t> failures;
  };
  struct File {
    std::atomic<uint64_t> writes;
    Write write[kMaxWrites];
  };

  explicit SoakLedger(File* file) : file_(file) {}

  File* const file_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_SOAK_SOAK_LEDGER_H_
