// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/node/inventory.h"
#include "tools/node/parse.h"
#include "tools/node/readers.h"

namespace farcall::node {
namespace {

std::vector<uint32_t> Numbers(const std::vector<std::string>& names) {
  std::vector<uint32_t> numbers;
  for (const std::string& name : names) {
    uint32_t number = 0;
    if (absl::SimpleAtoi(name, &number)) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void ReadGids(const SysFiles& files, const std::string& path, Inventory& inventory, Port& port) {
  for (const uint32_t index : Numbers(files.List(path + "/gids"))) {
    const auto text = files.Read(absl::StrCat(path, "/gids/", index));
    if (!text || IsEmptyGid(*text)) continue;
    if (static_cast<size_t>(port.gids_size()) == kMaxGids) {
      inventory.add_cut(absl::StrCat(path, "/gids: only the first ", kMaxGids));
      return;
    }
    Gid& gid = *port.add_gids();
    gid.set_index(index);
    gid.set_gid(*text);
    const std::string attributes = path + "/gid_attrs/";
    if (const auto type = files.Read(absl::StrCat(attributes, "types/", index))) {
      gid.set_type(*type);
    }
    if (const auto netdev = files.Read(absl::StrCat(attributes, "ndevs/", index))) {
      gid.set_netdev(*netdev);
    }
  }
}

void ReadState(const SysFiles& files, const std::string& path, Port& port) {
  const auto text = [&](absl::string_view file) {
    return files.Read(absl::StrCat(path, "/", file));
  };
  const auto number = [&](absl::string_view file) { return ParseNumber(text(file).value_or("")); };
  if (const auto state = text("state")) port.set_state(ParseState(*state));
  if (const auto state = text("phys_state")) port.set_phys_state(ParseState(*state));
  if (const auto layer = text("link_layer")) port.set_link_layer(*layer);
  if (const auto rate = text("rate")) {
    port.set_rate(*rate);
    if (const auto gbps = ParseRate(*rate)) port.set_rate_gbps(*gbps);
  }
  if (const auto lid = number("lid")) port.set_lid(static_cast<uint32_t>(*lid));
  if (const auto lid = number("sm_lid")) port.set_sm_lid(static_cast<uint32_t>(*lid));
  if (const auto sl = number("sm_sl")) port.set_sm_sl(static_cast<uint32_t>(*sl));
  if (const auto mask = text("cap_mask")) port.set_cap_mask(*mask);
}

void ReadTrafficClass(const SysFiles& files, const std::string& device, uint32_t number,
                      Port& port) {
  const std::string cm = absl::StrCat("sys/kernel/config/rdma_cm/", device, "/ports/", number);
  if (const auto tos = ParseNumber(files.Read(cm + "/default_roce_tos").value_or(""))) {
    port.set_default_roce_tos(static_cast<uint32_t>(*tos));
  }
  if (const auto mode = files.Read(cm + "/default_roce_mode")) port.set_default_roce_mode(*mode);
  const auto tc =
      files.Read(absl::StrCat("sys/class/infiniband/", device, "/tc/", number, "/traffic_class"));
  if (tc) port.set_traffic_class(*tc);
}

}  // namespace

void ReadCounters(const SysFiles& files, const std::string& path, Inventory& inventory,
                  google::protobuf::RepeatedPtrField<Counter>& counters) {
  for (const std::string& name : files.List(path)) {
    if (name == "lifespan") continue;  // for how long the kernel keeps the values, in ms
    const auto value = ParseNumber(files.Read(absl::StrCat(path, "/", name)).value_or(""));
    if (!value) continue;
    if (static_cast<size_t>(counters.size()) == kMaxCounters) {
      inventory.add_cut(absl::StrCat(path, ": only the first ", kMaxCounters));
      return;
    }
    Counter& counter = *counters.Add();
    counter.set_name(name);
    counter.set_value(*value);
  }
}

void ReadPort(const SysFiles& files, const std::string& device, uint32_t number, bool with_counters,
              Inventory& inventory, Port& port) {
  const std::string path = absl::StrCat("sys/class/infiniband/", device, "/ports/", number);
  port.set_number(number);
  ReadState(files, path, port);
  ReadGids(files, path, inventory, port);
  ReadTrafficClass(files, device, number, port);
  if (!with_counters) return;
  ReadCounters(files, path + "/counters", inventory, *port.mutable_counters());
  ReadCounters(files, path + "/hw_counters", inventory, *port.mutable_hw_counters());
}

}  // namespace farcall::node
