// SPDX-License-Identifier: Apache-2.0
//
// Where a connection goes to: a number, never a name. Names are resolved by rpc.

#ifndef FARCALL_TRANSPORT_ADDRESS_H_
#define FARCALL_TRANSPORT_ADDRESS_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace farcall {

enum class AddressFamily : uint8_t { kNone, kIpv4, kIpv6, kUnix };

// A value; pure, no system call.
class Address {
 public:
  // kUnix paths, without the final zero: sun_path of unix(7) has 108 bytes.
  static constexpr size_t kMaxUnixPath = 107;

  Address() = default;
  static Address Ipv4(std::array<uint8_t, 4> ip, uint16_t port);
  // scope_id: the interface of a link-local address, else 0.
  static Address Ipv6(std::array<uint8_t, 16> ip, uint16_t port, uint32_t scope_id = 0);
  static absl::StatusOr<Address> Unix(absl::string_view path);
  // "1.2.3.4:80", "[::1]:80", "[fe80::1%2]:80" (numeric scope), "unix:PATH". A name is an error.
  static absl::StatusOr<Address> Parse(absl::string_view text);
  // "1.2.3.4", "::1": without port and brackets; port 0.
  static absl::StatusOr<Address> ParseIp(absl::string_view text);

  AddressFamily family() const { return family_; }
  const std::array<uint8_t, 16>& ip() const { return ip_; }  // IPv4 in the first four bytes
  uint16_t port() const { return port_; }                    // host byte order; 0 for kUnix
  uint32_t scope_id() const { return scope_id_; }
  const std::string& path() const { return path_; }
  // Parse(ToString()) gives the same Address; "(none)" for kNone.
  std::string ToString() const;
  bool operator==(const Address& other) const = default;

 private:
  AddressFamily family_ = AddressFamily::kNone;
  std::array<uint8_t, 16> ip_{};
  uint16_t port_ = 0;
  uint32_t scope_id_ = 0;
  std::string path_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_ADDRESS_H_
