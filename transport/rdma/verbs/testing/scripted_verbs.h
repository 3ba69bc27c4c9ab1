// SPDX-License-Identifier: Apache-2.0
//
// ScriptedVerbs: a table that says what the test wants to hear, and writes down what was
// called. For what only sets up and tears down; where data move, there is FakeFabric.

#ifndef FARCALL_TRANSPORT_RDMA_VERBS_TESTING_SCRIPTED_VERBS_H_
#define FARCALL_TRANSPORT_RDMA_VERBS_TESTING_SCRIPTED_VERBS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall {

// A device with one port; the test changes what it says.
struct ScriptedDevice {
  explicit ScriptedDevice(absl::string_view device_name);

  std::string name() const { return device.name; }
  // As an entry of port 1; an IPv4 address as ::ffff:a.b.c.d.
  void AddGid(absl::string_view ip, uint32_t interface_index);

  ibv_device device{};
  ibv_context context{};
  ibv_device_attr attr{};
  ibv_port_attr port{};
  std::vector<ibv_gid_entry> gids;
  bool unplugged = false;     // rdma_get_devices does not show it
  bool closed_to_us = false;  // nor does it, and ibv_open_device does not open it
};

// One at a time, one thread at a time: the functions have no argument that could name it. At
// its end everything is given back.
class ScriptedVerbs {
 public:
  ScriptedVerbs();
  ScriptedVerbs(const ScriptedVerbs&) = delete;
  ScriptedVerbs& operator=(const ScriptedVerbs&) = delete;
  ~ScriptedVerbs();

  const VerbsApi& api() const { return api_; }
  ScriptedDevice& AddDevice(absl::string_view name);  // RoCE, active, 4096 bytes

  // Every call of `function` ("ibv_alloc_pd") fails with this errno; 0: not any more.
  void Fail(const std::string& function, int error) { errors[function] = error; }

  std::vector<std::unique_ptr<ScriptedDevice>> devices;
  std::map<std::string, int> errors;
  std::vector<std::string> calls;    // of functions that give or take back
  std::vector<unsigned int> access;  // of each ibv_reg_mr that was granted
  uint64_t memlock = UINT64_MAX;     // bytes that may be registered
  uint64_t registered = 0;
  bool relaxed_ordering = true;  // else EINVAL
  int lists = 0;                 // of rdma_get_devices, not freed
  int live = 0;                  // objects

 private:
  VerbsApi api_{};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_VERBS_TESTING_SCRIPTED_VERBS_H_
