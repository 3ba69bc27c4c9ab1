// SPDX-License-Identifier: Apache-2.0
//
// Controller: what goes with one call beside its messages, on either side. Names
// are brpc's.

#ifndef FARCALL_RPC_CONTROLLER_H_
#define FARCALL_RPC_CONTROLLER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/service.h"
#include "rpc/errors.h"
#include "transport/base/time.h"
#include "transport/buffer/buffer.h"
#include "transport/connection_info.h"

namespace farcall {

// What StartCancel reaches: a call under way on a client.
class Cancellable {
 public:
  virtual ~Cancellable() = default;
  virtual void Cancel(uint64_t call_id) = 0;  // any thread, no loop held
};

// For one call at a time. A client makes it, sets what it wants, and reads the rest
// once the call has ended; on a server the library makes it and it lives until the
// handler's closure is run. One thread at a time, except StartCancel, IsCanceled and
// NotifyOnCancel.
class Controller final : public google::protobuf::RpcController {
 public:
  Controller() = default;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  ~Controller() override = default;

  // --- Both sides.

  bool Failed() const override { return error_code_ != 0; }
  // 0, an RpcError, an errno, or a number of the service's own.
  int ErrorCode() const { return error_code_; }
  std::string ErrorText() const override { return error_text_; }
  // The same as a Status: kDeadlineExceeded for ERPCTIMEDOUT and so on.
  absl::Status status() const;
  // On a server: the call fails with this; the response message is not sent.
  void SetFailed(int code, absl::string_view text);
  void SetFailed(const std::string& text) override { SetFailed(kInternal, text); }

  // Bytes beside the message, never copied on the way: Append to the one you send,
  // take from the one you get.
  Buffer& request_attachment() { return request_attachment_; }
  Buffer& response_attachment() { return response_attachment_; }

  // A number for logs: sent with the request, 0 is not sent.
  void set_log_id(int64_t id) { log_id_ = id; }
  int64_t log_id() const { return log_id_; }

  // When the whole call must have ended; TimePoint::max(): never.
  TimePoint deadline() const { return deadline_; }
  // The connection that carried the call, as it was when the call ended (on a server: began):
  // addresses, transport, and why not RDMA. Null before there was one.
  const std::shared_ptr<const ConnectionInfo>& connection() const { return connection_; }
  // "1.2.3.4:80"; "" before there was a connection.
  std::string remote_side() const;
  std::string local_side() const;

  // --- Client.

  // As new, for another call. Not while a call is under way.
  void Reset() override;
  // Milliseconds for this call; -1: no limit. Otherwise the channel's.
  void set_timeout_ms(int64_t ms) { timeout_ms_ = ms; }
  int64_t timeout_ms() const { return timeout_ms_; }  // kNotSet: the channel's
  static constexpr int64_t kNotSet = -2;
  // Ends the call with ECANCELED, unless it has ended already. The server is not told.
  void StartCancel() override;
  // Microseconds from the call to its end.
  int64_t latency_us() const { return latency_us_; }

  // --- Server.

  // Whether nobody waits for the answer any more: the connection closed.
  bool IsCanceled() const override;
  // Runs `callback` once: when the call is cancelled, or when it has ended.
  void NotifyOnCancel(google::protobuf::Closure* callback) override;

  // --- The library's own.

  // A call begins (client). False: StartCancel was called before.
  bool Begin(std::shared_ptr<Cancellable> calls, uint64_t call_id);
  void End(int code, absl::string_view text, int64_t latency_us);
  void set_deadline(TimePoint deadline) { deadline_ = deadline; }
  void set_connection(std::shared_ptr<const ConnectionInfo> connection) {
    connection_ = std::move(connection);
  }
  // Server: the connection closed, or (`closed` false) the call ended.
  void NotifyCancel(bool closed);

 private:
  int error_code_ = 0;
  std::string error_text_;
  Buffer request_attachment_;
  Buffer response_attachment_;
  int64_t log_id_ = 0;
  int64_t timeout_ms_ = kNotSet;
  int64_t latency_us_ = 0;
  TimePoint deadline_ = TimePoint::max();
  std::shared_ptr<const ConnectionInfo> connection_;

  mutable std::mutex cancel_mutex_;
  // Guarded by cancel_mutex_.
  bool canceled_ = false;
  bool ended_ = false;                  // server
  std::shared_ptr<Cancellable> calls_;  // client: where the call is under way
  uint64_t call_id_ = 0;
  google::protobuf::Closure* on_cancel_ = nullptr;  // server
};

}  // namespace farcall

#endif  // FARCALL_RPC_CONTROLLER_H_
