// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_TESTING_LINK_CASES_H_
#define FARCALL_TRANSPORT_LINK_TESTING_LINK_CASES_H_

#include <vector>

#include "transport/testing/conformance/connection_conformance.h"

namespace farcall {

// The checks that hold for any link: not those that count connections where the client
// comes again after a hello without an answer, or that compare two ends amid an upgrade.
std::vector<ConformanceCase> LinkCases(const HarnessFactory& make);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_LINK_CASES_H_
