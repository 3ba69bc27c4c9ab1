// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/http_peer.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "transport/address.h"
#include "transport/base/check.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

constexpr absl::string_view kEnd = "\r\n\r\n";

size_t ContentLength(absl::string_view head) {
  constexpr absl::string_view kField = "\r\nContent-Length: ";
  const size_t at = head.find(kField);
  Check(at != absl::string_view::npos, "each answer tells its length");
  const absl::string_view rest = head.substr(at + kField.size());
  size_t length = 0;
  Check(absl::SimpleAtoi(rest.substr(0, rest.find('\r')), &length), "a length is a number");
  return length;
}

}  // namespace

HttpPeer::HttpPeer(const std::string& address)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  Check(fd_.valid(), "a test gets file descriptors");
  const auto parsed = Address::Parse(address);
  Check(parsed.ok() && parsed->family() == AddressFamily::kIpv4, "an HTTP peer speaks IPv4");
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(parsed->port());
  std::memcpy(&to.sin_addr, parsed->ip().data(), 4);
  Check(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0,
        "a test server takes connections");
  timeval timeout{};
  timeout.tv_sec = kTestTimeout.count();
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
}

void HttpPeer::LimitReceiveBuffer(int bytes) {
  Check(::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) == 0,
        "a socket takes a buffer size");
}

bool HttpPeer::Send(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// False: the end came, or nothing in time.
bool HttpPeer::ReadSome() {
  pollfd ready{fd_.get(), POLLIN, 0};
  if (::poll(&ready, 1, 1000 * static_cast<int>(kTestTimeout.count())) != 1) return false;
  char bytes[16384];
  const ssize_t got = ::recv(fd_.get(), bytes, sizeof(bytes), 0);
  // A reset is an end too: what was sent to a closed socket comes back as one.
  ended_ = got <= 0;
  if (!ended_) input_.append(bytes, static_cast<size_t>(got));
  return !ended_;
}

std::optional<HttpPeer::Answer> HttpPeer::Receive() {
  size_t end;
  while ((end = input_.find(kEnd.data(), 0, kEnd.size())) == std::string::npos) {
    if (!ReadSome()) return std::nullopt;
  }
  Answer answer;
  answer.head = input_.substr(0, end + kEnd.size());
  Check(absl::StartsWith(answer.head, "HTTP/1.1 ") &&
            absl::SimpleAtoi(answer.head.substr(9, 3), &answer.status),
        "an answer begins with its status");
  const size_t length = answer.status == 100 ? 0 : ContentLength(answer.head);
  while (input_.size() < answer.head.size() + length) {
    if (!ReadSome()) return std::nullopt;
  }
  answer.body = input_.substr(answer.head.size(), length);
  input_.erase(0, answer.head.size() + length);
  return answer;
}

std::optional<HttpPeer::Answer> HttpPeer::Ask(absl::string_view bytes) {
  if (!Send(bytes)) return std::nullopt;
  return Receive();
}

bool HttpPeer::WaitForEnd() {
  while (ReadSome()) input_.clear();
  return ended_;
}

std::string HttpGet(absl::string_view path, absl::string_view fields) {
  return absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: test\r\n", fields, "\r\n");
}

std::string HttpPost(absl::string_view path, absl::string_view body, absl::string_view fields) {
  return absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: test\r\nContent-Length: ", body.size(),
                      "\r\n", fields, "\r\n", body);
}

std::optional<std::string> Curl(const std::string& arguments) {
  const std::string command = absl::StrCat("curl -sS --noproxy '*' --max-time ",
                                           kTestTimeout.count(), " ", arguments, " 2>&1");
  FILE* const output = ::popen(command.c_str(), "re");
  Check(output != nullptr, "a test starts processes");
  std::string text;
  char bytes[4096];
  while (const size_t got = ::fread(bytes, 1, sizeof(bytes), output)) text.append(bytes, got);
  if (::pclose(output) != 0) return std::nullopt;
  return text;
}

}  // namespace farcall
