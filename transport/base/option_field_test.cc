// SPDX-License-Identifier: Apache-2.0

#include "transport/base/option_field.h"

#include <chrono>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Sample {
  bool flag = false;
  int number = 4;
  uint8_t code = 16;
  size_t bytes = size_t{64} << 10;
  Duration time = seconds(3);
  std::string text;
  std::vector<std::string> names;
  std::vector<int> numbers;
};

OptionField Number(Sample& sample) {
  return {.name = "number", .target = &sample.number, .range = {1, 8}, .special = {{0, "default"}}};
}
OptionField Bytes(Sample& sample) {
  return {.name = "bytes",
          .target = &sample.bytes,
          .range = {4 << 10, int64_t{1} << 40},
          .special = {{0, "never"}},
          .special_too = {{1, "auto"}},
          .bytes = true};
}
OptionField Time(Sample& sample) {
  return {.name = "time", .target = &sample.time, .range = {milliseconds(10), seconds(60)}};
}
OptionField Names(Sample& sample) {
  return {.name = "names", .target = &sample.names, .special = {{0, "all"}}};
}
OptionField Numbers(Sample& sample) {
  return {.name = "numbers", .target = &sample.numbers, .range = {0, 9}, .special = {{0, "all"}}};
}

std::string ErrorOf(const OptionField& field, absl::string_view text) {
  const std::string before = Text(field);
  const absl::Status status = SetText(field, text);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  EXPECT_EQ(Text(field), before) << "what is refused changes nothing";
  return std::string(status.message());
}

// Sets and shows.
std::string After(const OptionField& field, absl::string_view text) {
  const absl::Status status = SetText(field, text);
  EXPECT_TRUE(status.ok()) << status;
  return Text(field);
}

TEST(OptionFieldTest, NumbersHaveBoundsAndNames) {
  Sample sample;
  EXPECT_EQ(Text(Number(sample)), "4");
  EXPECT_EQ(After(Number(sample), " 8 "), "8");
  EXPECT_EQ(After(Number(sample), "default"), "default");
  EXPECT_EQ(sample.number, 0);
  EXPECT_EQ(After(Number(sample), "0"), "default");
  EXPECT_EQ(ErrorOf(Number(sample), "9"), "number is '9'; it must be from 1 to 8, or default (0)");
  for (const char* const bad : {"", "-1", "x", "1.5", "4 KiB", "99999999999999999999", "0x4"}) {
    ErrorOf(Number(sample), bad);
  }
}

TEST(OptionFieldTest, ASmallTypeTakesNothingBeyondIt) {
  Sample sample;
  const OptionField field{.name = "code", .target = &sample.code, .range = {8, 22}};
  ErrorOf(field, "264");  // 8, in eight bits
  EXPECT_EQ(After(field, "22"), "22");
}

TEST(OptionFieldTest, BytesMayHaveUnits) {
  Sample sample;
  EXPECT_EQ(Text(Bytes(sample)), "64 KiB");
  EXPECT_EQ(After(Bytes(sample), "8MiB"), "8 MiB");
  EXPECT_EQ(After(Bytes(sample), "3 Gi"), "3 GiB");
  EXPECT_EQ(After(Bytes(sample), "5000"), "5000");
  EXPECT_EQ(After(Bytes(sample), "auto"), "auto");
  EXPECT_EQ(sample.bytes, 1u);
  EXPECT_EQ(After(Bytes(sample), "never"), "never");
  EXPECT_EQ(sample.bytes, 0u);
  EXPECT_EQ(ErrorOf(Bytes(sample), "4 kB"),
            "bytes is '4 kB'; it must be from 4 KiB to 1024 GiB, or never (0), or auto");
  for (const char* const bad : {"1", "9999999999 GiB", "KiB", "4 KiB 1", "-4 KiB"}) {
    ErrorOf(Bytes(sample), bad);
  }
}

TEST(OptionFieldTest, TimesNeedUnits) {
  Sample sample;
  EXPECT_EQ(Text(Time(sample)), "3 s");
  EXPECT_EQ(After(Time(sample), "250ms"), "250 ms");
  EXPECT_EQ(After(Time(sample), "1 min"), "1 min");
  EXPECT_EQ(After(Time(sample), "10001 us"), "10001 us");
  EXPECT_EQ(ErrorOf(Time(sample), "5"),
            "time is '5'; it must be from 10 ms to 1 min, with its unit");
  for (const char* const bad : {"", "0", "61 s", "9 ms", "s", "1 day", "9223372036855 h"}) {
    ErrorOf(Time(sample), bad);
  }
}

TEST(OptionFieldTest, ListsAreSeparatedByCommas) {
  Sample sample;
  EXPECT_EQ(Text(Names(sample)), "all");
  EXPECT_EQ(After(Names(sample), "mlx5_0,mlx5_1 , rxe0"), "mlx5_0, mlx5_1, rxe0");
  ErrorOf(Names(sample), "a,,b");
  EXPECT_EQ(After(Names(sample), "all"), "all");
  EXPECT_TRUE(sample.names.empty());
  EXPECT_EQ(After(Numbers(sample), "0, 2,4"), "0, 2, 4");
  EXPECT_EQ(ErrorOf(Numbers(sample), "0,10"),
            "numbers is '0,10'; it must be numbers from 0 to 9, separated by commas, or all");
  EXPECT_EQ(After(Numbers(sample), ""), "all");
}

TEST(OptionFieldTest, YesAndNoHaveTheirUsualForms) {
  Sample sample;
  const OptionField field{.name = "flag", .target = &sample.flag};
  for (const char* const yes : {"yes", "true", "1", "on", "y"}) {
    sample.flag = false;
    EXPECT_EQ(After(field, yes), "yes") << yes;
  }
  for (const char* const no : {"no", "false", "0", "off"}) {
    sample.flag = true;
    EXPECT_EQ(After(field, no), "no") << no;
  }
  EXPECT_EQ(ErrorOf(field, "maybe"), "flag is 'maybe'; it must be yes or no");
}

TEST(OptionFieldTest, TextIsTakenAsItIs) {
  Sample sample;
  const OptionField field{.name = "text", .target = &sample.text, .special = {{0, "none"}}};
  EXPECT_EQ(Text(field), "none");
  EXPECT_EQ(After(field, "/etc/a file"), "/etc/a file");
  EXPECT_EQ(After(field, "none"), "none");
  EXPECT_TRUE(sample.text.empty());
}

TEST(OptionFieldTest, AnOwnFormDecidesItself) {
  std::string value = "a";
  const OptionField field{.name = "form",
                          .target = OptionField::OwnForm{.get = [&value] { return value; },
                                                         .set =
                                                             [&value](absl::string_view text) {
                                                               if (text != "a" && text != "b")
                                                                 return false;
                                                               value = std::string(text);
                                                               return true;
                                                             },
                                                         .expected = "a or b"}};
  EXPECT_EQ(After(field, "b"), "b");
  EXPECT_EQ(ErrorOf(field, "c"), "form is 'c'; it must be a or b");
}

TEST(OptionFieldTest, ValuesThatTheProgramSetAreChecked) {
  Sample sample;
  EXPECT_TRUE(CheckFields({Number(sample), Bytes(sample), Time(sample), Numbers(sample)}).ok());
  sample.number = 0;
  EXPECT_TRUE(CheckFields({Number(sample)}).ok());
  sample.time = milliseconds(1);
  EXPECT_EQ(CheckFields({Number(sample), Time(sample)}).message(),
            "time is 1 ms; it must be from 10 ms to 1 min, with its unit");
  sample.numbers = {3, 11};
  EXPECT_EQ(CheckFields({Numbers(sample)}).message(),
            "numbers is 11; it must be numbers from 0 to 9, separated by commas, or all");
  sample.bytes = ~size_t{0};
  EXPECT_FALSE(CheckFields({Bytes(sample)}).ok()) << "more than a signed number holds";
}

TEST(OptionFieldTest, WhatIsRefusedIsShownInPrintableLetters) {
  Sample sample;
  EXPECT_EQ(ErrorOf(Number(sample), "\x01\n'").substr(0, 22), "number is '\\x01\\n\\''; ");
  EXPECT_LT(ErrorOf(Number(sample), std::string(1 << 20, 'x')).size(), 300u);
}

}  // namespace
}  // namespace farcall
