// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/rdma_transport.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/loop/drive/blocking.h"
#include "transport/rdma/setup/brpc_set_up.h"
#include "transport/rdma/setup/connect_attempt.h"

namespace farcall {
namespace {

class ConnectTicket final : public UpgradeTicket {
 public:
  explicit ConnectTicket(std::shared_ptr<ConnectAttempt> offer_options)
      : attempt_(std::move(offer_options)) {}
  ~ConnectTicket() override { attempt_->GiveUp(); }
  void OnSetUp(absl::string_view message) override { attempt_->OnSetUp(message); }

 private:
  const std::shared_ptr<ConnectAttempt> attempt_;
};

class AwaitTicket final : public UpgradeTicket {
 public:
  AwaitTicket(EventLoop& control, UpgradeListener& listener, std::shared_ptr<Awaited> awaited)
      : control_(control), listener_(listener), awaited_(std::move(awaited)) {}
  ~AwaitTicket() override {
    awaited_->offered = nullptr;
    awaited_->admitted = nullptr;
    awaited_->line->HangUp();
    control_.Post([&listener = listener_, awaited = awaited_] { listener.Withdraw(*awaited); });
  }

  void OnSetUp(absl::string_view message) override {
    control_.Post([&listener = listener_, awaited = awaited_, message = std::string(message)] {
      listener.OnSetUp(*awaited, message);
    });
  }

 private:
  EventLoop& control_;
  UpgradeListener& listener_;
  const std::shared_ptr<Awaited> awaited_;
};

class WatchTicket final : public UpgradeTicket {
 public:
  WatchTicket(EventLoop& control, RdmaHost& host, std::shared_ptr<Arrivals::Waiter> waiter)
      : control_(control), host_(host), waiter_(std::move(waiter)) {}
  ~WatchTicket() override {
    waiter_->come = nullptr;
    control_.Post([&host = host_, waiter = waiter_] { host.arrivals().Remove(waiter); });
  }

 private:
  EventLoop& control_;
  RdmaHost& host_;
  const std::shared_ptr<Arrivals::Waiter> waiter_;
};

class BrpcTicket final : public BrpcPair {
 public:
  explicit BrpcTicket(std::shared_ptr<BrpcSetUp> set_up) : set_up_(std::move(set_up)) {}
  ~BrpcTicket() override { set_up_->GiveUp(); }
  void Join(const BrpcEnd& peer, OnJoin done) override { set_up_->Join(peer, std::move(done)); }
  void Open(Transport::OnConnect done) override { set_up_->Open(std::move(done)); }
  void EndOfPeer() override { set_up_->EndOfPeer(); }

 private:
  const std::shared_ptr<BrpcSetUp> set_up_;
};

}  // namespace

RdmaTransport::RdmaTransport(RdmaHost::Options options)
    : control_(options.control),
      registrar_(options.registrar),
      host_(std::move(options)),
      listener_(host_) {}

RdmaTransport::~RdmaTransport() {
  // Tasks that wait may still need it.
  while (!control_.TryRun([this] { listener_.Close(); })) control_.RunOnce();
  std::vector<EventLoop*> loops;
  bool quiet = false;
  while (!quiet) {
    while (!control_.TryRun([&] {
      const std::vector<EventLoop*> now = host_.Loops();
      loops.insert(loops.end(), now.begin(), now.end());
      quiet = host_.TakeDown();
    })) {
      control_.RunOnce();
    }
    for (EventLoop* const loop : loops) loop->RunOnce();
    loops.clear();
    if (!control_.RunOnce() && !quiet) std::this_thread::yield();
  }
}

void RdmaTransport::Probe(EventLoop& loop, OnAvailable done) {
  Check(loop.held(), "who asks holds the loop");
  if (host_.usable()) {
    return loop.Post([done = std::move(done)]() mutable { done(absl::OkStatus()); });
  }
  control_.Post([this, &loop, done = std::move(done)]() mutable {
    loop.Post(
        [status = Detached(host_.Ready()), done = std::move(done)]() mutable { done(status); });
  });
}

std::unique_ptr<UpgradeTicket> RdmaTransport::ConnectToOffer(
    EventLoop& loop, std::vector<UpgradeAddress> addresses, const UpgradePass& pass,
    const OfferConnectOptions& options, SendSetUp send, Transport::OnConnect done) {
  return std::make_unique<ConnectTicket>(ConnectAttempt::Start(host_, control_, loop,
                                                               std::move(addresses), pass, options,
                                                               std::move(send), std::move(done)));
}

std::unique_ptr<UpgradeTicket> RdmaTransport::Await(EventLoop& loop, const UpgradePass& pass,
                                                    const ConnectionOptions& options,
                                                    PeerTrust trust, SendSetUp send,
                                                    OnOffer offered, OnAdmit admitted) {
  Check(loop.held(), "who awaits holds the loop");
  const auto awaited = std::make_shared<Awaited>(
      Awaited{loop, pass, options, trust, std::move(offered), std::move(admitted),
              std::make_shared<SetUpLine>(control_, loop, std::move(send))});
  control_.Post([this, awaited] {
    auto offer = listener_.Await(awaited);
    if (!offer.ok()) offer = Detached(offer.status());
    awaited->loop.Post([awaited, offer = std::move(offer)]() mutable {
      if (awaited->offered) std::exchange(awaited->offered, nullptr)(std::move(offer));
    });
  });
  return std::make_unique<AwaitTicket>(control_, listener_, awaited);
}

std::unique_ptr<UpgradeTicket> RdmaTransport::Watch(EventLoop& loop, OnCome come) {
  Check(loop.held(), "who watches holds the loop");
  auto waiter = std::make_shared<Arrivals::Waiter>(Arrivals::Waiter{loop, std::move(come)});
  control_.Post([this, waiter] { host_.arrivals().Add(waiter); });
  return std::make_unique<WatchTicket>(control_, host_, std::move(waiter));
}

std::unique_ptr<BrpcPair> RdmaTransport::MakeForBrpc(EventLoop& loop, const BrpcWish& wish,
                                                     OnBrpcEnd made) {
  return std::make_unique<BrpcTicket>(
      BrpcSetUp::Start(host_, control_, loop, wish, std::move(made)));
}

RdmaStatus RdmaTransport::Status(Duration timeout) {
  struct Answer {
    std::mutex mutex;
    std::condition_variable come;
    RdmaStatus status;  // guarded by mutex
  };
  // An answer that comes too late is not read.
  const auto answer = std::make_shared<Answer>();
  const bool may_wait = BeforeBlocking().ok();
  const auto asked = std::chrono::steady_clock::now();
  control_.RunOrPost([this, answer, asked] {
    RdmaStatus status = host_.Status();
    status.answer_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count();
    const std::lock_guard<std::mutex> lock(answer->mutex);
    answer->status = std::move(status);
    answer->come.notify_all();
  });
  std::unique_lock<std::mutex> lock(answer->mutex);
  if (may_wait) answer->come.wait_for(lock, timeout, [&] { return answer->status.answered; });
  RdmaStatus status = std::move(answer->status);
  status.memory = registrar_.stats();
  return status;
}

}  // namespace farcall
