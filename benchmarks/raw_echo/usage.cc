// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/usage.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "benchmarks/raw_echo/socket.h"

namespace farcall::bench {
namespace {

struct UsageFrame {
  FrameHeader header;
  CpuSample sample;
};
static_assert(sizeof(UsageFrame) == sizeof(FrameHeader) + sizeof(CpuSample));

}  // namespace

absl::StatusOr<CpuSample> AskUsage(const std::string& address) {
  const absl::StatusOr<UniqueFd> fd = ConnectTo(address);
  if (!fd.ok()) return fd.status();
  const timeval limit{10, 0};
  setsockopt(fd->get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));

  UsageFrame frame;
  frame.header.kind = FrameHeader::kUsage;
  frame.header.length = sizeof(CpuSample);
  // So few bytes fit into the empty buffers of a new connection, and come in one piece.
  if (send(fd->get(), &frame, sizeof(frame), MSG_NOSIGNAL) != sizeof(frame)) {
    return absl::ErrnoToStatus(errno, "cannot ask for the CPU time of " + address);
  }
  const ssize_t got = recv(fd->get(), &frame, sizeof(frame), MSG_WAITALL);
  if (got != sizeof(frame)) {
    return absl::UnavailableError(address + " did not tell its CPU time: " +
                                  (got < 0 ? std::strerror(errno) : "it closed the connection"));
  }
  return frame.sample;
}

void AnswerIfUsage(Frame& frame) {
  if (frame.header.kind == FrameHeader::kUsage && frame.body.size() == sizeof(CpuSample)) {
    const CpuSample sample = CpuSample::Now();
    std::memcpy(frame.body.data(), &sample, sizeof(sample));
  }
}

}  // namespace farcall::bench
