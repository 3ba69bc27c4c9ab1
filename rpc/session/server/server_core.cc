// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/server_core.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "rpc/exception_text.h"
#include "rpc/session/server/server_frame_call.h"
#include "rpc/session/server/server_session.h"
#include "transport/base/clock.h"
#include "transport/base/threads/chunk_pool.h"

namespace farcall {

namespace {

// More waiting requests than this for each handler thread are logged, so often at most.
constexpr size_t kManyWaiting = 8;
constexpr Duration kLogWaitingEvery = std::chrono::seconds(10);

}  // namespace

ServerCore::ServerCore() : frame_calls(std::make_unique<ChunkPool<ServerFrameCall>>()) {}
ServerCore::~ServerCore() = default;

bool ServerCore::Add(const std::shared_ptr<ServerSession>& session) {
  bool tell = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return false;
    if (sessions_.size() < static_cast<size_t>(options.max_connections)) {
      sessions_.insert(session);
      counters.accepted.fetch_add(1, std::memory_order_relaxed);
      connections.Begin();
      return true;
    }
    tell = !full_;
    full_ = true;
  }
  counters.over_max_connections.fetch_add(1, std::memory_order_relaxed);
  if (tell) {
    LogPeer(absl::StrCat("max_connections ", options.max_connections,
                         " is reached: new connections are closed"));
  }
  return false;
}

void ServerCore::Remove(const std::shared_ptr<ServerSession>& session) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    holders_.Forget(session.get());
    sessions_.erase(session);
    // Not at each that goes: one more comes and finds it full again.
    const size_t most = static_cast<size_t>(options.max_connections);
    if (sessions_.size() + std::max<size_t>(1, most / 10) <= most) full_ = false;
  }
  connections.End();
}

std::vector<std::shared_ptr<ServerSession>> ServerCore::TakeAll() {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  return {sessions_.begin(), sessions_.end()};
}

std::vector<std::shared_ptr<ServerSession>> ServerCore::Sessions() {
  std::lock_guard<std::mutex> lock(mutex_);
  return {sessions_.begin(), sessions_.end()};
}

absl::StatusOr<AuthContext> ServerCore::Verify(absl::string_view credential,
                                               const Address& client) {
  absl::StatusOr<AuthContext> context;
  const std::optional<std::string> thrown =
      ExceptionTextOf([&] { context = options.auth->VerifyCredential(credential, client); });
  if (thrown) {
    // What it says is for the server's own people.
    LogPeer(absl::StrCat("ServerOptions::auth threw on a credential of ", client.ToString(), ": ",
                         *thrown));
    context = absl::UnauthenticatedError("the server could not verify the credential");
  }
  return context;
}

void ServerCore::ReportHeld(ServerSession& session, size_t bytes, uint64_t moved) {
  std::shared_ptr<ServerSession> most;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    holders_.Report(&session, bytes, moved);
    if (!holders_.IsDue(parts.clock->Now())) return;
    const auto* const picked =
        static_cast<const ServerSession*>(holders_.Pick(parts.pool->stats().exhausted));
    const auto found = sessions_.find(picked);
    if (found == sessions_.end()) return;
    most = *found;
  }
  most->loop().Post([most] { most->GiveUpForMemory(); });
}

void ServerCore::ForgetHeld(ServerSession& session) {
  std::lock_guard<std::mutex> lock(mutex_);
  holders_.Forget(&session);
}

void ServerCore::LogWaiting(const google::protobuf::MethodDescriptor& method, size_t waiting) {
  // Who wants all handlers there knows that they wait there.
  if (options.handlers_on_pool) return;
  if (waiting <= kManyWaiting * static_cast<size_t>(handlers->most())) return;
  const TimePoint now = parts.clock->Now();
  {
    std::lock_guard<std::mutex> lock(line_mutex_);
    if (now < next_waiting_log_) return;
    next_waiting_log_ = now + kLogWaitingEvery;
  }
  parts.log(LogSeverity::kWarning,
            absl::StrCat(waiting, " requests wait for one of ", handlers->most(),
                         " handler threads, such as those of ", method.full_name(),
                         ", whose handler is slow: raise ServerOptions::handler_threads, or let "
                         "the handler return before it has answered (docs/server.md)"));
}

void ServerCore::LogPeer(absl::string_view line) {
  std::optional<uint64_t> left_out;
  {
    std::lock_guard<std::mutex> lock(line_mutex_);
    left_out = lines_.Take(parts.clock->Now());
  }
  if (!left_out.has_value()) {
    counters.lines_left_out.fetch_add(1, std::memory_order_relaxed);
  } else if (*left_out == 0) {
    parts.log(LogSeverity::kWarning, line);
  } else {
    parts.log(LogSeverity::kWarning,
              absl::StrCat(line, " (", *left_out, " lines about peers were left out before)"));
  }
}

}  // namespace farcall
