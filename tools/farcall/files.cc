// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace farcall::cli {
namespace {

absl::StatusOr<std::string> ReadAll(std::istream& in, const std::string& name) {
  std::string bytes;
  std::array<char, 65536> piece;
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
    bytes.append(piece.data(), static_cast<size_t>(in.gcount()));
    if (bytes.size() > kLargestFile) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " has more than ", kLargestFile, " bytes"));
    }
  }
  if (in.bad()) return absl::UnknownError(absl::StrCat("cannot read ", name));
  return bytes;
}

absl::Status CannotOpen(const char* what, const std::string& path) {
  const int error = errno;
  return absl::InvalidArgumentError(
      absl::StrCat("cannot ", what, " ", path, ": ", std::generic_category().message(error)));
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return CannotOpen("read", path);
  return ReadAll(in, path);
}

absl::Status WriteFile(const std::string& path, const Buffer& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) return CannotOpen("write", path);
  std::string piece;
  for (size_t at = 0; at < bytes.size(); at += piece.size()) {
    piece.resize(std::min<size_t>(bytes.size() - at, 65536));
    bytes.CopyTo(piece.data(), piece.size(), at);
    out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  }
  out.close();
  if (out) return absl::OkStatus();
  return absl::UnknownError(absl::StrCat("cannot write all of ", path));
}

absl::StatusOr<std::string> ReadRequest(const std::string& argument, std::istream& in) {
  if (argument == "-") return ReadAll(in, "standard input");
  if (!argument.empty() && argument[0] == '@') return ReadFile(argument.substr(1));
  return argument;
}

}  // namespace farcall::cli
