// SPDX-License-Identifier: Apache-2.0

#include "transport/base/option_field.h"

#include <chrono>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace farcall {
namespace {

struct Unit {
  absl::string_view name;
  int64_t size;
};
// The largest first; the last are other spellings, which are read only.
constexpr Unit kSizes[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1},
                           {"Gi", 1 << 30},  {"Mi", 1 << 20},  {"Ki", 1 << 10}};
constexpr Unit kTimes[] = {{"h", 3'600'000'000'000}, {"min", 60'000'000'000}, {"s", 1'000'000'000},
                           {"ms", 1'000'000},        {"us", 1'000},           {"ns", 1},
                           {"m", 60'000'000'000}};

template <typename T>
constexpr bool kIsNumber = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <typename T>
using ValueOf = std::remove_pointer_t<std::remove_cvref_t<T>>;

int64_t Clipped(uint64_t value) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(value < kMax ? value : kMax);
}

// With the largest unit that divides it.
template <size_t kCount>
std::string WithUnit(int64_t value, const Unit (&units)[kCount]) {
  for (const Unit& unit : units) {
    if (value % unit.size == 0) return absl::StrCat(value / unit.size, " ", unit.name);
  }
  return absl::StrCat(value);
}

std::string BytesText(int64_t value) {
  return value == 0 || value % 1024 != 0 ? absl::StrCat(value) : WithUnit(value, kSizes);
}

std::string TimeText(int64_t ns) { return ns == 0 ? "0 s" : WithUnit(ns, kTimes); }

std::optional<int64_t> Times(int64_t value, int64_t size) {
  int64_t product = 0;
  if (__builtin_mul_overflow(value, size, &product)) return std::nullopt;
  return product;
}

// A whole number and one of `units`, with blanks or without.
template <size_t kCount>
std::optional<int64_t> ReadWithUnit(absl::string_view text, const Unit (&units)[kCount]) {
  const size_t digits = text.find_first_not_of("0123456789");
  int64_t value = 0;
  if (!absl::SimpleAtoi(text.substr(0, digits), &value)) return std::nullopt;
  if (digits == absl::string_view::npos) return std::nullopt;
  const absl::string_view name = absl::StripLeadingAsciiWhitespace(text.substr(digits));
  for (const Unit& unit : units) {
    if (name == unit.name) return Times(value, unit.size);
  }
  return std::nullopt;
}

std::optional<int64_t> ReadNumber(absl::string_view text, bool bytes) {
  int64_t value = 0;
  if (absl::SimpleAtoi(text, &value)) return value;
  if (bytes) return ReadWithUnit(text, kSizes);
  return std::nullopt;
}

// The number that a field stands for, if it is one.
std::optional<int64_t> NumberOf(const OptionField& field) {
  return std::visit(
      [](const auto& target) -> std::optional<int64_t> {
        using T = ValueOf<decltype(target)>;
        if constexpr (std::is_same_v<T, Duration>) {
          return std::chrono::nanoseconds(*target).count();
        } else if constexpr (std::is_same_v<T, size_t>) {
          return Clipped(*target);
        } else if constexpr (kIsNumber<T>) {
          return *target;
        } else {
          return std::nullopt;
        }
      },
      field.target);
}

bool IsTime(const OptionField& field) { return std::holds_alternative<Duration*>(field.target); }

std::string NumberText(const OptionField& field, int64_t value) {
  if (IsTime(field)) return TimeText(value);
  return field.bytes ? BytesText(value) : absl::StrCat(value);
}

// The name of a number that has one; empty: it has none.
absl::string_view SpecialName(const OptionField& field, int64_t value) {
  for (const auto& special : {field.special, field.special_too}) {
    if (special && value == special->value) return special->name;
  }
  return {};
}

bool InRange(const OptionField& field, int64_t value) {
  if (!SpecialName(field, value).empty()) return true;
  return value >= field.range.least && value <= field.range.most;
}

absl::Status Wrong(const OptionField& field, absl::string_view value) {
  return absl::InvalidArgumentError(
      absl::StrCat(field.name, " is ", value, "; it must be ", Expected(field)));
}

std::optional<int64_t> Read(const OptionField& field, absl::string_view text) {
  for (const auto& special : {field.special, field.special_too}) {
    if (special && text == special->name) return special->value;
  }
  // 0 needs no unit, where it is a value.
  if (text == "0") return 0;
  const auto number = IsTime(field) ? ReadWithUnit(text, kTimes) : ReadNumber(text, field.bytes);
  // Who writes these digits means so many, not what the name means.
  const bool by_name_only = number && field.special_too && *number == field.special_too->value;
  return by_name_only ? std::nullopt : number;
}

std::vector<std::string> Pieces(absl::string_view text) {
  std::vector<std::string> pieces;
  for (absl::string_view piece : absl::StrSplit(text, ',')) {
    pieces.emplace_back(absl::StripAsciiWhitespace(piece));
  }
  return pieces;
}

bool SetBool(absl::string_view text, bool* target) {
  if (text == "on" || text == "off") {
    *target = text == "on";
    return true;
  }
  return absl::SimpleAtob(text, target);
}

bool SetNumbers(const OptionField& field, absl::string_view text, std::vector<int>* target) {
  std::vector<int> numbers;
  for (const std::string& piece : Pieces(text)) {
    const std::optional<int64_t> number = ReadNumber(piece, false);
    if (!number || *number < field.range.least || *number > field.range.most) return false;
    numbers.push_back(static_cast<int>(*number));
  }
  *target = std::move(numbers);
  return true;
}

bool SetNames(absl::string_view text, std::vector<std::string>* target) {
  std::vector<std::string> names = Pieces(text);
  for (const std::string& name : names) {
    if (name.empty()) return false;
  }
  *target = std::move(names);
  return true;
}

// The empty list or text, by its name or as nothing.
bool MeansEmpty(const OptionField& field, absl::string_view text) {
  return text.empty() || (field.special && text == field.special->name);
}

bool Set(const OptionField& field, absl::string_view text) {
  return std::visit(
      [&](const auto& target) {
        using T = ValueOf<decltype(target)>;
        if constexpr (std::is_same_v<T, bool>) {
          return SetBool(text, target);
        } else if constexpr (std::is_same_v<T, OptionField::OwnForm>) {
          return target.set(text);
        } else if constexpr (kIsNumber<T> || std::is_same_v<T, Duration>) {
          const std::optional<int64_t> value = Read(field, text);
          if (!value || !InRange(field, *value)) return false;
          if constexpr (kIsNumber<T>) {
            *target = static_cast<T>(*value);
          } else {
            *target = std::chrono::nanoseconds(*value);
          }
          return true;
        } else {
          if (MeansEmpty(field, text)) {
            target->clear();
            return true;
          }
          if constexpr (std::is_same_v<T, std::string>) {
            *target = std::string(text);
            return true;
          } else if constexpr (std::is_same_v<T, std::vector<int>>) {
            return SetNumbers(field, text, target);
          } else {
            return SetNames(text, target);
          }
        }
      },
      field.target);
}

}  // namespace

OptionField::Range::Range(Duration low, Duration high)
    : least(std::chrono::nanoseconds(low).count()), most(std::chrono::nanoseconds(high).count()) {}

std::string Text(const OptionField& field) {
  if (const std::optional<int64_t> number = NumberOf(field)) {
    const absl::string_view name = SpecialName(field, *number);
    return name.empty() ? NumberText(field, *number) : std::string(name);
  }
  return std::visit(
      [&](const auto& target) -> std::string {
        using T = ValueOf<decltype(target)>;
        if constexpr (std::is_same_v<T, bool>) {
          return *target ? "yes" : "no";
        } else if constexpr (std::is_same_v<T, OptionField::OwnForm>) {
          return target.get();
        } else if constexpr (std::is_same_v<T, std::string>) {
          return target->empty() && field.special ? std::string(field.special->name) : *target;
        } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, Duration>) {
          return target->empty() && field.special ? std::string(field.special->name)
                                                  : absl::StrJoin(*target, ", ");
        } else {
          return "";
        }
      },
      field.target);
}

std::string Expected(const OptionField& field) {
  if (const auto* const own = std::get_if<OptionField::OwnForm>(&field.target)) {
    return own->expected;
  }
  if (std::holds_alternative<bool*>(field.target)) return "yes or no";
  std::string expected;
  if (NumberOf(field)) {
    expected = absl::StrCat("from ", NumberText(field, field.range.least), " to ",
                            NumberText(field, field.range.most));
    if (IsTime(field)) absl::StrAppend(&expected, ", with its unit");
    if (field.special) {
      absl::StrAppend(&expected, ", or ", field.special->name);
      const std::string value = NumberText(field, field.special->value);
      absl::StrAppend(&expected, " (", value, ")");
    }
    if (field.special_too) absl::StrAppend(&expected, ", or ", field.special_too->name);
    return expected;
  }
  if (std::holds_alternative<std::string*>(field.target)) {
    expected = "a text";
  } else if (std::holds_alternative<std::vector<int>*>(field.target)) {
    expected = absl::StrCat("numbers from ", field.range.least, " to ", field.range.most,
                            ", separated by commas");
  } else {
    expected = "names, separated by commas";
  }
  if (field.special) absl::StrAppend(&expected, ", or ", field.special->name);
  return expected;
}

absl::Status SetText(const OptionField& field, absl::string_view text) {
  const absl::string_view value = absl::StripAsciiWhitespace(text);
  if (Set(field, value)) return absl::OkStatus();
  return Wrong(field, absl::StrCat("'", absl::CHexEscape(value.substr(0, 100)), "'"));
}

absl::Status CheckFields(const std::vector<OptionField>& fields) {
  for (const OptionField& field : fields) {
    if (const std::optional<int64_t> number = NumberOf(field)) {
      if (!InRange(field, *number)) return Wrong(field, NumberText(field, *number));
    } else if (const auto* const list = std::get_if<std::vector<int>*>(&field.target)) {
      for (const int one : **list) {
        if (one < field.range.least || one > field.range.most) {
          return Wrong(field, absl::StrCat(one));
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace farcall
