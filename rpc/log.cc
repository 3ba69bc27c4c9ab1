// SPDX-License-Identifier: Apache-2.0

#include "rpc/log.h"

#include "spdlog/spdlog.h"

namespace farcall {
namespace {

spdlog::level::level_enum ToLevel(LogSeverity severity) {
  switch (severity) {
    case LogSeverity::kInfo:
      return spdlog::level::info;
    case LogSeverity::kWarning:
      return spdlog::level::warn;
    case LogSeverity::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

LogSink SpdlogSink() {
  return [](LogSeverity severity, absl::string_view line) {
    spdlog::log(ToLevel(severity), "farcall: {}", fmt::string_view(line.data(), line.size()));
  };
}

}  // namespace farcall
