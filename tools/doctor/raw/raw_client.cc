// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/doctor/raw/raw_ends.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/cm/cm_options.h"
#include "transport/sockaddr.h"

namespace farcall::doctor {
namespace {

constexpr std::chrono::seconds kSilence{5};
// So long for an answer to the first ping before another one is sent. kSilence has fewer than
// kWindow of them, so each finds a receive.
constexpr std::chrono::milliseconds kAgain{200};
static_assert(kSilence / kAgain < kWindow);

}  // namespace

absl::StatusOr<std::unique_ptr<RawClient>> RawClient::Connect(const VerbsApi& api,
                                                              const Address& address,
                                                              Duration limit, const Address& from) {
  const TimePoint deadline = Now() + limit;
  for (int left = kPortTries;; --left) {
    int error = 0;
    auto client = Try(api, address, from, deadline, error);
    if (client.ok() || !TcpHasPort(error) || left == 1) return client;
  }
}

// `error`: the errno of rdma_connect, if that fails.
absl::StatusOr<std::unique_ptr<RawClient>> RawClient::Try(const VerbsApi& api,
                                                          const Address& address,
                                                          const Address& from, TimePoint deadline,
                                                          int& error) {
  const Duration limit = std::max(deadline - Now(), Duration::zero());
  const int step =
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(limit).count());
  auto channel = CreateEventChannel(api);
  if (!channel.ok()) return channel.status();
  auto id = CreateCmId(api, channel->get(), nullptr);
  if (!id.ok()) return id.status();
  auto to = ToSocketAddress(address);
  if (!to.ok()) return to.status();
  const auto await = [&](rdma_cm_event_type wanted) {
    return AwaitEvent(api, channel->get(), wanted, deadline).status();
  };
  std::optional<SocketAddress> source;
  if (from.family() != AddressFamily::kNone) {
    auto own = ToSocketAddress(from);
    if (!own.ok()) return own.status();
    source = *std::move(own);
  }
  sockaddr* const bound = source.has_value() ? source->get() : nullptr;
  if (api.rdma.resolve_addr(id->get(), bound, to->get(), step) != 0) {
    return Annotate(ErrnoStatus(errno), "rdma_resolve_addr");
  }
  if (absl::Status status = await(RDMA_CM_EVENT_ADDR_RESOLVED); !status.ok()) return status;
  if (api.rdma.resolve_route(id->get(), step) != 0) {
    return Annotate(ErrnoStatus(errno), "rdma_resolve_route");
  }
  if (absl::Status status = await(RDMA_CM_EVENT_ROUTE_RESOLVED); !status.ok()) return status;
  auto link = RawLink::Create(api, *std::move(id));
  if (!link.ok()) return link.status();
  rdma_conn_param param = RawParameters();
  if (api.rdma.connect((*link)->id(), &param) != 0) {
    error = errno;
    return Annotate(ErrnoStatus(error), "rdma_connect");
  }
  if (absl::Status status = await(RDMA_CM_EVENT_ESTABLISHED); !status.ok()) return status;
  std::unique_ptr<RawClient> client(new RawClient(api, *std::move(channel)));
  client->link_ = *std::move(link);
  return client;
}

RawClient::~RawClient() {
  if (link_ != nullptr) static_cast<void>(api_.rdma.disconnect(link_->id()));
}

absl::StatusOr<uint32_t> RawClient::Await(uint32_t bytes, uint64_t answered, Duration limit) {
  constexpr int kLook = 512;  // polls between two looks at the clock
  const TimePoint deadline = Now() + limit;
  for (int polls = 1;; ++polls) {
    auto came = link_->Poll();
    if (!came.ok()) return came.status();
    const auto count = std::count(came->begin(), came->end(), bytes);
    if (count > 0) return static_cast<uint32_t>(count);
    if (polls % kLook != 0) continue;
    if (Now() > deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("no answer in ", kSilence.count(), " s and no error, after ", answered,
                       bytes == kPing ? " round trips; " : " messages; ", link_->sends(),
                       " sends have not completed"));
    }
    std::this_thread::yield();
  }
}

absl::Status RawClient::WaitForServer() {
  const TimePoint deadline = Now() + kSilence;
  uint32_t open = 0;
  do {
    if (absl::Status sent = link_->Send(kPing); !sent.ok()) return sent;
    ++open;
    const TimePoint again = Now() + kAgain;
    while (open > 0 && Now() < again) {
      auto answers = Await(kPing, 0, again - Now());
      if (absl::IsDeadlineExceeded(answers.status()) && Now() < deadline) break;
      if (!answers.ok()) return answers.status();
      open -= *answers;
    }
  } while (open > 0);
  return absl::OkStatus();
}

absl::StatusOr<bench::LatencyHistogram> RawClient::Ping(Duration how_long) {
  if (absl::Status status = WaitForServer(); !status.ok()) return status;
  bench::LatencyHistogram latency;
  TimePoint begun = Now();
  const TimePoint end = begun + how_long;
  do {
    if (absl::Status sent = link_->Send(kPing); !sent.ok()) return sent;
    if (auto answer = Await(kPing, latency.count(), kSilence); !answer.ok()) return answer.status();
    const TimePoint answered = Now();
    latency.Record(answered - begun);
    begun = answered;
  } while (begun < end);
  return latency;
}

absl::StatusOr<double> RawClient::Stream(Duration how_long) {
  const TimePoint begun = Now();
  const TimePoint end = begun + how_long;
  uint64_t acknowledged = 0;
  uint32_t open = 0;  // sent, and not acknowledged
  while (true) {
    // Whole groups: no message waits for an acknowledgement that needs another.
    while (open < kWindow && Now() < end) {
      for (uint32_t i = 0; i < kAckEvery; ++i) {
        if (absl::Status sent = link_->Send(kMessage); !sent.ok()) return sent;
      }
      open += kAckEvery;
    }
    if (open == 0) break;
    auto acks = Await(kAck, acknowledged, kSilence);
    if (!acks.ok()) return acks.status();
    open -= *acks * kAckEvery;
    acknowledged += uint64_t{*acks} * kAckEvery;
  }
  const std::chrono::duration<double> seconds = Now() - begun;
  return static_cast<double>(acknowledged) * kMessage / seconds.count();
}

}  // namespace farcall::doctor
