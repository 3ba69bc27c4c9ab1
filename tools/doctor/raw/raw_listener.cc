// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "tools/doctor/raw/raw_ends.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/cm/cm_options.h"
#include "transport/sockaddr.h"

namespace farcall::doctor {

absl::StatusOr<std::unique_ptr<RawListener>> RawListener::Create(const VerbsApi& api,
                                                                 const Address& address) {
  auto channel = CreateEventChannel(api);
  if (!channel.ok()) return channel.status();
  auto to = ToSocketAddress(address);
  if (!to.ok()) return to.status();
  for (int left = kPortTries;; --left) {
    auto id = CreateCmId(api, channel->get(), nullptr);
    if (!id.ok()) return id.status();
    if (api.rdma.bind_addr(id->get(), to->get()) != 0) {
      return Annotate(ErrnoStatus(errno), "rdma_bind_addr " + address.ToString());
    }
    if (api.rdma.listen(id->get(), 1) == 0) {
      return std::unique_ptr<RawListener>(
          new RawListener(api, *std::move(channel), *std::move(id)));
    }
    const int error = errno;
    if (!TcpHasPort(error) || left == 1) return Annotate(ErrnoStatus(error), "rdma_listen");
  }
}

uint16_t RawListener::port() const {
  const uint16_t network_order = api_.rdma.get_src_port(id_.get());
  return static_cast<uint16_t>(network_order << 8 | network_order >> 8);
}

absl::Status RawListener::Serve(const RawLimits& limits, const std::atomic<bool>& stop) {
  auto link = Accept(Now() + limits.silence, stop);
  if (!link.ok()) return link.status();
  return Answer(**link, limits, stop);
}

absl::StatusOr<std::unique_ptr<RawLink>> RawListener::Accept(TimePoint deadline,
                                                             const std::atomic<bool>& stop) {
  CmId id;
  {
    constexpr std::chrono::milliseconds kLook{100};
    const auto await = [&] {
      return AwaitEvent(api_, channel_.get(), RDMA_CM_EVENT_CONNECT_REQUEST,
                        std::min(deadline, Now() + kLook));
    };
    auto request = await();
    while (absl::IsDeadlineExceeded(request.status()) && Now() < deadline && !stop) {
      request = await();
    }
    if (!request.ok()) return request.status();
    has_client_ = true;
    id = Own(api_, (*request)->id);
  }
  auto link = RawLink::Create(api_, std::move(id));
  if (!link.ok()) return link.status();
  rdma_conn_param param = RawParameters();
  if (api_.rdma.accept((*link)->id(), &param) != 0) {
    return Annotate(ErrnoStatus(errno), "rdma_accept");
  }
  return link;
}

absl::Status RawListener::Answer(RawLink& link, const RawLimits& limits,
                                 const std::atomic<bool>& stop) {
  // Polls between two looks at the clock and at what rdma_cm says.
  constexpr int kLook = 512;
  const TimePoint end = Now() + limits.session;
  TimePoint deadline = Now() + limits.silence;
  uint32_t unacknowledged = 0;
  for (int polls = 1; !stop; ++polls) {
    if (polls % kLook == 0) {
      if (Now() > deadline) return absl::DeadlineExceededError("the client is silent");
      if (Now() > end) return absl::DeadlineExceededError("the client measures for too long");
      auto event = NextCmEvent(api_, channel_.get());
      if (!event.ok()) return event.status();
      if (*event != nullptr && (*event)->event == RDMA_CM_EVENT_DISCONNECTED) {
        return absl::OkStatus();
      }
      if (*event != nullptr) Drop(api_, *std::move(event));
      std::this_thread::yield();
    }
    auto came = link.Poll();
    if (!came.ok()) {
      // What is posted is flushed when the client disconnects, which may be seen before its event.
      auto event = AwaitEvent(api_, channel_.get(), RDMA_CM_EVENT_DISCONNECTED,
                              Now() + std::chrono::seconds(1));
      return event.ok() ? absl::OkStatus() : came.status();
    }
    if (came->empty()) continue;
    deadline = Now() + limits.silence;
    for (const uint32_t bytes : *came) {
      const bool ack = bytes == kMessage && ++unacknowledged == kAckEvery;
      if (ack) unacknowledged = 0;
      if (bytes != kPing && !ack) continue;
      if (absl::Status sent = link.Send(ack ? kAck : kPing); !sent.ok()) return sent;
    }
  }
  return absl::CancelledError("this server is ending");
}

}  // namespace farcall::doctor
