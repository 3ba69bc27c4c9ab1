// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_FARCALL_TEXT_TEXT_TABLE_H_
#define FARCALL_TOOLS_FARCALL_TEXT_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace farcall::cli {

// Rows of text as columns, each as wide as its widest cell. The first row is the head.
class TextTable {
 public:
  // `left`: columns that stand at the left, by number; the others stand at the right.
  explicit TextTable(std::vector<size_t> left) : left_(std::move(left)) {}

  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() < 2; }
  // Lines without spaces at their ends.
  std::string ToString() const;

 private:
  std::vector<size_t> left_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_TEXT_TEXT_TABLE_H_
