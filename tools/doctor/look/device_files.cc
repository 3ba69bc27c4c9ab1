// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "tools/doctor/look/host.h"
#include "transport/base/unique_fd.h"

namespace farcall::doctor {
namespace {

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator each(directory, error), end; !error && each != end;
       each.increment(error)) {
    names.push_back(each->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

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
  DeviceFileFacts facts;
  std::error_code error;
  facts.directory = std::filesystem::is_directory(root + kDirectory, error);
  for (const std::string& name : NamesIn(root + kDirectory)) {
    if (absl::StartsWith(name, "uverbs")) {
      facts.uverbs.push_back(Look(root, std::string(kDirectory) + "/" + name));
    }
  }
  facts.rdma_cm = Look(root, std::string(kDirectory) + "/rdma_cm");
  facts.rdma_ucm = std::filesystem::exists(root + "/sys/class/misc/rdma_cm", error);
  const std::string classes = root + "/sys/class/infiniband_verbs";
  for (const std::string& uverbs : NamesIn(classes)) {
    std::ifstream file(classes + "/" + uverbs + "/ibdev");
    std::string device;
    if (file >> device) facts.uverbs_of[device] = uverbs;
  }
  return facts;
}

}  // namespace farcall::doctor
