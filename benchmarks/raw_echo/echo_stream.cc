// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/echo_stream.h"

#include <sys/socket.h>

#include "benchmarks/raw_echo/socket.h"
#include "benchmarks/raw_echo/usage.h"

namespace farcall::bench {
bool EchoStream::Turn(int flags) {
  if (!looked_) return LookAtFirst(flags);
  if (store_) return store_->Turn(flags);
  if (buffer_.whole().empty() && !Read(flags)) {
    return false;
  }
  return SendWhole(flags);
}

bool EchoStream::LookAtFirst(int flags) {
  FrameHeader header;
  const ssize_t got = recv(fd_.get(), &header, sizeof(header), flags | MSG_PEEK);
  if (got <= 0) return got < 0 && TryAgain();
  // Clients send their first header in one piece.
  looked_ = true;
  if (got == sizeof(header) && header.kind == FrameHeader::kStore) store_.emplace(fd_.get());
  return true;
}

bool EchoStream::Read(int flags) {
  const absl::Span<char> space = buffer_.Space();
  const ssize_t got = recv(fd_.get(), space.data(), space.size(), flags);
  if (got <= 0) {
    return got < 0 && TryAgain();
  }
  buffer_.Commit(static_cast<size_t>(got));
  Frame frame;
  while (buffer_.Next(frame)) {
    AnswerIfUsage(frame);
  }
  return buffer_.bad().ok();
}

bool EchoStream::SendWhole(int flags) {
  while (!buffer_.whole().empty()) {
    const absl::Span<const char> whole = buffer_.whole();
    const ssize_t sent = send(fd_.get(), whole.data(), whole.size(), flags | MSG_NOSIGNAL);
    if (sent < 0) {
      return TryAgain();
    }
    buffer_.Drop(static_cast<size_t>(sent));
  }
  return true;
}

}  // namespace farcall::bench
