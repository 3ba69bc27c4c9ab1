// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_CHECKS_FINDING_H_
#define FARCALL_TOOLS_DOCTOR_CHECKS_FINDING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace farcall::doctor {

enum class Verdict : uint8_t {
  kOk,
  kUnknown,   // cannot be read from here, which is no fault
  kDegraded,  // RDMA is had, but slower, later or not everywhere
  kFailed,    // keeps this host, or the device that is named, from RDMA
};

// What one check says, for people.
struct Finding {
  std::string check;    // the check's name: "memlock"
  std::string subject;  // what it is about, "mlx5_0"; "" for the host
  Verdict verdict = Verdict::kOk;
  std::string finding;  // what is there, with its numbers
  std::string meaning;  // what follows from it; "" where it is ok and goes without saying
  std::string cure;     // what to do; "" where there is nothing to do
};

using Findings = std::vector<Finding>;

inline Finding Ok(std::string check, std::string subject, std::string finding,
                  std::string meaning = "", std::string cure = "") {
  return {std::move(check),   std::move(subject), Verdict::kOk,
          std::move(finding), std::move(meaning), std::move(cure)};
}
inline Finding Unknown(std::string check, std::string subject, std::string finding,
                       std::string meaning = "", std::string cure = "") {
  return {std::move(check),   std::move(subject), Verdict::kUnknown,
          std::move(finding), std::move(meaning), std::move(cure)};
}
inline Finding Degraded(std::string check, std::string subject, std::string finding,
                        std::string meaning = "", std::string cure = "") {
  return {std::move(check),   std::move(subject), Verdict::kDegraded,
          std::move(finding), std::move(meaning), std::move(cure)};
}
inline Finding Failed(std::string check, std::string subject, std::string finding,
                      std::string meaning = "", std::string cure = "") {
  return {std::move(check),   std::move(subject), Verdict::kFailed,
          std::move(finding), std::move(meaning), std::move(cure)};
}

// "ok", "unknown", "degraded", "failed".
absl::string_view Name(Verdict verdict);

// The status of the process: what all findings of a host, or of a cluster, come to; or kUsage.
enum ExitCode : int { kReady = 0, kDegraded = 1, kNoRdma = 2, kUsage = 64 };

// "ready", "degraded", "no_rdma".
absl::string_view StatusOf(ExitCode code);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CHECKS_FINDING_H_
