// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/client/client_survey.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "rpc/session/client/client_session.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// What is still to be looked at with one loop held. Its sessions are let go of there, too.
struct ClientSurvey::OfLoop {
  EventLoop* loop = nullptr;
  const SessionRegistry* registry = nullptr;
  size_t index = 0;
  bool begun = false;
  std::vector<std::shared_ptr<ClientSession>> sessions;
};

std::shared_ptr<ClientSurvey> ClientSurvey::Begin(LoopGroup& loops, const Clock& clock,
                                                  const SessionRegistry& registry) {
  const std::shared_ptr<ClientSurvey> survey(new ClientSurvey(loops.size(), clock));
  for (size_t i = 0; i < loops.size(); ++i) {
    const auto of = std::make_shared<OfLoop>();
    of->loop = &loops.at(i);
    of->registry = &registry;
    of->index = i;
    of->loop->RunOrPost([survey, of] { survey->Step(of); });
  }
  return survey;
}

ClientSurvey::ClientSurvey(size_t loops, const Clock& clock)
    : clock_(clock), begin_(clock.Now()), left_(loops) {
  result_.loops.resize(loops);
}

ClientsStatus ClientSurvey::Wait(Duration timeout) {
  const bool may_wait = BeforeBlocking().ok();
  const Duration left = std::max(Duration::zero(), timeout - (clock_.Now() - begin_));
  std::unique_lock<std::mutex> lock(mutex_);
  if (may_wait) done_.wait_for(lock, left, [&] { return left_ == 0; });
  // A loop that answers later adds to a result that is not read.
  ClientsStatus empty;
  empty.loops.resize(result_.loops.size());
  return std::exchange(result_, std::move(empty));
}

void ClientSurvey::Step(const std::shared_ptr<OfLoop>& of) {
  const std::lock_guard<std::mutex> lock(mutex_);
  LoopStatus& status = result_.loops[of->index];
  if (!std::exchange(of->begun, true)) {
    of->sessions = of->registry->Of(*of->loop);
    status.answer_seconds =
        std::max(0.0, std::chrono::duration<double>(of->loop->now() - begin_).count());
  }
  for (size_t i = 0; i < kChunk && !of->sessions.empty(); ++i) {
    const std::shared_ptr<ClientSession> session = std::move(of->sessions.back());
    of->sessions.pop_back();
    ++result_.sessions;
    if (session->connected()) ++status.connections;
    if (result_.some.size() >= kMaxShown) continue;
    result_.some.push_back({session->LastInfo(), session->target().text, session->connected(),
                            session->calls(), of->index});
  }
  if (!of->sessions.empty()) {
    of->loop->Post([survey = shared_from_this(), of] { survey->Step(of); });
    return;
  }
  status.answered = true;
  status.turns = of->loop->counts().turns;
  status.sleeps = of->loop->counts().sleeps;
  if (--left_ == 0) done_.notify_all();
}

}  // namespace farcall
