// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/network_status_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "transport/base/errno_status.h"
#include "transport/base/unique_fd.h"

namespace farcall {
namespace {

// At most one byte more than a network status may have.
absl::StatusOr<std::string> ReadText(const std::string& path) {
  // A pipe under this name must not stop the loop.
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return ErrnoStatus(errno);
  std::string text(kMaxNetworkStatus + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = read(fd.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno);
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  text.resize(size);
  return text;
}

// "net1 (default/roce-net), net2 (default/ib-net)"; empty: there is none.
std::string SecondNetworks(const std::vector<PodNetwork>& networks) {
  std::vector<std::string> names;
  for (const PodNetwork& network : networks) {
    if (network.is_default) continue;
    names.push_back(absl::StrCat(network.interface, " (", network.name, ")"));
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

void NetworkStatusFile::Read() {
  if (path_.empty()) return;
  auto text = ReadText(path_);
  if (text.ok() && !text_.empty() && *text == text_) return;
  auto networks = text.ok() ? ParseNetworkStatus(*text) : text.status();
  if (!networks.ok()) {
    return LogOnce(absl::StrCat("network status ", path_, ": ", networks.status().message(),
                                "; looked at again when RDMA is asked for"));
  }
  text_ = *std::move(text);
  networks_ = *std::move(networks);
  const std::string second = SecondNetworks(networks_);
  LogOnce(absl::StrCat("network status ", path_, ": ",
                       second.empty()
                           ? "no network beside the default one"
                           : absl::StrCat("preferred for RDMA: ", second,
                                          "; all that have a device if none of these has")));
}

void NetworkStatusFile::LogOnce(const std::string& line) {
  if (line != logged_ && log_) log_(line);
  logged_ = line;
}

}  // namespace farcall
