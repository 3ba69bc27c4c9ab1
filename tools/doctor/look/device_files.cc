// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/doctor/look/host.h"
#include "tools/node/sys_files.h"
#include "transport/base/unique_fd.h"

namespace farcall::doctor {
namespace {

std::string UserName(uid_t id) {
  std::array<char, 1024> room{};
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(id, &entry, room.data(), room.size(), &found);
  return found == nullptr ? std::to_string(id) : found->pw_name;
}

std::string GroupName(gid_t id) {
  std::array<char, 4096> room{};
  group entry{};
  group* found = nullptr;
  getgrgid_r(id, &entry, room.data(), room.size(), &found);
  return found == nullptr ? std::to_string(id) : found->gr_name;
}

FileFact Look(const std::string& root, const std::string& path) {
  FileFact fact;
  fact.path = path;
  const std::string full = root + path;
  struct stat about {};
  if (stat(full.c_str(), &about) == 0) {
    fact.owner = absl::StrFormat("%04o %s %s", about.st_mode & 07777u, UserName(about.st_uid),
                                 GroupName(about.st_gid));
  }
  const UniqueFd fd(open(full.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid()) fact.error = errno;
  return fact;
}

}  // namespace

DeviceFileFacts ReadDeviceFiles(const std::string& root) {
  constexpr const char* kDirectory = "/dev/infiniband";
  constexpr const char* kClass = "sys/class/infiniband_verbs";
  const node::SysFiles files(root);
  DeviceFileFacts facts;
  std::error_code error;
  facts.directory = std::filesystem::is_directory(root + kDirectory, error);
  for (const std::string& name : files.List(kDirectory)) {
    if (absl::StartsWith(name, "uverbs")) {
      facts.uverbs.push_back(Look(root, absl::StrCat(kDirectory, "/", name)));
    }
  }
  facts.rdma_cm = Look(root, absl::StrCat(kDirectory, "/rdma_cm"));
  facts.rdma_ucm = files.Exists("sys/class/misc/rdma_cm");
  for (const std::string& uverbs : files.List(kClass)) {
    const auto device = files.Read(absl::StrCat(kClass, "/", uverbs, "/ibdev"));
    if (device && !device->empty()) facts.uverbs_of[*device] = uverbs;
  }
  return facts;
}

}  // namespace farcall::doctor
