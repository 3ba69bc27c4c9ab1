// SPDX-License-Identifier: Apache-2.0

#include "rpc/runtime_options.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/traffic_class.h"
#include "transport/base/option_field.h"

namespace farcall {
namespace {

OptionField::OwnForm TrafficClassForm(int& traffic_class) {
  return {.get = [&traffic_class] { return absl::StrCat(traffic_class); },
          .set =
              [&traffic_class](absl::string_view text) {
                const absl::StatusOr<int> value = ParseTrafficClass(text);
                if (value.ok()) traffic_class = *value;
                return value.ok();
              },
          .expected = std::string(kTrafficClassExpected)};
}

std::vector<OptionField> OwnFields(RuntimeOptions& options) {
  return {
      {.name = "event_loops",
       .target = &options.event_loops,
       .range = {1, 256},
       .special = {{0, "default"}},
       .meaning = "threads that drive connections; default: one for each core that the process may "
                  "use, at most 8"},
      {.name = "cpus",
       .target = &options.cpus,
       .range = {0, 65'535},
       .special = {{0, "all"}},
       .meaning = "processors for the loops, in turns"},
      {.name = "near_adapters",
       .target = &options.near_adapters,
       .meaning = "where cpus is all and RDMA is used: loops keep to the processors of the "
                  "adapters' NUMA nodes"},
      {.name = "max_blocked_threads",
       .target = &options.max_blocked_threads,
       .range = {1, 1024},
       .meaning = "threads of one loop that may wait inside handlers and closures"},
      {.name = "traffic_class",
       .target = TrafficClassForm(options.traffic_class),
       .meaning = "IP traffic class of channels and servers that set none"},
  };
}

}  // namespace

std::vector<OptionField> Fields(RuntimeOptions& options) {
  std::vector<OptionField> all = OwnFields(options);
  const auto add = [&all](std::vector<OptionField> more) {
    for (OptionField& field : more) all.push_back(std::move(field));
  };
  add(Fields(options.polling, "polling."));
  add(Fields(options.pool, "pool."));
  add(Fields(options.rdma, "rdma."));
  add(Fields(options.link, "link."));
  return all;
}

absl::Status RuntimeOptions::Validate() const {
  RuntimeOptions copy = *this;
  absl::Status status = CheckFields(OwnFields(copy));
  if (status.ok() && (traffic_class < 0 || traffic_class > 255)) {
    status = absl::InvalidArgumentError(
        absl::StrCat("traffic_class must be 0 to 255, not ", traffic_class));
  }
  if (status.ok()) status = polling.Validate();
  if (status.ok()) status = pool.Validate();
  if (status.ok()) status = rdma.Validate();
  if (status.ok()) status = link.Validate();
  return status.ok() ? registration_cache.Validate() : status;
}

}  // namespace farcall
