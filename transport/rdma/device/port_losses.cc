// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/port_losses.h"

#include <fstream>

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

// Documentation/ABI/stable/sysfs-class-infiniband for mlx5; rxe, bnxt_re.
constexpr const char* kLosses[] = {
    "out_of_sequence",       "packet_seq_err",     "implied_nak_seq_err", "duplicate_request",
    "local_ack_timeout_err", "roce_slow_restart",  "rcvd_seq_err",        "out_of_seq_request",
    "completer_retry_err",   "retry_exceeded_err", "seq_err_naks_rcvd",   "dup_req",
    "to_retransmits",        "max_retry_exceeded",
};

}  // namespace

std::vector<NamedCount> ReadPortLosses(const std::string& sys_class, const std::string& device,
                                       int port) {
  const std::string folder =
      absl::StrCat(sys_class, "/infiniband/", device, "/ports/", port, "/hw_counters/");
  std::vector<NamedCount> losses;
  for (const char* const name : kLosses) {
    std::ifstream file(folder + name);
    uint64_t count = 0;
    if (file >> count) losses.push_back({name, count});
  }
  return losses;
}

}  // namespace farcall
