// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/json_testing.h"

#include <gtest/gtest.h>

#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <iterator>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace farcall {

namespace {

using Value = boost::property_tree::ptree;

const Value* Child(const Value& of, const std::string& name) {
  const auto found = of.find(name);
  if (found != of.not_found()) return &found->second;
  // The elements of an array have no names.
  size_t index = 0;
  const bool array = !of.empty() && of.front().first.empty();
  if (!array || !absl::SimpleAtoi(name, &index) || index >= of.size()) return nullptr;
  return &std::next(of.begin(), static_cast<std::ptrdiff_t>(index))->second;
}

const Value* Find(const Value& root, const std::string& place) {
  const Value* at = &root;
  for (const absl::string_view name : absl::StrSplit(place, '.')) {
    at = Child(*at, std::string(name));
    if (at == nullptr) return nullptr;
  }
  return at;
}

const Value& At(const Value& root, const std::string& place) {
  static const Value none;
  const Value* const found = Find(root, place);
  EXPECT_NE(found, nullptr) << place;
  return found != nullptr ? *found : none;
}

}  // namespace

struct ParsedJson::Tree {
  Value value;
};

ParsedJson::ParsedJson(const std::string& text)
    : root_([&text] {
        auto root = std::make_unique<Tree>();
        std::istringstream in(text);
        try {
          boost::property_tree::read_json(in, root->value);
        } catch (const boost::property_tree::json_parser_error& error) {
          ADD_FAILURE() << error.what() << ": " << text;
        }
        return root;
      }()) {}

ParsedJson::~ParsedJson() = default;

bool ParsedJson::Has(const std::string& place) const {
  return Find(root_->value, place) != nullptr;
}

std::string ParsedJson::Text(const std::string& place) const {
  return At(root_->value, place).data();
}

double ParsedJson::Number(const std::string& place) const {
  double number = 0;
  EXPECT_TRUE(absl::SimpleAtod(Text(place), &number)) << place;
  return number;
}

int ParsedJson::Size(const std::string& place) const {
  return static_cast<int>(At(root_->value, place).size());
}

}  // namespace farcall
