// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_UNIQUE_FD_H_
#define FARCALL_TRANSPORT_BASE_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace farcall {

// Owns a file descriptor and closes it once. -1: owns nothing.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void Reset() {
    // close(2) frees the number even when it fails, EINTR included, on Linux.
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_UNIQUE_FD_H_
