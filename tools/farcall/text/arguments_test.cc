// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/text/arguments.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace farcall::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<Option> kOptions = {
    {"--timeout", "TIME", "how long\n(at most)"},
    {"--use_rdma", "", "prefer RDMA"},
    {"-I", "DIR", "where"},
    {"--number", "N", "how many"},
};

Arguments Parsed(const std::vector<std::string>& arguments) {
  const auto parsed = Arguments::Parse(kOptions, arguments);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *parsed : Arguments();
}

std::string ErrorOf(const std::vector<std::string>& arguments) {
  const auto parsed = Arguments::Parse(kOptions, arguments);
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(parsed.status().message());
}

TEST(ArgumentsTest, OptionsMayStandAnywhere) {
  const Arguments parsed = Parsed({"a", "--timeout", "2s", "b", "--use_rdma", "-", "c"});
  EXPECT_THAT(parsed.words(), ElementsAre("a", "b", "-", "c"));
  EXPECT_EQ(parsed.Text("--timeout", "none"), "2s");
  EXPECT_TRUE(parsed.Has("--use_rdma"));
  EXPECT_FALSE(parsed.Has("-I"));
  EXPECT_EQ(parsed.Text("-I", "none"), "none");
}

TEST(ArgumentsTest, ValuesMayStandBehindAnEqualsSign) {
  EXPECT_EQ(Parsed({"--timeout=2s"}).Text("--timeout", ""), "2s");
  EXPECT_EQ(Parsed({"--timeout="}).Text("--timeout", "x"), "");
  EXPECT_EQ(Parsed({"--timeout=a=b"}).Text("--timeout", ""), "a=b");
}

TEST(ArgumentsTest, ShortOptionsTakeTheirValueWithOrWithoutASpace) {
  EXPECT_THAT(Parsed({"-Ione", "-I", "two"}).All("-I"), ElementsAre("one", "two"));
}

TEST(ArgumentsTest, DashesAndUnderscoresAreTheSame) {
  EXPECT_TRUE(Parsed({"--use-rdma"}).Has("--use_rdma"));
  EXPECT_TRUE(Parsed({"--use_rdma"}).Has("--use-rdma"));
}

TEST(ArgumentsTest, TheLastOfSeveralCounts) {
  EXPECT_EQ(Parsed({"--timeout=1s", "--timeout=2s"}).Text("--timeout", ""), "2s");
}

TEST(ArgumentsTest, TwoDashesEndTheOptions) {
  EXPECT_THAT(Parsed({"--", "--timeout", "--"}).words(), ElementsAre("--timeout", "--"));
}

TEST(ArgumentsTest, ErrorsNameTheOption) {
  EXPECT_EQ(ErrorOf({"--tiemout=2s"}), "there is no option --tiemout");
  EXPECT_EQ(ErrorOf({"-x"}), "there is no option -x");
  EXPECT_EQ(ErrorOf({"--timeout"}), "--timeout needs a value: --timeout TIME");
  EXPECT_EQ(ErrorOf({"--use_rdma=yes"}), "--use_rdma takes no value");
}

TEST(ArgumentsTest, IntegersHaveBounds) {
  EXPECT_EQ(*Parsed({}).Integer("--number", 7, 1, 10), 7);
  EXPECT_EQ(*Parsed({"--number=10"}).Integer("--number", 7, 1, 10), 10);
  for (const char* bad : {"0", "11", "", "x", "1.5", "99999999999999999999"}) {
    const auto value = Parsed({"--number", bad}).Integer("--number", 7, 1, 10);
    EXPECT_THAT(std::string(value.status().message()),
                HasSubstr("--number is a number from 1 to 10"))
        << bad;
  }
}

TEST(ArgumentsTest, NumbersHaveBounds) {
  EXPECT_EQ(*Parsed({"--number=1.5"}).Number("--number", 7, 1, 10), 1.5);
  for (const char* bad : {"0", "10.1", "", "x", "nan"}) {
    EXPECT_FALSE(Parsed({"--number", bad}).Number("--number", 7, 1, 10).ok()) << bad;
  }
}

TEST(ArgumentsTest, TimesNeedAUnit) {
  const auto time = [](const std::string& text) {
    return Parsed({"--timeout", text})
        .Time("--timeout", seconds(1), milliseconds(1), std::chrono::minutes(1));
  };
  EXPECT_EQ(*time("2s"), seconds(2));
  EXPECT_EQ(*time("500ms"), milliseconds(500));
  EXPECT_EQ(*time("1m"), seconds(60));
  EXPECT_EQ(*Parsed({}).Time("--timeout", seconds(9), seconds(1), seconds(10)), seconds(9));
  for (const char* bad : {"2", "0s", "2m", "-1s", "inf", "", "soon"}) {
    EXPECT_THAT(std::string(time(bad).status().message()),
                HasSubstr("--timeout is a time with its unit (500ms, 2s, 1m), from 1ms to 1m"))
        << bad;
  }
}

TEST(ArgumentsTest, TheHelpOfSeveralLinesIsIndented) {
  EXPECT_EQ(HelpOf(kOptions),
            "  --timeout TIME          how long\n"
            "                          (at most)\n"
            "  --use_rdma              prefer RDMA\n"
            "  -I DIR                  where\n"
            "  --number N              how many\n");
}

}  // namespace
}  // namespace farcall::cli
