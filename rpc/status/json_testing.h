// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_JSON_TESTING_H_
#define FARCALL_RPC_STATUS_JSON_TESTING_H_

#include <gtest/gtest.h>

#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace farcall {

// A JSON value by somebody else's parser. Places are written "connections.list.0.peer"; a test
// that asks for what is not there fails.
class ParsedJson {
 public:
  explicit ParsedJson(const std::string& text) {
    std::istringstream in(text);
    try {
      boost::property_tree::read_json(in, root_);
    } catch (const boost::property_tree::json_parser_error& error) {
      ADD_FAILURE() << error.what() << ": " << text;
    }
  }

  bool Has(const std::string& place) const { return Find(place) != nullptr; }
  // The parser keeps all that is no array or object as text.
  std::string Text(const std::string& place) const { return At(place).data(); }
  double Number(const std::string& place) const {
    double number = 0;
    EXPECT_TRUE(absl::SimpleAtod(Text(place), &number)) << place;
    return number;
  }
  bool Bool(const std::string& place) const { return Text(place) == "true"; }
  bool IsNull(const std::string& place) const { return Text(place) == "null"; }
  // Of an array or an object.
  int Size(const std::string& place) const { return static_cast<int>(At(place).size()); }

 private:
  using Tree = boost::property_tree::ptree;

  static const Tree* Child(const Tree& of, const std::string& name) {
    const auto found = of.find(name);
    if (found != of.not_found()) return &found->second;
    // The elements of an array have no names.
    size_t index = 0;
    const bool array = !of.empty() && of.front().first.empty();
    if (!array || !absl::SimpleAtoi(name, &index) || index >= of.size()) return nullptr;
    return &std::next(of.begin(), static_cast<std::ptrdiff_t>(index))->second;
  }
  const Tree* Find(const std::string& place) const {
    const Tree* at = &root_;
    for (const absl::string_view name : absl::StrSplit(place, '.')) {
      at = Child(*at, std::string(name));
      if (at == nullptr) return nullptr;
    }
    return at;
  }
  const Tree& At(const std::string& place) const {
    static const Tree none;
    const Tree* const found = Find(place);
    EXPECT_NE(found, nullptr) << place;
    return found != nullptr ? *found : none;
  }

  Tree root_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_JSON_TESTING_H_
