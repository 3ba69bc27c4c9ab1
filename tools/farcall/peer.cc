// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/peer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/reflection/reflection.pb.h"
#include "rpc/runtime/settled_connection.h"
#include "transport/why_not_rdma.h"

namespace farcall::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kDefaultTimeout{5};
constexpr std::chrono::hours kLongestTimeout{24};

absl::StatusOr<CompressType> ReadCompress(const std::string& name) {
  constexpr std::pair<const char*, CompressType> kNames[] = {
      {"none", COMPRESS_TYPE_NONE}, {"snappy", COMPRESS_TYPE_SNAPPY}, {"gzip", COMPRESS_TYPE_GZIP},
      {"zlib", COMPRESS_TYPE_ZLIB}, {"lz4", COMPRESS_TYPE_LZ4},
  };
  for (const auto& [known, type] : kNames) {
    if (name == known) return type;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--compress is none, snappy, gzip, zlib or lz4, not \"", name, "\""));
}

void ReadTls(const Arguments& arguments, ChannelOptions& options) {
  bool wanted = arguments.Has("--tls");
  for (const char* flag : {"--tls_ca", "--tls_cert", "--tls_key", "--tls_name", "--tls_insecure"}) {
    wanted |= arguments.Has(flag);
  }
  if (!wanted) return;
  ClientTlsOptions tls;
  tls.files.ca = arguments.Text("--tls_ca", "");
  tls.files.certificate = arguments.Text("--tls_cert", "");
  tls.files.private_key = arguments.Text("--tls_key", "");
  tls.server_name = arguments.Text("--tls_name", "");
  tls.verify = !arguments.Has("--tls_insecure");
  options.tls = std::make_shared<const ClientTlsOptions>(std::move(tls));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Runtime>> MakeRuntime(int event_loops, const Arguments& arguments) {
  RuntimeOptions options;
  options.event_loops = event_loops;
  // Those of a pod are its server's: a wrong one would keep this from looking at it.
  if (!arguments.Has("--settings")) options.operator_settings = OperatorSettings::kIgnore;
  options.log = [](LogSeverity severity, absl::string_view line) {
    if (severity == LogSeverity::kInfo) return;
    std::fprintf(stderr, "farcall: %s\n", std::string(line).c_str());
  };
  return Runtime::Create(options);
}

std::vector<Option> ChannelFlags() {
  return {
      {"--timeout", "TIME", "for each call, default 5s; with its unit: 500ms, 2s, 1m"},
      {"--max_retry", "N", "attempts beyond the first, default 0"},
      {"--use_rdma", "",
       "prefer RDMA, and wait until it is set up or known to be absent;\nTCP carries the calls "
       "where it cannot be had"},
      {"--require_rdma", "", "fail where RDMA cannot be had"},
      {"--settings", "", "take the settings of this environment, as servers do (farcall settings)"},
      {"--compress", "NAME", "none (default), snappy, gzip, zlib or lz4"},
      {"--checksum", "", "send a CRC32C of message and attachment, to be verified"},
      {"--header", "KEY=VALUE", "a user field beside the message; may be repeated"},
      {"--tls", "", "TLS, with the certificates of the system; implied by the rest:"},
      {"--tls_ca", "FILE", "who signs the server's certificate (PEM)"},
      {"--tls_cert", "FILE", "own certificate, where the server wants one"},
      {"--tls_key", "FILE", "its private key"},
      {"--tls_name", "NAME", "what the certificate must name, default: the host"},
      {"--tls_insecure", "", "do not check the certificate"},
  };
}

absl::StatusOr<ChannelOptions> ReadChannelFlags(const Arguments& arguments, Runtime& runtime) {
  ChannelOptions options;
  options.runtime = &runtime;
  const auto timeout =
      arguments.Time("--timeout", kDefaultTimeout, milliseconds(1), kLongestTimeout);
  if (!timeout.ok()) return timeout.status();
  options.timeout_ms = std::chrono::duration_cast<milliseconds>(*timeout).count();
  // The first look at RDMA devices is part of it.
  options.connect_timeout_ms = std::min<int64_t>(options.timeout_ms, 5000);
  const auto retries = arguments.Integer("--max_retry", 0, 0, 100);
  if (!retries.ok()) return retries.status();
  options.max_retry = static_cast<int>(*retries);
  options.require_rdma = arguments.Has("--require_rdma");
  options.use_rdma = options.require_rdma || arguments.Has("--use_rdma");
  const auto compress = ReadCompress(arguments.Text("--compress", "none"));
  if (!compress.ok()) return compress.status();
  options.request_compress_type = *compress;
  if (arguments.Has("--checksum")) options.request_checksum_type = CHECKSUM_TYPE_CRC32C;
  ReadTls(arguments, options);
  return options;
}

absl::StatusOr<std::shared_ptr<const ConnectionInfo>> Reach(Channel& channel, Duration limit) {
  Reflection_Stub stub(&channel);
  // Whether it knows the service or not: a server that has answered was reached.
  return SettledConnection(
      [&stub](Controller& controller) {
        ListServicesRequest request;
        ListServicesResponse response;
        stub.ListServices(&controller, &request, &response, nullptr);
      },
      limit);
}

std::string Carrier(const ConnectionInfo* connection, bool use_rdma) {
  if (connection == nullptr) return "no connection";
  std::string text =
      absl::StrCat(connection->peer.ToString(), " over ", ToString(connection->transport));
  if (!connection->device.empty()) absl::StrAppend(&text, " (", connection->device, ")");
  if (use_rdma && connection->why_not_rdma != WhyNotRdma::kInUse) {
    absl::StrAppend(&text, "; not rdma: ", Explain(connection->why_not_rdma));
    if (!connection->why_detail.empty()) absl::StrAppend(&text, " (", connection->why_detail, ")");
  }
  return text;
}

absl::Status AddHeaders(const Arguments& arguments, UserFields& fields) {
  for (const std::string& header : arguments.All("--header")) {
    const size_t equals = header.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--header is KEY=VALUE, not \"", header, "\""));
    }
    fields.Set(header.substr(0, equals), header.substr(equals + 1));
  }
  return absl::OkStatus();
}

}  // namespace farcall::cli
