// SPDX-License-Identifier: Apache-2.0
//
// Descriptors that are readable or not, and who is called for them.

#ifndef FARCALL_TRANSPORT_LOOP_SOURCES_EPOLL_SOURCE_TESTING_H_
#define FARCALL_TRANSPORT_LOOP_SOURCES_EPOLL_SOURCE_TESTING_H_

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "transport/loop/sources/epoll_source.h"

namespace farcall {

class EpollSourceTest : public testing::Test {
 protected:
  class Handler final : public FdHandler {
   public:
    explicit Handler(std::function<void()> on_ready = nullptr) : on_ready_(std::move(on_ready)) {}
    void OnReady(uint32_t events) override {
      ++calls;
      last = events;
      if (on_ready_) on_ready_();
    }

    int calls = 0;
    uint32_t last = 0;

   private:
    std::function<void()> on_ready_;
  };

  // Readable from the first.
  static UniqueFd Readable() { return UniqueFd(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)); }
  static UniqueFd Quiet() { return UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }
  static void Write(const UniqueFd& fd) {
    const uint64_t one = 1;
    ASSERT_EQ(::write(fd.get(), &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
  }
  EpollSource::Watch Add(const UniqueFd& fd, FdHandler& handler, uint32_t events = EPOLLIN) {
    auto watch = source_->Add(fd.get(), events, handler);
    EXPECT_TRUE(watch.ok()) << watch.status();
    return *watch;
  }

  std::unique_ptr<EpollSource> source_ = *EpollSource::Create();
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_SOURCES_EPOLL_SOURCE_TESTING_H_
