// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/raw_peer.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <utility>

#include "rpc/testing/test_service.pb.h"
#include "transport/address.h"
#include "transport/base/check.h"
#include "transport/loop/loop_testing.h"
#include "transport/sockaddr.h"

namespace farcall {
namespace {

UniqueFd OpenSocket(int family) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Check(fd.valid(), "a test gets file descriptors");
  return fd;
}

bool WaitReadable(int fd) {
  pollfd ready{fd, POLLIN, 0};
  return ::poll(&ready, 1, 1000 * static_cast<int>(kTestTimeout.count())) == 1;
}

UniqueFd AcceptOne(int fd) {
  Check(WaitReadable(fd), "somebody connects in time");
  return UniqueFd(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC));
}

}  // namespace

std::string HeaderBytes(uint32_t body_size, uint32_t meta_size) {
  std::string header = "PRPC";
  for (const uint32_t size : {body_size, meta_size}) {
    for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>(size >> shift);
  }
  return header;
}

std::string FrameBytes(wire::RpcMeta meta, const google::protobuf::MessageLite* payload,
                       absl::string_view attachment) {
  const auto encoder = FrameEncoder::Create(meta, payload, attachment.size());
  Check(encoder.ok(), "a test encodes what can be encoded");
  std::string bytes(encoder->head_size(), '\0');
  encoder->WriteTo(bytes.data());
  bytes.append(attachment.data(), attachment.size());
  return bytes;
}

wire::RpcMeta EchoMeta(int64_t correlation_id) {
  wire::RpcMeta meta;
  meta.mutable_request()->set_service_name("farcall.test.TestService");
  meta.mutable_request()->set_method_name("Echo");
  meta.set_correlation_id(correlation_id);
  return meta;
}

std::string EchoFrame(int64_t correlation_id, absl::string_view message) {
  test::EchoRequest request;
  request.set_message(message.data(), message.size());
  return FrameBytes(EchoMeta(correlation_id), &request);
}

RawPeer::RawPeer(const std::string& address) {
  const auto parsed = Address::Parse(address);
  Check(parsed.ok(), "a test gives an address");
  const SocketAddress name = *ToSocketAddress(*parsed);
  fd_ = OpenSocket(name.family());
  Check(::connect(fd_.get(), name.get(), name.length) == 0, "a test server takes connections");
}

RawPeer::RawPeer(UniqueFd fd) : fd_(std::move(fd)) {}

void RawPeer::LimitReceiveBuffer(int bytes) {
  Check(::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) == 0,
        "a socket takes a buffer size");
}

bool RawPeer::SendOver(absl::string_view bytes) {
  const absl::string_view rest = bytes.substr(sent_over_);
  const ssize_t sent = ::send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent <= 0) return false;
  sent_over_ = (sent_over_ + static_cast<size_t>(sent)) % bytes.size();
  return true;
}

bool RawPeer::Send(absl::string_view bytes) {
  timeval timeout{};
  timeout.tv_sec = kTestTimeout.count();
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool RawPeer::WaitForBytes() { return WaitReadable(fd_.get()); }

int RawPeer::ReadSome() {
  if (!WaitForBytes()) return -1;
  char bytes[16384];
  const ssize_t got = ::recv(fd_.get(), bytes, sizeof(bytes), 0);
  // A reset is an end too: what was sent to a closed socket comes back as one.
  if (got <= 0) return 0;
  input_.Append(absl::string_view(bytes, static_cast<size_t>(got)));
  return static_cast<int>(got);
}

std::optional<Frame> RawPeer::Receive() {
  for (;;) {
    Frame frame;
    const auto needed = CutFrame(input_, FrameLimits(), frame);
    if (!needed.ok()) return std::nullopt;
    if (*needed == 0) return frame;
    if (ReadSome() <= 0) return std::nullopt;
  }
}

std::string RawPeer::ReceiveBytes(size_t bytes) {
  while (input_.size() < bytes && ReadSome() > 0) {
  }
  return input_.CutFront(std::min(bytes, input_.size())).ToString();
}

bool RawPeer::WaitForEnd() {
  for (;;) {
    const int got = ReadSome();
    if (got <= 0) return got == 0;
    input_.Clear();
  }
}

void RawPeer::Shutdown() { ::shutdown(fd_.get(), SHUT_RDWR); }

RawListener::RawListener() : fd_(OpenSocket(AF_INET)) {
  const SocketAddress name = *ToSocketAddress(Address::Ipv4({127, 0, 0, 1}, 0));
  Check(::bind(fd_.get(), name.get(), name.length) == 0, "there is a free port");
  Check(::listen(fd_.get(), 16) == 0, "a bound socket listens");
  address_ = LocalAddress(fd_.get()).ToString();
}

RawPeer RawListener::Accept() { return RawPeer(AcceptOne(fd_.get())); }

FullListener::FullListener(const std::string& path)
    : fd_(OpenSocket(AF_UNIX)), waiting_(OpenSocket(AF_UNIX)) {
  const auto address = Address::Unix(path);
  Check(address.ok(), "a test gives a path that fits");
  const SocketAddress name = *ToSocketAddress(*address);
  Check(::bind(fd_.get(), name.get(), name.length) == 0, "the path is free");
  // Even a backlog of 0 holds one, unix(7).
  Check(::listen(fd_.get(), 0) == 0, "a bound socket listens");
  Check(::connect(waiting_.get(), name.get(), name.length) == 0, "the first finds room");
}

RawPeer FullListener::MakeRoomAndAccept() {
  // The one that filled the queue.
  AcceptOne(fd_.get());
  return RawPeer(AcceptOne(fd_.get()));
}

}  // namespace farcall
