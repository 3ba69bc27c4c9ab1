// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/echo/bulk_load.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/common/load_report.h"
#include "benchmarks/echo/echo_client.h"
#include "transport/buffer/block_writer.h"

ABSL_FLAG(uint64_t, bulk, 0,
          "client: one more connection on the same loops, which echoes this many attached bytes, 8 "
          "calls at a time, and is not part of the report; 0: none");

namespace farcall::bench {

absl::StatusOr<std::unique_ptr<BulkLoad>> BulkLoad::StartFromFlags(const LoadOptions& others,
                                                                   Runtime& runtime,
                                                                   const LoadWindow& window) {
  if (absl::GetFlag(FLAGS_bulk) == 0) return nullptr;
  LoadOptions options = others;
  options.attachment = absl::GetFlag(FLAGS_bulk);
  options.in_flight = kBulkInFlight;
  options.connections = 1;
  options.rate = 0;
  options.synchronous = false;
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  std::unique_ptr<BulkLoad> bulk(new BulkLoad(options));
  auto channel = MakeChannel(options, runtime);
  if (!channel.ok()) return channel.status();
  bulk->channel_ = *std::move(channel);
  BlockWriter writer(*runtime.parts().pool);
  if (!writer.Append(std::string(options.attachment, 'b'), bulk->attachment_)) {
    return absl::ResourceExhaustedError("the pool has no room for --bulk");
  }
  bulk->load_ = std::make_unique<EchoLoad>(*bulk->channel_, bulk->options_, window,
                                           bulk->attachment_, /*put=*/false, RegisteredMemory());
  bulk->load_->Start();
  return bulk;
}

absl::StatusOr<double> BulkLoad::WaitForLast() {
  load_->WaitForLast();
  const LoadReport seen = LoadReport::From(options_, load_->recorder());
  if (seen.errors == 0) return seen.mb_per_s;
  return absl::UnavailableError(
      absl::StrCat("--bulk: ", seen.errors, " calls failed; the first: ", seen.first_error));
}

}  // namespace farcall::bench
