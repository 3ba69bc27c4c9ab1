// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/load_stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "benchmarks/raw_echo/socket.h"

namespace farcall::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The longest that a turn blocks, so that it sees the end of the window.
constexpr std::chrono::milliseconds kLongestWait(100);
constexpr std::chrono::seconds kNoAnswerLimit(10);

// Bytes of a call's body, and of its answer's.
size_t Asked(const LoadOptions& options) {
  return options.way == "get" ? options.payload : options.bytes_per_call();
}
size_t Answered(const LoadOptions& options) {
  return options.way == "put" ? options.payload : options.bytes_per_call();
}

}  // namespace

LoadStream::LoadStream(UniqueFd fd, const LoadOptions& options, LoadRecorder& recorder,
                       std::optional<OpenLoopSchedule> schedule)
    : fd_(std::move(fd)),
      in_flight_(static_cast<uint64_t>(options.in_flight)),
      recorder_(recorder),
      schedule_(std::move(schedule)),
      ring_(Asked(options), options.in_flight,
            options.way == "echo" ? FrameHeader::kEcho : FrameHeader::kStore, Answered(options)),
      answer_bytes_(Answered(options)),
      starts_(in_flight_),
      now_(Clock::now()),
      last_answer_(now_) {
  if (options.way == "get") placed_.emplace(in_flight_ * answer_bytes_);
  const timeval limit{0, std::chrono::microseconds(kLongestWait).count()};
  setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

bool LoadStream::Turn(bool may_block) {
  if (recorder_.window().Over(now_)) {
    return false;
  }
  BeginCalls();
  return Send() && Receive(may_block ? Wait() : MSG_DONTWAIT);
}

void LoadStream::BeginCalls() {
  while (outstanding() < in_flight_ && (!schedule_ || schedule_->Due(now_))) {
    starts_[ring_.issued() % in_flight_] = schedule_ ? schedule_->Take() : now_;
    ring_.Issue();
  }
}

bool LoadStream::Send() {
  while (!ring_.Unsent().empty()) {
    const absl::Span<const char> bytes = ring_.Unsent();
    const ssize_t sent = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      return TryAgain() || Fail(std::string("cannot send: ") + std::strerror(errno));
    }
    ring_.Sent(static_cast<size_t>(sent));
  }
  return true;
}

int LoadStream::Wait() {
  const bool unsent = !ring_.Unsent().empty();
  if (!unsent && !schedule_) {
    return 0;  // recv itself waits: one system call less
  }
  std::chrono::nanoseconds wait = kLongestWait;
  if (schedule_ && outstanding() < in_flight_) {
    wait = std::clamp<std::chrono::nanoseconds>(schedule_->next() - Clock::now(),
                                                std::chrono::nanoseconds(0), wait);
  }
  const timespec limit{0, wait.count()};
  pollfd watched{fd_.get(), static_cast<short>(POLLIN | (unsent ? POLLOUT : 0)), 0};
  ppoll(&watched, 1, &limit, nullptr);
  return MSG_DONTWAIT;
}

bool LoadStream::Receive(int flags) {
  ssize_t got = 0;
  if (placed_) {
    got = placed_->Read(fd_.get(), flags);
  } else {
    const absl::Span<char> space = buffer_.Space();
    got = recv(fd_.get(), space.data(), space.size(), flags);
  }
  now_ = Clock::now();
  if (got == 0) {
    return Fail("the server closed the connection");
  }
  if (got < 0) {
    if (!TryAgain()) return Fail(std::string("cannot receive: ") + std::strerror(errno));
    if (outstanding() == 0) last_answer_ = now_;
    return now_ - last_answer_ < kNoAnswerLimit || Fail("no answer for 10 s");
  }
  last_answer_ = now_;
  if (!placed_) buffer_.Commit(static_cast<size_t>(got));
  return EndCalls();
}

bool LoadStream::EndCalls() {
  FrameHeader header;
  while (NextAnswer(header)) {
    const bool expected =
        outstanding() > 0 && header.id == ring_.IdOf(ended_) && header.length == answer_bytes_;
    if (!expected) {
      return Fail("an answer came that does not fit the call");
    }
    recorder_.Succeeded(starts_[ended_ % in_flight_], now_);
    ++ended_;
  }
  buffer_.Drop(buffer_.whole().size());
  return buffer_.bad().ok() || Fail(std::string(buffer_.bad().message()));
}

bool LoadStream::NextAnswer(FrameHeader& header) {
  if (placed_) return placed_->Next(header);
  Frame frame;
  const bool whole = buffer_.Next(frame);
  header = frame.header;
  return whole;
}

bool LoadStream::Fail(const std::string& why) {
  recorder_.Failed(why);
  return false;
}

}  // namespace farcall::bench
