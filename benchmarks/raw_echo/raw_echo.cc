// SPDX-License-Identifier: Apache-2.0
//
// Echo on bare sockets, server and client: what a machine gives when nothing but framing
// lies between a program and its sockets. Frameworks are held against it.

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "benchmarks/common/load_flags.h"
#include "benchmarks/common/load_report.h"
#include "benchmarks/common/server_life.h"
#include "benchmarks/raw_echo/client.h"
#include "benchmarks/raw_echo/server.h"

ABSL_FLAG(
    uint64_t, bulk, 0,
    "client, polling busy: one more connection on the same thread, which echoes messages of so "
    "many bytes, 8 at a time, and is not part of the report; 0: none");

namespace {

namespace bench = farcall::bench;

absl::Status Serve() {
  const bench::ServerOptions options = bench::ServerOptionsFromFlags();
  absl::StatusOr<bench::ServerLife> life = bench::ServerLife::Begin(options.exit_with_stdin);
  if (!life.ok()) return life.status();
  const absl::StatusOr<std::unique_ptr<bench::RawServer>> server = bench::RawServer::Start(options);
  if (!server.ok()) return server.status();
  bench::ServerLife::Announce((*server)->address());
  life->WaitForEnd();
  return absl::OkStatus();
}

absl::Status PutLoad() {
  const bench::LoadOptions options = bench::LoadOptionsFromFlags();
  std::optional<bench::LoadOptions> bulk;
  if (absl::GetFlag(FLAGS_bulk) > 0) {
    bulk = options;
    bulk->attachment = absl::GetFlag(FLAGS_bulk);
    bulk->in_flight = bench::kBulkInFlight;
    bulk->rate = 0;
  }
  const absl::StatusOr<bench::LoadReport> report = bench::RunRawLoad(options, bulk);
  if (!report.ok()) return report.status();
  const absl::Status printed = bench::PrintReport(*report, options.json);
  if (!printed.ok()) return printed;
  return report->errors == 0 ? absl::OkStatus() : absl::UnavailableError(report->first_error);
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Echo on bare sockets.\n"
      "  server: raw_echo --listen 127.0.0.1:0 [--polling event|busy] [--threads N]\n"
      "  client: raw_echo --server ADDR [--payload N] [--attachment N] [--in_flight N] ...\n"
      "Polling: event blocks, with a thread for each connection (adaptive counts as event);\n"
      "busy spins.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = bench::ServerOptionsFromFlags().listen.empty() ? PutLoad() : Serve();
  if (!status.ok()) {
    std::fprintf(stderr, "raw_echo: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  return 0;
}
