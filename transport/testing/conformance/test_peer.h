// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_CONFORMANCE_TEST_PEER_H_
#define FARCALL_TRANSPORT_TESTING_CONFORMANCE_TEST_PEER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/block_writer.h"
#include "transport/testing/conformance/conformance_harness.h"
#include "transport/testing/test_pattern.h"
#include "transport/transport.h"

namespace farcall {

// One end of a connection under test: sends a pattern, compares what comes with the
// pattern it expects, and notes whatever breaks the rules of transport.h.
//
// Its methods may be called without a loop held, and from its own hooks.
class TestPeer final : private Connection::Handler {
 public:
  struct Seen {
    bool started = false;
    uint64_t received = 0;  // bytes taken out of the input
    int reads = 0;          // calls of OnRead and so on
    int drained = 0;
    int closes = 0;
    absl::Status why;
  };

  // `harness` outlives the peer. `sends` and `expects` name streams of TestPattern.
  TestPeer(ConformanceHarness& harness, std::string name, uint64_t sends, uint64_t expects);
  TestPeer(const TestPeer&) = delete;
  TestPeer& operator=(const TestPeer&) = delete;
  ~TestPeer() { Destroy(); }

  // Set before Adopt; called with the loop held. `take` takes bytes (by Take) and
  // returns what OnRead does; without it everything is taken.
  std::function<size_t(TestPeer&, Buffer&)> take;
  // Handler::PlaceFor, with the place of the first of the bytes in the stream; without it there is
  // none.
  std::function<Buffer(TestPeer&, uint64_t at, size_t bytes)> place_for;
  // Handler::AwaitsPlace; with the loop held.
  bool awaits_place = false;
  // What it writes leaves by Connection::SendNow, where that does it.
  bool sends_now = false;
  std::function<void(TestPeer&)> on_start;
  std::function<void(TestPeer&)> on_read;
  std::function<void(TestPeer&)> on_drained;
  bool destroy_in_on_close = true;

  // With `loop` held: owns `connection` from now on, and starts it.
  void Adopt(EventLoop& loop, std::unique_ptr<Connection> connection);

  void Send(size_t bytes);  // the next ones of its stream
  void Write(Buffer data);  // others
  void Pause();
  void Resume();
  void Close(absl::Status why, CloseMode mode);
  void Destroy();
  void TrustPeer();
  size_t backlog();
  ConnectionInfo info();
  uint64_t info_version();

  // Takes `bytes` of `input` and compares them.
  void Take(Buffer& input, size_t bytes);
  void Violation(absl::string_view what);

  Seen seen() const;
  uint64_t sent() const;
  // Bytes written that have left: what the other end has received is among them. Any thread.
  uint64_t left();
  EventLoop* loop() const;
  // Nothing more will come: OnClose has run, or the connection was destroyed.
  bool over() const;
  std::vector<std::string> violations() const;
  // How far it came, for who looks for the cause of a violation.
  std::string StateText() const;

 private:
  size_t OnRead(Buffer& input) override;
  Buffer PlaceFor(size_t ahead, size_t bytes) override;
  bool AwaitsPlace() const override { return awaits_place; }
  void OnDrained() override;
  void OnClose(const absl::Status& why) override;
  void CheckCallback(absl::string_view name);
  void CheckBacklog();
  void OnLoop(const std::function<void()>& work);
  void Call(const std::function<void(Connection&)>& method);

  ConformanceHarness& harness_;
  const std::string name_;
  const TestPattern sends_;
  const TestPattern expects_;

  // With loop_ held.
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<BlockWriter> writer_;
  int calls_ = 0;      // methods of connection_ on the stack
  int callbacks_ = 0;  // of its callbacks on the stack
  bool paused_ = false;
  bool resumed_ = false;  // since the last OnRead
  bool closed_ = false;   // by Close
  size_t left_ = 0;       // bytes that the last OnRead left in the input
  uint64_t written_ = 0;  // by Write, before Close
  uint64_t gone_ = 0;     // of them, those that were no backlog any more

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  EventLoop* loop_ = nullptr;
  Seen seen_;
  uint64_t sent_ = 0;
  bool destroyed_ = false;
  std::vector<std::string> violations_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_CONFORMANCE_TEST_PEER_H_
