// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/why_no_device.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "transport/base/errno_status.h"
#include "transport/base/unique_fd.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(directory, error)) {
    names.push_back(each.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Empty: it can be opened as librdmacm and libibverbs do it.
std::string WhyNotOpened(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (fd.valid()) return "";
  return absl::StrCat(path, ": ", ErrnoStatus(errno).message());
}

// "uverbs0" of the device, which /sys/class/infiniband_verbs/uverbs0/ibdev names.
std::string UverbsOf(const HostView& host, const std::string& device) {
  const std::string root = absl::StrCat(host.sys_class, "/infiniband_verbs/");
  for (const std::string& uverbs : NamesIn(root)) {
    std::ifstream file(absl::StrCat(root, uverbs, "/ibdev"));
    std::string name;
    if (file >> name && name == device) return uverbs;
  }
  return "uverbs*";
}

// What libibverbs says of those that it knows; a device without its uverbs file is not
// among them.
std::vector<std::string> TroublesOfOpening(const VerbsApi& api, const HostView& host) {
  std::vector<std::string> troubles;
  int count = 0;
  ibv_device** const list = api.ibv.get_device_list(&count);
  if (list == nullptr) return troubles;
  for (int i = 0; i < count; ++i) {
    if (ibv_context* const context = api.ibv.open_device(list[i]); context != nullptr) {
      static_cast<void>(api.ibv.close_device(context));
      continue;
    }
    const int error = errno;
    // The file's own trouble first: libibverbs goes on to search for it, and then has ENOENT.
    const std::string path = absl::StrCat(host.dev_directory, "/", list[i]->dev_name);
    std::string trouble = WhyNotOpened(path);
    if (trouble.empty()) trouble = absl::StrCat(path, ": ", ErrnoStatus(error).message());
    troubles.push_back(absl::StrCat(api.ibv.get_device_name(list[i]), ": ", trouble));
  }
  api.ibv.free_device_list(list);
  return troubles;
}

std::vector<std::string> TroublesOfFiles(const HostView& host,
                                         const std::vector<std::string>& devices) {
  std::vector<std::string> troubles;
  for (const std::string& device : devices) {
    const std::string trouble =
        WhyNotOpened(absl::StrCat(host.dev_directory, "/", UverbsOf(host, device)));
    if (!trouble.empty()) troubles.push_back(absl::StrCat(device, ": ", trouble));
  }
  // Without it librdmacm shows no device at all.
  if (const std::string trouble = WhyNotOpened(host.dev_directory + "/rdma_cm"); !trouble.empty()) {
    troubles.push_back(trouble);
  }
  return troubles;
}

}  // namespace

absl::Status WhyNoDevice(const VerbsApi& api, const HostView& host) {
  const std::vector<std::string> devices = NamesIn(host.sys_class + "/infiniband");
  std::vector<std::string> troubles = TroublesOfOpening(api, host);
  if (troubles.empty() && !devices.empty()) troubles = TroublesOfFiles(host, devices);
  if (!troubles.empty()) {
    return NotRdma(WhyNotRdma::kDeviceNotPermitted, absl::StrJoin(troubles, "; "));
  }
  if (devices.empty()) {
    return NotRdma(WhyNotRdma::kNoDevice,
                   absl::StrCat("nothing in ", host.sys_class, "/infiniband"));
  }
  return NotRdma(WhyNotRdma::kNoDevice,
                 absl::StrCat("no provider of libibverbs knows ", absl::StrJoin(devices, ", "),
                              ": install ibverbs-providers"));
}

}  // namespace farcall
