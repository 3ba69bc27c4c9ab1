// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_DCB_DCB_TESTING_H_
#define FARCALL_TOOLS_DOCTOR_DCB_DCB_TESTING_H_

#include <string>

#include "tools/doctor/dcb/dcb_facts.h"

namespace farcall::doctor {

// Answers of the kernel, in corpus/dcb_message, with the sequence number 1:
//   mlx5        laid out as the kernel does for an adapter of mlx5_core that trusts DSCP: an entry
//               for each, DSCP / 8; PFC for priority 3
//   mlx5_pcp    one as it comes: no entry, no PFC
//   bnxt        as for bnxt_en: three traffic classes; DSCP 26 and UDP 4791 have priority 3
//   trust_list  of a kernel that has a list of what is trusted; ETS is not told
//   no_dcb      recorded, of an interface without Data Center Bridging
//   cut         the first 100 bytes of mlx5
std::string AnswerNamed(const std::string& name);
// The same, parsed; its error where it does not parse.
Dcb DcbNamed(const std::string& name);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_DCB_DCB_TESTING_H_
