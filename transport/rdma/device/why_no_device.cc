// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/why_no_device.h"

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
#include "transport/base/unique_fd.h"
#include "transport/rdma/verbs/errno_text.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// What keeps a device from being looked at, and the errno of that.
struct Trouble {
  std::string text;
  int error = 0;
};

// Whether it is a matter of rights. A file that is not there is one that a container was not
// given.
bool OfRights(int error) {
  return error == EACCES || error == EPERM || error == ENOENT || error == ENXIO || error == ENODEV;
}

absl::Status StatusOfTroubles(const std::vector<Trouble>& troubles) {
  const bool rights = std::any_of(troubles.begin(), troubles.end(),
                                  [](const Trouble& one) { return OfRights(one.error); });
  const auto add = [](std::string* out, const Trouble& one) { out->append(one.text); };
  return NotRdma(rights ? WhyNotRdma::kDeviceNotPermitted : WhyNotRdma::kDeviceRefused,
                 absl::StrJoin(troubles, "; ", add));
}

struct Listing {
  std::vector<std::string> found;  // in their order
  int error = 0;                   // but that there is no such directory
};

Listing ListingOf(const std::string& directory) {
  Listing names;
  std::error_code error;
  std::filesystem::directory_iterator each(directory, error);
  for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    names.found.push_back(each->path().filename().string());
  }
  if (error != std::errc::no_such_file_or_directory) names.error = error.value();
  std::sort(names.found.begin(), names.found.end());
  return names;
}

// 0: it can be opened as librdmacm and libibverbs do it.
int WhyNotOpened(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  return fd.valid() ? 0 : errno;
}

// "uverbs0" of the device, which /sys/class/infiniband_verbs/uverbs0/ibdev names.
std::string UverbsOf(const HostView& host, const std::string& device) {
  const std::string root = absl::StrCat(host.sys_class, "/infiniband_verbs/");
  for (const std::string& uverbs : ListingOf(root).found) {
    std::ifstream file(absl::StrCat(root, uverbs, "/ibdev"));
    std::string name;
    if (file >> name && name == device) return uverbs;
  }
  return "uverbs*";
}

// What libibverbs says of those that it knows; a device without its uverbs file is not
// among them.
struct Opening {
  int error = 0;    // of ibv_get_device_list(3)
  int devices = 0;  // that it gave
  std::vector<Trouble> troubles;
};

Opening TryOpening(const VerbsApi& api, const HostView& host) {
  Opening opening;
  errno = 0;
  ibv_device** const list = api.ibv.get_device_list(&opening.devices);
  if (list == nullptr) {
    opening.error = errno;
    opening.devices = 0;
    return opening;
  }
  for (int i = 0; i < opening.devices; ++i) {
    if (ibv_context* const context = api.ibv.open_device(list[i]); context != nullptr) {
      static_cast<void>(api.ibv.close_device(context));
      continue;
    }
    int error = errno;
    // The file's own trouble first: libibverbs goes on to search for it, and then has ENOENT.
    const std::string path = absl::StrCat(host.dev_directory, "/", list[i]->dev_name);
    if (const int of_file = WhyNotOpened(path); of_file != 0) error = of_file;
    const std::string name = api.ibv.get_device_name(list[i]);
    opening.troubles.push_back({ErrnoText(absl::StrCat(name, ": ", path), error), error});
  }
  api.ibv.free_device_list(list);
  return opening;
}

std::vector<Trouble> TroublesOfFiles(const HostView& host,
                                     const std::vector<std::string>& devices) {
  std::vector<Trouble> troubles;
  const auto check = [&](const std::string& device, const std::string& file) {
    const std::string path = absl::StrCat(host.dev_directory, "/", file);
    if (const int error = WhyNotOpened(path); error != 0) {
      troubles.push_back({ErrnoText(absl::StrCat(device, path), error), error});
    }
  };
  for (const std::string& device : devices) check(device + ": ", UverbsOf(host, device));
  // Without it librdmacm shows no device at all.
  check("", "rdma_cm");
  return troubles;
}

// ENOSYS is what ibv_get_device_list(3) says of a kernel without RDMA, and libibverbs also where
// it could not read the directory, which is then the reason.
bool IsTrouble(int list_error, const Listing& devices) {
  return list_error != 0 && (list_error != ENOSYS || !devices.found.empty());
}

// A network namespace is then shown its own devices alone (rdma-system(8)).
bool NamespacesAreExclusive(const HostView& host) {
  std::ifstream file(host.sys_class + "/../module/ib_core/parameters/netns_mode");
  const int mode = file.get();
  return mode == 'N' || mode == '0';
}

}  // namespace

absl::Status WhyNoDevice(const VerbsApi& api, const HostView& host, int error) {
  const std::string directory = host.sys_class + "/infiniband";
  const Listing devices = ListingOf(directory);
  const Opening opening = TryOpening(api, host);
  std::vector<Trouble> troubles = opening.troubles;
  if (devices.error != 0) troubles.push_back({ErrnoText(directory, devices.error), devices.error});
  if (troubles.empty() && !devices.found.empty()) troubles = TroublesOfFiles(host, devices.found);
  if (!troubles.empty()) return StatusOfTroubles(troubles);
  // Nothing else is the matter with what is there.
  if (IsTrouble(opening.error, devices)) {
    return StatusOfTroubles({{ErrnoText("ibv_get_device_list", opening.error), opening.error}});
  }
  if (opening.devices > 0 && error != 0) {
    return NotRdma(WhyNotRdma::kDeviceRefused, ErrnoText("rdma_get_devices", error));
  }
  if (devices.found.empty()) {
    return NotRdma(WhyNotRdma::kNoDevice,
                   absl::StrCat("nothing in ", directory,
                                NamespacesAreExclusive(host)
                                    ? "; RDMA namespaces are exclusive, so a device must be moved "
                                      "into this one: rdma dev set, or in pods the CNI plugin rdma"
                                    : ""));
  }
  return NotRdma(WhyNotRdma::kNoDevice,
                 absl::StrCat("no provider of libibverbs knows ",
                              absl::StrJoin(devices.found, ", "), ": install ibverbs-providers"));
}

}  // namespace farcall
