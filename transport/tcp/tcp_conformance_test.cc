// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/tcp/testing/tcp_harness.h"
#include "transport/testing/conformance/connection_conformance.h"
#include "transport/testing/conformance/driven_harness.h"
#include "transport/testing/conformance/stepped_harness.h"
#include "transport/testing/temp_dir.h"

namespace farcall {
namespace {

template <typename Base>
std::unique_ptr<ConformanceHarness> Tcp(const std::string& address) {
  return std::make_unique<TcpHarness<Base>>(*Address::Parse(address));
}

std::string UnixPath() {
  static const TempDir dir;
  static int count = 0;
  return absl::StrCat("unix:", dir.path(), "/", ++count);
}

std::vector<ConformanceCase> Stepped(const std::string& address) {
  return ConformanceCases([address] { return Tcp<SteppedHarness>(address); });
}

INSTANTIATE_TEST_SUITE_P(TcpIpv4, ConnectionConformance, testing::ValuesIn(Stepped("127.0.0.1:0")),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(TcpIpv6, ConnectionConformance, testing::ValuesIn(Stepped("[::1]:0")),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(Unix, ConnectionConformance, testing::ValuesIn(ConformanceCases([] {
                           return Tcp<SteppedHarness>(UnixPath());
                         })),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(DrivenTcp, ConnectionConformance, testing::ValuesIn(ConformanceCases([] {
                           return Tcp<DrivenHarness>("127.0.0.1:0");
                         })),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(DrivenUnix, ConnectionConformance, testing::ValuesIn(ConformanceCases([] {
                           return Tcp<DrivenHarness>(UnixPath());
                         })),
                         ConformanceCaseName);

}  // namespace
}  // namespace farcall
