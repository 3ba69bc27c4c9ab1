// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_FAULT_PLAN_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_FAULT_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace farcall {

// Which calls fail. With the fabric's mutex held.
class FakeFaultPlan {
 public:
  void FailCall(absl::string_view name, int nth, int error) {
    planned_.push_back({std::string(name), nth, error});
    quiet_ = false;
  }
  // From now on; error 0: no more.
  void FailEvery(absl::string_view name, int error) {
    std::erase_if(planned_, [&](const Planned& one) { return one.name == name; });
    if (error != 0) planned_.push_back({std::string(name), kEvery, error});
    quiet_ = planned_.empty() && !recording_;
  }
  void FailNumber(uint64_t number, int error) {
    fail_number_ = number;
    fail_error_ = error;
  }
  // Every function of the table that can fail begins with it. The errno to fail with; 0:
  // go on. `name` outlives the call.
  int Enter(const char* name) {
    const bool hit = ++calls_ == fail_number_;
    if (!hit && quiet_) [[likely]] {
      return 0;
    }
    if (recording_) recorded_.emplace_back(name);
    return Decide(name, hit);
  }
  // What gives back: fails only by name.
  int EnterUncounted(const char* name) { return planned_.empty() ? 0 : Decide(name, false); }

  void Record() {
    recording_ = true;
    quiet_ = false;
  }

  uint64_t calls() const { return calls_; }
  // The counted calls since Record.
  const std::vector<std::string>& recorded() const { return recorded_; }
  const std::string& last_failed() const { return last_failed_; }

 private:
  static constexpr int kEvery = 0;
  struct Planned {
    std::string name;
    int left;
    int error;
  };

  int Decide(const char* name, bool hit) {
    int error = hit ? fail_error_ : 0;
    for (size_t i = 0; i < planned_.size();) {
      if (planned_[i].name == name && planned_[i].left == kEvery) {
        error = planned_[i++].error;
      } else if (planned_[i].name == name && --planned_[i].left == 0) {
        error = planned_[i].error;
        planned_.erase(planned_.begin() + static_cast<ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    if (error != 0) last_failed_ = name;
    quiet_ = planned_.empty() && !recording_;
    return error;
  }

  std::vector<Planned> planned_;
  bool recording_ = false;
  bool quiet_ = true;  // nothing planned by name, nothing recorded
  std::vector<std::string> recorded_;
  uint64_t calls_ = 0;
  uint64_t fail_number_ = 0;
  int fail_error_ = 0;
  std::string last_failed_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_FAULT_PLAN_H_
