// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_INTEROP_CASES_H_
#define FARCALL_TOOLS_INTEROP_CASES_H_

#include <functional>
#include <string>
#include <vector>

namespace farcall::interop {

struct Case {
  std::string name;
  // Throws Failure. The address is that of the peer's server.
  std::function<void(const std::string&)> run;
};

// What both sides agree on: messages, attachments, compression, errors, deadlines.
std::vector<Case> AnswerCases();
// Where brpc-java does something else than the wire's rules: what then happens is known.
std::vector<Case> DifferenceCases();
// Many calls, kinds of connections, and a server that stops and comes back.
std::vector<Case> LoadCases();

}  // namespace farcall::interop

#endif  // FARCALL_TOOLS_INTEROP_CASES_H_
