// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/dcb/dcb_testing.h"

#include <fstream>
#include <sstream>

#include "tools/doctor/dcb/dcb_message.h"
#include "transport/base/check.h"

namespace farcall::doctor {

std::string AnswerNamed(const std::string& name) {
  std::ifstream file("tools/doctor/dcb/corpus/dcb_message/" + name, std::ios::binary);
  Check(file.is_open(), "the answer is among the test's data");
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

Dcb DcbNamed(const std::string& name) {
  const absl::StatusOr<Dcb> dcb = ParseDcbAnswer(AnswerNamed(name), 1);
  if (dcb.ok()) return *dcb;
  Dcb none;
  none.error = std::string(dcb.status().message());
  return none;
}

}  // namespace farcall::doctor
