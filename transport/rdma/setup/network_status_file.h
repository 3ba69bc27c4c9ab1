// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SETUP_NETWORK_STATUS_FILE_H_
#define FARCALL_TRANSPORT_RDMA_SETUP_NETWORK_STATUS_FILE_H_

#include <string>
#include <utility>
#include <vector>

#include "transport/base/episode_log.h"
#include "transport/rdma/device/local_addresses.h"
#include "transport/rdma/setup/network_status.h"

namespace farcall {

// A file with the annotation of network_status.h, as the downward API writes it: the kubelet
// makes it before Multus has annotated the pod, so that it may be empty at first, and be written
// again at any time. With the control loop held.
class NetworkStatusFile {
 public:
  // `path`: empty for no file. `log` gets each new error, and the choice, once; it may be
  // empty, and outlives this.
  NetworkStatusFile(std::string path, const EpisodeLog::Sink& log)
      : path_(std::move(path)), log_(log) {}

  // Looks at the file: a file that cannot be read or understood changes nothing. Tens of
  // microseconds.
  void Read();

  // Whether the pod has this address for a network beside the one that Services lead to.
  bool IsOfSecondNetwork(const LocalIp& ip) const {
    return farcall::IsOfSecondNetwork(networks_, ip.address, ip.interface);
  }

 private:
  void LogOnce(const std::string& line);

  const std::string path_;
  const EpisodeLog::Sink& log_;
  std::string text_;  // that networks_ are of
  std::vector<PodNetwork> networks_;
  std::string logged_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SETUP_NETWORK_STATUS_FILE_H_
