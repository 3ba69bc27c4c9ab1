// SPDX-License-Identifier: Apache-2.0
//
// The rule of all checks of a device: what is amiss, or not known, is not ok for want of a file.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/checks_testing.h"
#include "tools/doctor/checks/gids.h"

namespace farcall::doctor {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Calls `look` with each field cleared in turn, however deep.
void WithoutEachField(Message& message, const std::string& path,
                      const std::function<void(const std::string&)>& look) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    const std::string name = absl::StrCat(path, ".", field->name());
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        WithoutEachField(field->is_repeated()
                             ? *reflection.MutableRepeatedMessage(&message, field, i)
                             : *reflection.MutableMessage(&message, field),
                         absl::StrCat(name, "[", i, "]"), look);
      }
    }
    const std::unique_ptr<Message> whole(message.New());
    whole->CopyFrom(message);
    reflection.ClearField(&message, field);
    look(name);
    message.CopyFrom(*whole);
  }
}

// The worst that a check says of a device, by "DEVICE CHECK".
using Verdicts = std::map<std::string, Verdict>;

Verdicts Judge(const node::Inventory& inventory, const std::vector<std::string>& devices,
               const std::vector<OwnAddress>& own) {
  Verdicts verdicts;
  for (const Finding& finding : CheckLoopPlaces(inventory, devices, /*loops=*/8, {})) {
    verdicts[finding.check] = finding.verdict;
  }
  for (const node::Device& device : inventory.devices()) {
    Findings all = CheckPorts(inventory, device, nullptr, own);
    for (const Findings& more : {Findings{CheckGids(inventory, device, own)}, CheckPci(device),
                                 CheckNuma(inventory, device),
                                 CheckCongestion(inventory, device, std::nullopt, own, {})}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    for (const Finding& finding : all) {
      Verdict& worst = verdicts[absl::StrCat(device.name(), " ", finding.check)];
      worst = std::max(worst, finding.verdict);
    }
  }
  return verdicts;
}

struct Trouble {
  const char* what;
  std::function<void(node::Inventory&, std::vector<OwnAddress>&)> make;
};

template <typename Change>
Trouble OfDevices(const char* what, Change change) {
  return {what, [change](node::Inventory& inventory, std::vector<OwnAddress>&) {
            for (node::Device& device : *inventory.mutable_devices()) change(device);
          }};
}

template <typename Change>
Trouble OfPorts(const char* what, Change change) {
  return OfDevices(what, [change](node::Device& device) {
    for (node::Port& port : *device.mutable_ports()) change(port);
  });
}

template <typename Change>
Trouble OfNetdevs(const char* what, Change change) {
  return {what, [change](node::Inventory& inventory, std::vector<OwnAddress>&) {
            for (node::Netdev& netdev : *inventory.mutable_netdevs()) change(netdev);
          }};
}

std::vector<Trouble> Troubles() {
  return {
      {"none", [](auto&, auto&) {}},
      {"no address", [](auto&, auto& own) { own.clear(); }},
      {"another node",
       [](node::Inventory& inventory, auto&) {
         inventory.clear_allowed_numa_nodes();
         inventory.add_allowed_numa_nodes(99);
         inventory.set_allowed_cpus("16-31");
       }},
      OfDevices("one lane",
                [](node::Device& device) {
                  if (device.pci().has_link_width()) device.mutable_pci()->set_link_width("1");
                }),
      OfPorts("down", [](node::Port& port) { port.set_state("DOWN"); }),
      OfPorts("no mark",
              [](node::Port& port) {
                port.set_default_roce_tos(0);
                port.clear_traffic_class();
              }),
      OfPorts("v1", [](node::Port& port) { port.set_default_roce_mode("IB/RoCE v1"); }),
      OfNetdevs("no pfc", [](node::Netdev& netdev) { netdev.set_qos_pfc("0,0,0,0,0,0,0,0"); }),
      OfNetdevs("trust",
                [](node::Netdev& netdev) {
                  netdev.set_qos_pfc("0,0,0,1,0,0,0,0");
                  netdev.set_qos_trust("pcp");
                }),
      OfNetdevs("no reaction", [](node::Netdev& netdev) { netdev.clear_ecn_rp_priorities(); }),
  };
}

// Many, and no check here looks at them.
void ForgetCounters(node::Inventory& inventory) {
  for (node::Device& device : *inventory.mutable_devices()) {
    device.clear_hw_counters();
    for (node::Port& port : *device.mutable_ports()) {
      port.clear_counters();
      port.clear_hw_counters();
    }
  }
}

// Of eight alike, one at each NUMA node: the test takes the square of what there is.
template <typename Fields>
void KeepTwoOfMany(Fields& fields) {
  if (fields.size() >= 8) fields.DeleteSubrange(1, fields.size() - 2);
}

TEST(UnreadTest, NothingBecomesOkByWhatCannotBeRead) {
  size_t amiss = 0;
  for (const char* const fixture : node::kFixtures) {
    std::set<std::string> seen;
    for (const Trouble& trouble : Troubles()) {
      node::Inventory inventory = Read(fixture);
      std::vector<OwnAddress> own = {{"10.1.0.11", "ens1f0np0"}, {"10.2.0.1", "ib0"}};
      ForgetCounters(inventory);
      KeepTwoOfMany(*inventory.mutable_devices());
      KeepTwoOfMany(*inventory.mutable_netdevs());
      trouble.make(inventory, own);
      // The trouble changed nothing: this node has nothing of its kind, and was judged before.
      if (!seen.insert(absl::StrCat(own.size(), inventory.SerializeAsString())).second) continue;
      std::vector<std::string> devices;
      for (const node::Device& device : inventory.devices()) devices.push_back(device.name());
      const Verdicts before = Judge(inventory, devices, own);
      amiss += std::count_if(before.begin(), before.end(),
                             [](const auto& one) { return one.second != Verdict::kOk; });
      WithoutEachField(inventory, fixture, [&](const std::string& path) {
        // Whose interface it is: one that is not known to be another adapter's counts (GidTest).
        if (absl::EndsWith(path, ".mac")) return;
        for (const auto& [check, verdict] : Judge(inventory, devices, own)) {
          // A pod has no interface of the device, where that of the node may have lost its address.
          if (absl::EndsWith(path, ".netdevs") && absl::EndsWith(check, " gid")) continue;
          const auto was = before.find(check);
          if (verdict != Verdict::kOk || was == before.end()) continue;
          EXPECT_EQ(was->second, Verdict::kOk)
              << trouble.what << ": " << check << " without " << path;
        }
      });
    }
  }
  EXPECT_GT(amiss, 100u) << "there is something to be hidden";
}

}  // namespace
}  // namespace farcall::doctor
