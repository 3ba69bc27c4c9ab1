// SPDX-License-Identifier: Apache-2.0

#include "rpc/log.h"

#include <memory>
#include <utility>

#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"

namespace farcall {
namespace {

constexpr char kName[] = "farcall";

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

// Not registered under the name, which stays free for the program.
std::shared_ptr<spdlog::logger> Logger() {
  if (std::shared_ptr<spdlog::logger> own = spdlog::get(kName)) return own;
  return std::make_shared<spdlog::logger>(kName,
                                          std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
}

}  // namespace

LogSink SpdlogSink() {
  return [logger = Logger()](LogSeverity severity, absl::string_view line) {
    logger->log(ToLevel(severity), fmt::string_view(line.data(), line.size()));
  };
}

}  // namespace farcall
