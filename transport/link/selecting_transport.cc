// SPDX-License-Identifier: Apache-2.0

#include "transport/link/selecting_transport.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_group.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

UpgradeOptions With(UpgradeOptions options, UseRdma use) {
  options.use_rdma = use != UseRdma::kNo;
  options.require_rdma = use == UseRdma::kRequire;
  return options;
}

// What a probe on a loop tells a thread that waits for it, or no longer does.
class Answer {
 public:
  void Set(const absl::Status& status) {
    const std::lock_guard<std::mutex> lock(mutex_);
    status_ = Detached(status);
    set_.notify_one();
  }
  // Once.
  absl::Status Wait(Duration longest) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (set_.wait_for(lock, longest, [this] { return status_.has_value(); })) {
      return *std::move(status_);
    }
    return NotRdma(WhyNotRdma::kTimedOut, "looking for RDMA devices takes too long");
  }

 private:
  std::mutex mutex_;
  std::condition_variable set_;
  std::optional<absl::Status> status_;  // guarded by mutex_
};

}  // namespace

SelectingTransport::SelectingTransport(Transport& tcp, UpgradeTransport& rdma,
                                       UpgradeRecord& record, const UpgradeOptions& options)
    : rdma_(rdma),
      plain_(tcp, &rdma, record, With(options, UseRdma::kNo)),
      preferred_(tcp, &rdma, record, With(options, UseRdma::kPrefer)),
      required_(tcp, &rdma, record, With(options, UseRdma::kRequire)) {}

void SelectingTransport::Connect(EventLoop& loop, const Address& peer,
                                 const ConnectOptions& options, OnConnect done) {
  For(options.rdma).Connect(loop, peer, options, std::move(done));
}

absl::StatusOr<std::unique_ptr<Listener>> SelectingTransport::Listen(LoopGroup& loops,
                                                                     const Address& address,
                                                                     const ListenOptions& options,
                                                                     OnAccept on_accept) {
  if (options.rdma == UseRdma::kRequire) {
    const absl::Status available = WaitForProbe(loops.Next());
    if (!available.ok()) return available;
  }
  if (options.rdma == UseRdma::kPrefer) {
    // The first look at the devices may take longer than a client waits for the answer to
    // its hello.
    EventLoop& loop = loops.Next();
    loop.RunOrPost([this, &loop] { rdma_.Probe(loop, [](const absl::Status&) {}); });
  }
  return For(options.rdma).Listen(loops, address, options, std::move(on_accept));
}

LinkTransport& SelectingTransport::For(UseRdma use) {
  switch (use) {
    case UseRdma::kNo:
      return plain_;
    case UseRdma::kPrefer:
      return preferred_;
    case UseRdma::kRequire:
      return required_;
  }
  Check(false, "a use of RDMA is one of the three");
  return plain_;
}

absl::Status SelectingTransport::WaitForProbe(EventLoop& loop) {
  // The answer comes by the loop, which this thread may be driving.
  if (absl::Status status = BeforeBlocking(); !status.ok()) return status;
  // Shared: the probe may answer when Listen has given up.
  const auto answer = std::make_shared<Answer>();
  loop.RunOrPost([this, &loop, answer] {
    rdma_.Probe(loop, [answer](const absl::Status& status) { answer->Set(status); });
  });
  return answer->Wait(kProbeTime);
}

}  // namespace farcall
