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
  struct News {
    ibv_event_type type{};
    std::optional<uint32_t> queue_pair{};  // that it concerns, perhaps another Runtime's
    const void* queue = nullptr;  // the completion or shared receive queue; not to be looked into
    int port = 0;                 // that it concerns; 0: none
  };
  // May destroy the source. An error: there will be no more news, and nothing is wrong with the
  // device as far as that tells.
  using OnNews = absl::AnyInvocable<void(const absl::StatusOr<News>&)>;

  // `context` stays open as long as this lives; `api` outlives it.
  static absl::StatusOr<std::unique_ptr<AsyncSource>> Create(const VerbsApi& api,
                                                             EventLoop& control,
                                                             ibv_context* context, OnNews on_news);
  ~AsyncSource();
  AsyncSource(const AsyncSource&) = delete;
  AsyncSource& operator=(const AsyncSource&) = delete;

 private:
  // A letter to it may come after its end.
  struct Ear {
    EventLoop& control;
    AsyncSource* source;  // null: it has ended
  };
  class Ears;

  AsyncSource(const VerbsApi& api, EventLoop& control, ibv_context* context, OnNews on_news)
      : api_(api), control_(control), context_(context), on_news_(std::move(on_news)) {}
  void OnReady(uint32_t events) override;
  void OnFailure(int error);

  const VerbsApi& api_;
  EventLoop& control_;
  ibv_context* const context_;
  OnNews on_news_;
  std::optional<EpollSource::Watch> watch_;
  std::shared_ptr<Ear> ear_;  // from Create on
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_ASYNC_SOURCE_H_
