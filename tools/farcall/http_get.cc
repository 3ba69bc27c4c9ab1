// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/http_get.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/address.h"

namespace farcall::cli {
namespace {

namespace http = boost::beast::http;

absl::Status Unreached(const std::string& target, const boost::system::error_code& error) {
  return absl::UnavailableError(absl::StrCat(target, " cannot be reached: ", error.message()));
}

// What the server sends until it closes. `stream` is connected, and has its time limit set.
template <typename Stream>
absl::StatusOr<std::string> Exchange(Stream& stream, const std::string& target,
                                     const std::string& path) {
  stream << "GET " << path << " HTTP/1.1\r\nHost: " << target
         << "\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
         << std::flush;
  std::string answer;
  std::string piece(65536, '\0');
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())) ||
         stream.gcount() > 0) {
    answer.append(piece, 0, static_cast<size_t>(stream.gcount()));
    if (answer.size() > kLargestPage) {
      return absl::FailedPreconditionError(
          absl::StrCat(target, path, " has more than ", kLargestPage, " bytes"));
    }
  }
  const boost::system::error_code error = stream.error();
  if (error && error != boost::asio::error::eof) return Unreached(target, error);
  return answer;
}

absl::StatusOr<std::string> ParseAnswer(const std::string& answer, const std::string& page) {
  http::response_parser<http::string_body> parser;
  parser.eager(true);
  parser.body_limit(kLargestPage);
  boost::system::error_code error;
  parser.put(boost::asio::buffer(answer), error);
  if (!error) parser.put_eof(error);
  if (error || !parser.is_done()) {
    return absl::FailedPreconditionError(
        absl::StrCat(page, " was not answered by HTTP (ServerOptions::http): ", error.message()));
  }
  if (parser.get().result_int() != 200) {
    return absl::FailedPreconditionError(absl::StrCat(page, " was answered with ",
                                                      parser.get().result_int(), " ",
                                                      parser.get().body().substr(0, 200)));
  }
  return std::move(parser.get().body());
}

}  // namespace

absl::StatusOr<std::string> HttpGet(const std::string& target, const std::string& path,
                                    Duration limit) {
  absl::StatusOr<std::string> answer;
  if (absl::StartsWith(target, "unix:")) {
    // The endpoint throws where the path is too long.
    const absl::StatusOr<Address> address = Address::Parse(target);
    if (!address.ok()) return address.status();
    boost::asio::local::stream_protocol::iostream stream;
    stream.expires_after(limit);
    stream.connect(boost::asio::local::stream_protocol::endpoint(address->path()));
    if (!stream) return Unreached(target, stream.error());
    answer = Exchange(stream, "localhost", path);
  } else {
    const size_t colon = target.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == target.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", target, "\" is no host:port, [v6]:port or unix:PATH"));
    }
    std::string host = target.substr(0, colon);
    if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    boost::asio::ip::tcp::iostream stream;
    stream.expires_after(limit);
    stream.connect(host, target.substr(colon + 1));
    if (!stream) return Unreached(target, stream.error());
    answer = Exchange(stream, target, path);
  }
  if (!answer.ok()) return answer.status();
  return ParseAnswer(*answer, absl::StrCat(target, path));
}

}  // namespace farcall::cli
