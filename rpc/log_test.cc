// SPDX-License-Identifier: Apache-2.0

#include "rpc/log.h"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>

#include "spdlog/sinks/ostream_sink.h"
#include "spdlog/spdlog.h"

namespace farcall {
namespace {

// The program's own logger, which writes to `out`.
void Register(std::ostringstream& out) {
  auto logger = std::make_shared<spdlog::logger>(
      "farcall", std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
  logger->set_pattern("%l|%v");
  spdlog::register_logger(std::move(logger));
}

class LogTest : public ::testing::Test {
 protected:
  ~LogTest() override { spdlog::drop("farcall"); }

  std::ostringstream out_;
};

TEST_F(LogTest, LinesGoToTheProgramsLoggerWithTheirSeverity) {
  Register(out_);
  const LogSink sink = SpdlogSink();
  sink(LogSeverity::kInfo, "serving");
  sink(LogSeverity::kWarning, "closed");
  sink(LogSeverity::kError, "threw");
  EXPECT_EQ(out_.str(), "info|serving\nwarning|closed\nerror|threw\n");
}

TEST_F(LogTest, ALineIsNoFormat) {
  Register(out_);
  SpdlogSink()(LogSeverity::kInfo, "100% of {} and {0} and {nothing}");
  EXPECT_EQ(out_.str(), "info|100% of {} and {0} and {nothing}\n");
}

TEST_F(LogTest, ALineIsAView) {
  Register(out_);
  const std::string all = "one line and its rest";
  SpdlogSink()(LogSeverity::kInfo, absl::string_view(all).substr(0, 8));
  SpdlogSink()(LogSeverity::kInfo, absl::string_view());
  EXPECT_EQ(out_.str(), "info|one line\ninfo|\n");
}

TEST_F(LogTest, TheProgramsLevelsHold) {
  Register(out_);
  spdlog::get("farcall")->set_level(spdlog::level::err);
  const LogSink sink = SpdlogSink();
  sink(LogSeverity::kWarning, "not wanted");
  sink(LogSeverity::kError, "wanted");
  EXPECT_EQ(out_.str(), "error|wanted\n");
}

TEST_F(LogTest, WithoutALoggerOfTheProgramLinesGoToStandardError) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  SpdlogSink()(LogSeverity::kWarning, "none was registered");
  const std::string err = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(err.find("farcall"), std::string::npos) << err;
  EXPECT_NE(err.find("none was registered"), std::string::npos) << err;
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST_F(LogTest, TheNameStaysFreeForTheProgram) {
  const LogSink before = SpdlogSink();
  EXPECT_EQ(spdlog::get("farcall"), nullptr);
  Register(out_);
  SpdlogSink()(LogSeverity::kInfo, "later");
  EXPECT_EQ(out_.str(), "info|later\n");
}

}  // namespace
}  // namespace farcall
