// SPDX-License-Identifier: Apache-2.0
//
// The question and the answer of dcb(8) over rtnetlink: RTM_GETDCB with DCB_CMD_IEEE_GET, as
// <linux/dcbnl.h> has them. Bytes in, values out.

#ifndef FARCALL_TOOLS_DOCTOR_DCB_DCB_MESSAGE_H_
#define FARCALL_TOOLS_DOCTOR_DCB_DCB_MESSAGE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/doctor/dcb/dcb_facts.h"

namespace farcall::doctor {

// `interface`: its name, of 1 to 15 bytes. `sequence`: comes back in the answer.
std::string DcbQuestion(const std::string& interface, uint32_t sequence);

// The kernel's answer. Errors: kNotFound, these bytes have no message with that sequence number;
// kUnimplemented, the interface's driver, or the kernel, has no Data Center Bridging; kInternal,
// another error of the kernel; kInvalidArgument, bytes that are no such answer.
absl::StatusOr<Dcb> ParseDcbAnswer(absl::string_view bytes, uint32_t sequence);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_DCB_DCB_MESSAGE_H_
