// SPDX-License-Identifier: Apache-2.0
//
// Echo on gRPC, server and client, with the load and the report of the other benchmarks.

#include <cstdio>
#include <string>

#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "benchmarks/common/load_flags.h"
#include "benchmarks/common/load_report.h"
#include "benchmarks/common/server_life.h"
#include "benchmarks/grpc_echo/client.h"
#include "benchmarks/grpc_echo/server.h"

namespace {

namespace bench = farcall::bench;

absl::Status Serve() {
  const bench::ServerOptions options = bench::ServerOptionsFromFlags();
  absl::StatusOr<bench::ServerLife> life = bench::ServerLife::Begin(options.exit_with_stdin);
  if (!life.ok()) return life.status();
  const absl::StatusOr<std::unique_ptr<bench::GrpcServer>> server =
      bench::GrpcServer::Start(options);
  if (!server.ok()) return server.status();
  bench::ServerLife::Announce((*server)->address());
  life->WaitForEnd();
  return absl::OkStatus();
}

absl::Status PutLoad() {
  const bench::LoadOptions options = bench::LoadOptionsFromFlags();
  const absl::StatusOr<bench::LoadReport> report = bench::RunGrpcLoad(options);
  if (!report.ok()) return report.status();
  const absl::Status printed = bench::PrintReport(*report, options.json);
  if (!printed.ok()) return printed;
  return report->errors == 0 ? absl::OkStatus() : absl::UnavailableError(report->first_error);
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Echo on gRPC's callback API, the client with --synchronous on the synchronous one.\n"
      "  server: grpc_echo --listen 127.0.0.1:0\n"
      "  client: grpc_echo --server ADDR [--payload N] [--attachment N] [--in_flight N] ...\n"
      "gRPC chooses its threads and polls by events: --threads and --polling do not count.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = bench::ServerOptionsFromFlags().listen.empty() ? PutLoad() : Serve();
  if (!status.ok()) {
    std::fprintf(stderr, "grpc_echo: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  return 0;
}
