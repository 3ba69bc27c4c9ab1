// SPDX-License-Identifier: Apache-2.0
//
// Controller: what goes with one call beside its messages, on either side. Names
// are brpc's.

#ifndef FARCALL_RPC_CONTROLLER_H_
#define FARCALL_RPC_CONTROLLER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/service.h"
#include "rpc/authenticator.h"
#include "rpc/errors.h"
#include "rpc/types.h"
#include "rpc/user_fields.h"
#include "transport/base/on_demand.h"
#include "transport/base/threads/spin_lock.h"
#include "transport/base/time.h"
#include "transport/buffer/buffer.h"
#include "transport/connection_info.h"

namespace farcall {

// One call of a Controller, among those that it makes one after the other.
enum class CallId : uint64_t {};

// What StartCancel reaches: a call under way on a client.
class Cancellable : public std::enable_shared_from_this<Cancellable> {
 public:
  virtual ~Cancellable() = default;
  virtual void Cancel(uint64_t call_id) = 0;  // any thread, no loop held
};

// For one call at a time. A client makes it, sets what it wants, and reads the rest
// once the call has ended; on a server the library makes it and it lives until the
// handler's closure is run. One thread at a time, except call_id, StartCancel, IsCanceled and
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
  std::string ErrorText() const override { return extras().error_text; }
  // The same as a Status: kDeadlineExceeded for ERPCTIMEDOUT and so on.
  absl::Status status() const;
  // On a server: the call fails with this; the response message is not sent.
  void SetFailed(int code, absl::string_view text);
  void SetFailed(const std::string& text) override { SetFailed(kInternal, text); }

  // Bytes beside the message, in blocks: Append to the one you send, take from the one you get.
  // RegisteredMemory::Slice and slices of another attachment are sent from where they lie; a string
  // that is appended is copied, and once more to be sent by RDMA (docs/memory.md).
  Buffer& request_attachment() { return request_attachment_; }
  Buffer& response_attachment() { return response_attachment_; }

  // A number for logs: sent with the request, 0 is not sent.
  void set_log_id(int64_t id) { log_id_ = id; }
  int64_t log_id() const { return log_id_; }
  // Text that tells one request from others, sent if it is not empty. brpc-java refuses
  // requests that have one.
  void set_request_id(absl::string_view id) { extras_.Get().request_id = std::string(id); }
  const std::string& request_id() const { return extras().request_id; }

  // Pairs of text beside the message: those of the request (set by the client, read by the server),
  // and of the response the other way round. At most 256 pairs, with 64 KiB in a request, beyond
  // which it fails with EREQUEST, and 256 KiB in a response, beyond which ERESPONSE.
  UserFields& request_user_fields() { return extras_.Get().request_user_fields; }
  const UserFields& request_user_fields() const { return extras().request_user_fields; }
  UserFields& response_user_fields() { return extras_.Get().response_user_fields; }
  const UserFields& response_user_fields() const { return extras().response_user_fields; }

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
  // The same for each of these: what was not set is the channel's.
  void set_max_retry(int attempts_beyond_first) {
    extras_.Get().overrides.max_retry = attempts_beyond_first;
  }
  void set_backup_request_ms(int64_t ms) { extras_.Get().overrides.backup_request_ms = ms; }
  void set_connection_type(ConnectionType type) { extras_.Get().overrides.connection_type = type; }
  void set_request_compress_type(CompressType type) {
    extras_.Get().overrides.compress_type = type;
  }
  void set_request_checksum_type(ChecksumType type) {
    extras_.Get().overrides.checksum_type = type;
  }
  // What consistent hashing goes by: calls of one code go to one server, while it lives.
  void set_request_code(uint64_t code) { extras_.Get().overrides.request_code = code; }
  struct Overrides {
    std::optional<int> max_retry;
    std::optional<int64_t> backup_request_ms;
    std::optional<ConnectionType> connection_type;
    std::optional<CompressType> compress_type;
    std::optional<ChecksumType> checksum_type;
    std::optional<uint64_t> request_code;
  };
  // Null: none was set.
  const Overrides* overrides() const { return extras_.made() ? &extras().overrides : nullptr; }
  // Attempts beyond the first, once the call has ended; backup requests are not among them.
  int retried_count() const { return retried_count_; }
  bool has_backup_request() const { return has_backup_request_; }
  // Where the attachment of this call's response shall come to lie, from the beginning: slices of
  // a RegisteredMemory, or other memory of yours that may be written. No other code reads
  // or writes it until the call has ended; from then on the library writes nothing there, whatever
  // became of the call. response_attachment() has slices of it then, as long as what came. Of a
  // call that failed its content is not specified; what is longer than the memory fails the
  // call with ERESPONSE. docs/memory.md tells what is copied on the way.
  void set_response_attachment_memory(Buffer memory) {
    extras_.Get().response_memory = std::move(memory);
  }
  // The call that is under way, or else the next one that begins.
  CallId call_id() const;
  // Ends that call with ECANCELED, or keeps it from beginning; does nothing when it has ended,
  // whatever this Controller is used for by then. The server is not notified.
  void StartCancel(CallId call);
  // The same for the call under way, or the first one of a Controller that is new or Reset. Who may
  // come when the next call is under way already takes the call_id before.
  void StartCancel() override;
  // Microseconds from the call to its end.
  int64_t latency_us() const { return latency_us_; }

  // --- Server.

  // Of the response; otherwise as the request was.
  void set_response_compress_type(CompressType type) { extras_.Get().response_compress = type; }
  std::optional<CompressType> response_compress_type() const { return extras().response_compress; }
  void set_response_checksum_type(ChecksumType type) { extras_.Get().response_checksum = type; }
  std::optional<ChecksumType> response_checksum_type() const { return extras().response_checksum; }
  // Who the client is, where ServerOptions::auth asked; else null.
  const AuthContext* auth_context() const { return extras().auth_context.get(); }
  // Whether the client does not wait for the answer any more: the connection closed. On a client:
  // whether the call under way, or the last one, was cancelled.
  bool IsCanceled() const override;
  // Runs `callback` once: when the call is cancelled, or when it has ended.
  void NotifyOnCancel(google::protobuf::Closure* callback) override;

  // --- The library's own.

  // A call begins (client). False: it was cancelled before. `calls` (may be null) is owned by
  // shared_ptrs, and lives until End.
  bool Begin(Cancellable* calls, uint64_t call_id);
  // False: nothing is set beside log_id, timeout_ms and attachments.
  bool has_extras() const { return extras_.made(); }
  bool has_response_memory() const { return has_extras() && !extras().response_memory.empty(); }
  Buffer TakeResponseMemory() { return std::move(extras_.Get().response_memory); }
  void End(int code, absl::string_view text, int64_t latency_us);
  void set_deadline(TimePoint deadline) { deadline_ = deadline; }
  void set_connection(std::shared_ptr<const ConnectionInfo> connection) {
    connection_ = std::move(connection);
  }
  void set_attempts(int retried, bool backup) {
    retried_count_ = retried;
    has_backup_request_ = backup;
  }
  void set_auth_context(std::shared_ptr<const AuthContext> context) {
    extras_.Get().auth_context = std::move(context);
  }
  // Server: the connection closed, or (`closed` false) the call ended.
  void NotifyCancel(bool closed);

 private:
  // What few calls have.
  struct Extras {
    std::string error_text;
    Overrides overrides;
    Buffer response_memory;
    std::string request_id;
    UserFields request_user_fields;
    UserFields response_user_fields;
    std::optional<CompressType> response_compress;
    std::optional<ChecksumType> response_checksum;
    std::shared_ptr<const AuthContext> auth_context;
  };
  // To be read.
  const Extras& extras() const {
    const Extras* const own = extras_.IfMade();
    return own != nullptr ? *own : NoExtras();
  }
  static const Extras& NoExtras();

  enum class Phase : uint8_t { kNew, kUnderWay, kEnded };  // of a client's calls

  // With cancel_lock_ held: the call that IsCanceled tells of.
  uint64_t Current() const { return phase_ == Phase::kNew ? begun_ + 1 : begun_; }
  // The same: the one that may be cancelled.
  uint64_t Open() const { return phase_ == Phase::kUnderWay ? begun_ : begun_ + 1; }
  void ClearError() {
    if (error_code_ == 0) return;
    error_code_ = 0;
    extras_.Get().error_text.clear();
  }

  // What every call has comes first, and together: a client's Controller has often left the caches
  // when the answer comes, and each cache line of it is waited for.
  int error_code_ = 0;
  int retried_count_ = 0;
  bool has_backup_request_ = false;
  mutable SpinLock cancel_lock_;
  // Guarded by cancel_lock_, up to on_cancel_.
  Phase phase_ = Phase::kNew;
  bool ended_ = false;            // server
  uint64_t begun_ = 0;            // calls so far: the number of the last one
  uint64_t canceled_ = 0;         // the number of the one that was cancelled last
  Cancellable* calls_ = nullptr;  // client: where the call is under way
  uint64_t call_id_ = 0;
  google::protobuf::Closure* on_cancel_ = nullptr;  // server

  int64_t log_id_ = 0;
  int64_t timeout_ms_ = kNotSet;
  int64_t latency_us_ = 0;
  TimePoint deadline_ = TimePoint::max();
  std::shared_ptr<const ConnectionInfo> connection_;
  Buffer request_attachment_;
  Buffer response_attachment_;
  OnDemand<Extras> extras_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CONTROLLER_H_
