// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_EXAMPLES_ATTACHMENT_DISK_REPORT_H_
#define FARCALL_EXAMPLES_ATTACHMENT_DISK_REPORT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "benchmarks/common/figures/call_tally.h"

namespace example {

// Two lines as fio(1) would have them, for one direction of a job:
//   read: IOPS=98.2k, BW=384MiB/s (402MB/s), 294,600 in 3.00 s
//     clat (us): min=12.1, avg=81.2, p50=80.1, p99=120, p99.9=228, p99.99=610, max=3,120
// and one for each kind of error. `direction`: "read" or "write". clat is the time from the
// beginning of a call to its end.
std::string DiskReport(absl::string_view direction, size_t bytes_per_call, double seconds,
                       const farcall::bench::CallCounts& counts);

}  // namespace example

#endif  // FARCALL_EXAMPLES_ATTACHMENT_DISK_REPORT_H_
