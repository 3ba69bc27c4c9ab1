// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_CM_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_CM_TESTING_H_

#include "gtest/gtest.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"

namespace farcall {

class FakeCmTest : public testing::TestWithParam<FakeMode> {
 protected:
  FakeCmTest() : fabric({.mode = GetParam()}) {}
  FakeFabric fabric;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_CM_TESTING_H_
