// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_ASYNC_SOURCE_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_ASYNC_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "transport/loop/event_loop.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall {

// What a device says beside completions, ibv_get_async_event(3): its ports, its end, queue
// pairs in error. With the control loop held. One for a context in each Runtime: all of them
// have the same context, and of each event the kernel gives one, so who reads it passes it on.
class AsyncSource final : private FdHandler {
 public:
  struct Event {
    ibv_event_type type{};
    std::optional<uint32_t> queue_pair{};  // that it concerns, perhaps another Runtime's
    const void* queue = nullptr;  // the completion or shared receive queue; not to be looked into
    int port = 0;                 // that it concerns; 0: none
  };
  // May destroy the source. An error: there will be no more async_event, and nothing is wrong with
  // the device as far as that tells.
  using OnEvent = absl::AnyInvocable<void(const absl::StatusOr<Event>&)>;

  // `context` stays open as long as this lives; `api` outlives it.
  static absl::StatusOr<std::unique_ptr<AsyncSource>> Create(const VerbsApi& api,
                                                             EventLoop& control,
                                                             ibv_context* context,
                                                             OnEvent on_event);
  ~AsyncSource();
  AsyncSource(const AsyncSource&) = delete;
  AsyncSource& operator=(const AsyncSource&) = delete;

 private:
  // A task for it may run after its end.
  struct Subscriber {
    EventLoop& control;
    AsyncSource* source;  // null: it has ended
  };
  class Subscribers;

  AsyncSource(const VerbsApi& api, EventLoop& control, ibv_context* context, OnEvent on_event)
      : api_(api), control_(control), context_(context), on_event_(std::move(on_event)) {}
  void OnReady(uint32_t events) override;
  void OnFailure(int error);

  const VerbsApi& api_;
  EventLoop& control_;
  ibv_context* const context_;
  OnEvent on_event_;
  std::optional<EpollSource::Watch> watch_;
  std::shared_ptr<Subscriber> subscriber_;  // from Create on
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_ASYNC_SOURCE_H_
