// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_INTRODUCTION_H_
#define FARCALL_TOOLS_DOCTOR_INTRODUCTION_H_

#include <vector>

#include "tools/doctor/diagnose.h"
#include "tools/doctor/peer/doctor_service.h"

namespace farcall::doctor {

// What this host tells of itself to doctors that measure against it.
Introduction IntroductionOf(const Facts& facts, const Report& report);

// The addresses of its RDMA devices, one of each interface, and those of a pod's networks beside
// the default one, by `status`, the text of the annotation that Multus writes.
std::vector<Network> NetworksOf(const Facts& facts, const std::string& status);

// What is amiss on this host, for a doctor that asks.
ReportResponse ToMessage(const Report& report);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_INTRODUCTION_H_
