// SPDX-License-Identifier: Apache-2.0
//
// Peers that break the rules of the RDMA connection, by hand. That connection ends with a text that
// names the rule; who comes after it is served.

#ifndef FARCALL_TRANSPORT_RDMA_RDMA_HOSTILE_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_RDMA_HOSTILE_TESTING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/flow/credit_flow.h"
#include "transport/rdma/flow/message_header.h"
#include "transport/rdma/flow/private_data.h"
#include "transport/rdma/rdma_transport_testing.h"
#include "transport/rdma/testing/fabric/fabric_end.h"
#include "transport/rdma/testing/stepped_clock.h"
#include "transport/testing/test_random.h"
#include "transport/why_not_rdma.h"

namespace farcall {

class RdmaHostileTest : public RdmaTransportTest {
 protected:
  using Event = FabricEnd::Event;

  static constexpr uint32_t kFirst = CreditFlow::kFirstCount;
  // Slots of the hostile end: receives of 1 KiB before these, messages to send from here.
  static constexpr size_t kSendFrom = 32;

  static void Small(FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.loops = 2;
    rig.rdma.shared_receives = 64;
    rig.rdma.receive_slots = rig.rdma.send_slots = 8;
    rig.pool.region_bytes = size_t{8} << 20;
  }
  static std::string Message(uint32_t count, const std::string& payload = "", bool fin = false) {
    std::string bytes(kMessageHeaderBytes, '\0');
    EncodeMessageHeader({.count = count, .fin = fin}, bytes.data());
    return bytes + payload;
  }

  std::string Greeting(const UpgradePass& pass) {
    ConnectData data;
    data.token = pass.token;
    data.generation = pass.generation;
    data.receives = {.block_bytes = 1024, .initial_receives = 4, .receive_slots = 8};
    data.receives.windows = data.receives.reads = reads_;
    const auto bytes = EncodeConnectData(data);
    return std::string(bytes.data(), bytes.size());
  }
  // Awaits with a token of its own.
  UpgradePass NextPass() {
    ++tokens_;
    UpgradePass pass = Pass(1, tokens_);
    pass.token[0] = static_cast<uint8_t>(tokens_);
    pass.token[1] = static_cast<uint8_t>(tokens_ >> 8);
    const Offer offer = Await(pass);
    EXPECT_TRUE(offer.ok()) << offer.status();
    if (offer.ok()) offer_ = OnlyB(*offer);
    return pass;
  }
  // An end at fakeA that has asked to be let in at fakeB, with `data`.
  std::unique_ptr<FabricEnd> Ask(const std::string& data) {
    FabricEndOptions options;
    options.cap.max_send_sge = 8;
    options.reads = reads_;
    auto end = std::make_unique<FabricEnd>(fabric(), options);
    EXPECT_TRUE(end->MakeId());
    EXPECT_TRUE(end->Resolve("10.9.0.2", offer_.front().address.port(), "10.9.0.1"));
    EXPECT_TRUE(end->Prepare());
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(end->Receive(4 * i, 1024, i), 0);
    EXPECT_TRUE(end->Connect(data));
    return end;
  }
  std::optional<Event> NextEvent(FabricEnd& end) {
    std::optional<Event> event;
    EXPECT_TRUE(harness_->Until([&] {
      event = end.Next();
      return event.has_value();
    }));
    return event;
  }
  // Let in, and known at the server.
  std::unique_ptr<FabricEnd> Join() {
    server_.reset();
    auto end = Ask(Greeting(NextPass()));
    const auto event = NextEvent(*end);
    EXPECT_TRUE(event.has_value() && event->type == RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_TRUE(harness_->Until([&] { return server_ != nullptr; }));
    return end;
  }
  // All of them, before the server looks.
  void Send(FabricEnd& end, const std::vector<std::string>& messages) {
    for (size_t i = 0; i < messages.size(); ++i) {
      const size_t slot = kSendFrom + i % (FabricEnd::kSlots - kSendFrom);
      end.Fill(slot, messages[i]);
      ASSERT_EQ(end.Send(slot, static_cast<uint32_t>(messages[i].size()), i), 0);
    }
    fabric().Settle();
  }
  void ExpectClosed(FabricEnd& end, absl::string_view text) {
    ASSERT_TRUE(harness_->Until([&] { return server_->seen().closes == 1; })) << text;
    EXPECT_TRUE(absl::StrContains(server_->seen().why.message(), text)) << server_->seen().why;
    EXPECT_TRUE(absl::StrContains(server_->seen().why.message(), "10.9.0.1")) << "who it was";
    while (end.Next()) {
    }
  }
  void ExpectBreach(const std::vector<std::string>& messages, absl::string_view text) {
    const auto end = Join();
    Send(*end, messages);
    ExpectClosed(*end, text);
  }
  void ExpectServed() {
    server_.reset();
    const UpgradePass pass = NextPass();
    EXPECT_TRUE(ConnectToOffer(offer_, pass).ok());
    Echo();
  }

  uint32_t tokens_ = 0;
  uint8_t reads_ = 0;  // and windows, of the hostile end
  std::vector<UpgradeAddress> offer_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_RDMA_HOSTILE_TESTING_H_
