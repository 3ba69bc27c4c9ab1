// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/connection_survey.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "rpc/session/server/server_session.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_group.h"

namespace farcall {
namespace {

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

// What is still to be looked at with one loop held.
struct ConnectionSurvey::OfLoop {
  EventLoop* loop = nullptr;
  int index = 0;
  std::vector<std::shared_ptr<ServerSession>> sessions;
  size_t next = 0;
  size_t shown = 0;  // of the first so many details are taken
  int open = 0;
};

ConnectionSurvey::Result ConnectionSurvey::Take(ServerCore& core, Duration timeout) {
  const std::shared_ptr<ConnectionSurvey> survey(new ConnectionSurvey(core.parts.loops->size()));
  survey->Begin(core);
  const bool may_wait = BeforeBlocking().ok();
  std::unique_lock<std::mutex> lock(survey->mutex_);
  if (may_wait) survey->done_.wait_for(lock, timeout, [&] { return survey->left_ == 0; });
  // A loop that answers later adds to a result that is not read.
  return std::exchange(survey->result_,
                       Result{{}, std::vector<LoopStatus>(survey->result_.loops.size())});
}

ConnectionSurvey::ConnectionSurvey(size_t loops) : left_(loops) { result_.loops.resize(loops); }

void ConnectionSurvey::Begin(ServerCore& core) {
  begin_ = core.parts.clock->Now();
  absl::flat_hash_map<EventLoop*, std::shared_ptr<OfLoop>> by_loop;
  std::vector<std::shared_ptr<OfLoop>> all;
  for (size_t i = 0; i < core.parts.loops->size(); ++i) {
    auto of = std::make_shared<OfLoop>();
    of->loop = &core.parts.loops->at(i);
    of->index = static_cast<int>(i);
    by_loop[of->loop] = of;
    all.push_back(std::move(of));
  }
  size_t shown = 0;
  for (std::shared_ptr<ServerSession>& session : core.Sessions()) {
    OfLoop& of = *by_loop[&session->loop()];
    if (++shown <= kMaxShown) ++of.shown;
    of.sessions.push_back(std::move(session));
  }
  for (const std::shared_ptr<OfLoop>& of : all) {
    of->loop->RunOrPost([survey = shared_from_this(), of] { survey->Step(of); });
  }
}

void ConnectionSurvey::Step(const std::shared_ptr<OfLoop>& of) {
  const TimePoint now = of->loop->now();
  std::vector<ConnectionStatus> some;
  std::lock_guard<std::mutex> lock(mutex_);
  LoopStatus& status = result_.loops[static_cast<size_t>(of->index)];
  if (of->next == 0) status.answer_seconds = std::max(0.0, Seconds(now - begin_));
  const size_t end = std::min(of->next + kChunk, of->sessions.size());
  for (; of->next < end; ++of->next) {
    const std::shared_ptr<ServerSession> session = std::move(of->sessions[of->next]);
    std::optional<ServerConnectionView> view = session->View();
    if (!view.has_value()) continue;
    ++of->open;
    Count(view->info);
    if (of->next >= of->shown) continue;
    result_.connections.some.push_back(
        {std::move(view->info), std::string(view->protocol), std::move(view->user),
         std::max(0.0, Seconds(now - view->since)), view->calls, view->requests, of->index});
  }
  if (of->next < of->sessions.size()) {
    of->loop->Post([survey = shared_from_this(), of] { survey->Step(of); });
    return;
  }
  status.answered = true;
  status.connections = of->open;
  status.turns = of->loop->counts().turns;
  status.sleeps = of->loop->counts().sleeps;
  if (--left_ == 0) done_.notify_all();
}

void ConnectionSurvey::Count(const ConnectionInfo& info) {
  ConnectionsStatus& connections = result_.connections;
  if (info.transport == TransportKind::kTcp) {
    ++connections.tcp;
  } else if (info.transport == TransportKind::kRdma) {
    ++connections.rdma;
  } else {
    ++connections.other;
  }
}

}  // namespace farcall
