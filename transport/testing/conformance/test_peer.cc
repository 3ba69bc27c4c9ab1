// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/conformance/test_peer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr size_t kMaxViolations = 20;

}  // namespace

TestPeer::TestPeer(ConformanceHarness& harness, std::string name, uint64_t sends, uint64_t expects)
    : harness_(harness), name_(std::move(name)), sends_(sends), expects_(expects) {}

void TestPeer::Adopt(EventLoop& loop, std::unique_ptr<Connection> connection) {
  Check(connection_ == nullptr, "a peer has one connection");
  if (!loop.held()) Violation("a connection was given while its loop was not held");
  connection_ = std::move(connection);
  writer_ = std::make_unique<BlockWriter>(connection_->pool());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    loop_ = &loop;
  }
  Call([this](Connection& started) { started.Start(*this); });
  if (on_start) on_start(*this);
  const std::lock_guard<std::mutex> lock(mutex_);
  seen_.started = true;
}

void TestPeer::Send(size_t bytes) {
  OnLoop([this, bytes] {
    if (connection_ == nullptr) return;
    uint64_t at = sent();
    Buffer data;
    for (size_t left = bytes; left > 0;) {
      const absl::string_view part = sends_.At(at, left);
      if (!writer_->Append(part, data)) data.Append(part);
      at += part.size();
      left -= part.size();
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      sent_ = at;
    }
    Write(std::move(data));
  });
}

void TestPeer::Write(Buffer data) {
  OnLoop([&] {
    if (!closed_) written_ += data.size();
    Call([&](Connection& connection) {
      Buffer body = data.Share();
      const std::string head = body.CutFront(std::min<size_t>(body.size(), 8)).ToString();
      if (!sends_now || !connection.SendNow(head, body)) connection.Write(std::move(data));
    });
    CheckBacklog();
  });
}

void TestPeer::Pause() {
  OnLoop([&] {
    paused_ = true;
    Call([](Connection& connection) { connection.PauseRead(); });
  });
}

void TestPeer::Resume() {
  OnLoop([&] {
    paused_ = false;
    resumed_ = true;
    Call([](Connection& connection) { connection.ResumeRead(); });
  });
}

void TestPeer::Close(absl::Status why, CloseMode mode) {
  OnLoop([&] {
    closed_ = true;
    Call([&](Connection& connection) { connection.Close(std::move(why), mode); });
  });
}

void TestPeer::Destroy() {
  OnLoop([&] {
    ++calls_;
    connection_.reset();
    writer_.reset();
    --calls_;
    const std::lock_guard<std::mutex> lock(mutex_);
    destroyed_ = true;
  });
}

void TestPeer::TrustPeer() {
  OnLoop([&] { Call([](Connection& connection) { connection.TrustPeer(); }); });
}

size_t TestPeer::backlog() {
  size_t bytes = 0;
  OnLoop([&] { Call([&](Connection& connection) { bytes = connection.backlog(); }); });
  return bytes;
}

uint64_t TestPeer::left() {
  uint64_t bytes = 0;
  OnLoop([&] {
    CheckBacklog();
    bytes = gone_;
  });
  return bytes;
}

ConnectionInfo TestPeer::info() {
  ConnectionInfo info;
  OnLoop([&] { Call([&](Connection& connection) { info = connection.info(); }); });
  return info;
}

uint64_t TestPeer::info_version() {
  uint64_t version = 0;
  OnLoop([&] { Call([&](Connection& connection) { version = connection.info_version(); }); });
  return version;
}

size_t TestPeer::OnRead(Buffer& input) {
  CheckCallback("OnRead");
  if (closed_) Violation("OnRead after Close");
  if (paused_) Violation("OnRead after PauseRead");
  if (input.size() < left_) Violation("bytes were taken away from the input");
  if (input.size() == left_ && !resumed_) Violation("OnRead without new bytes");
  resumed_ = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++seen_.reads;
  }
  ++callbacks_;
  size_t needed = 0;
  if (take) {
    needed = take(*this, input);
  } else {
    Take(input, input.size());
  }
  if (on_read) on_read(*this);
  --callbacks_;
  left_ = input.size();
  return needed;
}

Buffer TestPeer::PlaceFor(size_t ahead, size_t bytes) {
  CheckCallback("PlaceFor");
  if (closed_) Violation("PlaceFor after Close");
  if (paused_) Violation("PlaceFor after PauseRead");
  if (bytes == 0) Violation("PlaceFor of no bytes");
  if (!place_for) return {};
  ++callbacks_;
  Buffer place = place_for(*this, seen().received + left_ + ahead, bytes);
  --callbacks_;
  return place;
}

void TestPeer::OnDrained() {
  CheckCallback("OnDrained");
  if (closed_) Violation("OnDrained after Close");
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++seen_.drained;
  }
  ++callbacks_;
  if (on_drained) on_drained(*this);
  --callbacks_;
}

void TestPeer::OnClose(const absl::Status& why) {
  CheckCallback("OnClose");
  if (why.ok()) Violation("OnClose without a reason");
  if (destroy_in_on_close) {
    connection_.reset();
    writer_.reset();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  ++seen_.closes;
  seen_.why = why;
}

void TestPeer::Take(Buffer& input, size_t bytes) {
  const Buffer taken = input.CutFront(bytes);
  uint64_t at = seen().received;
  for (const Buffer::Slice& slice : taken.slices()) {
    const size_t good = expects_.Matching(at, slice.view());
    if (good < slice.length) Violation(absl::StrCat("byte ", at + good, " is not what was sent"));
    at += slice.length;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  seen_.received = at;
}

void TestPeer::Violation(absl::string_view what) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (violations_.size() < kMaxViolations) violations_.push_back(absl::StrCat(name_, ": ", what));
}

TestPeer::Seen TestPeer::seen() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return seen_;
}

uint64_t TestPeer::sent() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return sent_;
}

EventLoop* TestPeer::loop() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return loop_;
}

bool TestPeer::over() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return seen_.closes > 0 || destroyed_;
}

std::vector<std::string> TestPeer::violations() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return violations_;
}

std::string TestPeer::StateText() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string text = absl::StrCat(name_, ": sent ", sent_, " bytes, received ", seen_.received);
  if (seen_.closes > 0) absl::StrAppend(&text, ", and its OnClose got ", seen_.why.ToString());
  return text;
}

void TestPeer::CheckCallback(absl::string_view name) {
  if (!loop()->held()) Violation(absl::StrCat(name, " while the loop is not held"));
  if (calls_ > 0) Violation(absl::StrCat(name, " from inside a call of a method"));
  if (callbacks_ > 0) Violation(absl::StrCat(name, " from inside another callback"));
  if (over()) Violation(absl::StrCat(name, " after OnClose or destruction"));
  CheckBacklog();
}

// Of the bytes of this end alone, fewer and fewer but for what it writes.
void TestPeer::CheckBacklog() {
  if (connection_ == nullptr || closed_ || over()) return;
  const uint64_t backlog = connection_->backlog();
  if (backlog > written_) return Violation("backlog() has more than was written");
  if (written_ - backlog < gone_) Violation("backlog() rises without a Write");
  gone_ = written_ - backlog;
}

void TestPeer::OnLoop(const std::function<void()>& work) {
  EventLoop* const mine = loop();
  if (mine == nullptr) return;
  if (mine->held()) {
    work();
  } else {
    harness_.Run(*mine, work);
  }
}

void TestPeer::Call(const std::function<void(Connection&)>& method) {
  if (connection_ == nullptr) return;
  ++calls_;
  method(*connection_);
  --calls_;
}

}  // namespace farcall
