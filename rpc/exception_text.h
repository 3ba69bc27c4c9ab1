// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_EXCEPTION_TEXT_H_
#define FARCALL_RPC_EXCEPTION_TEXT_H_

#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace farcall {

// Runs code of the program: the text of what it threw, or nothing where it returned.
template <typename Code>
std::optional<std::string> ExceptionTextOf(Code&& code) {
  try {
    std::forward<Code>(code)();
    return std::nullopt;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is no std::exception";
  }
}

}  // namespace farcall

#endif  // FARCALL_RPC_EXCEPTION_TEXT_H_
