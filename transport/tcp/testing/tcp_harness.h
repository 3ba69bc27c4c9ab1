// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_TESTING_TCP_HARNESS_H_
#define FARCALL_TRANSPORT_TCP_TESTING_TCP_HARNESS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "transport/tcp/tcp_transport.h"
#include "transport/tcp/testing/blocked_listener.h"
#include "transport/testing/conformance/conformance_harness.h"
#include "transport/testing/temp_dir.h"

namespace farcall {

// TcpTransport for the conformance suite, over one address family. `Base`, SteppedHarness or
// DrivenHarness, brings loops and a pool.
template <typename Base>
class TcpHarness final : public Base {
 public:
  // `anywhere`: an address whose port the kernel chooses, or a unix path that further
  // ones begin with.
  explicit TcpHarness(const Address& anywhere)
      : anywhere_(anywhere), transport_(Base::pool(), nullptr) {}

  ~TcpHarness() override { Base::Finish(); }

  Transport& transport() override { return transport_; }
  Address FreeAddress() override {
    if (anywhere_.family() != AddressFamily::kUnix) return anywhere_;
    return *Address::Unix(absl::StrCat(anywhere_.path(), ".", ++paths_));
  }
  Address RefusingAddress() override { return ClosedAddress(FreeAddress()); }
  Address SilentAddress() override {
    silent_.push_back(std::make_unique<BlockedListener>(FreeAddress()));
    return silent_.back()->address();
  }
  size_t LargestMessage() const override { return size_t{8} << 20; }
  // More than tcp_rmem and tcp_wmem allow two sockets by default: 32 and 4 MiB, tcp(7).
  size_t MoreThanFits() const override { return size_t{48} << 20; }

 private:
  const Address anywhere_;
  int paths_ = 0;
  std::vector<std::unique_ptr<BlockedListener>> silent_;
  TcpTransport transport_;
};

template <typename Base>
std::unique_ptr<ConformanceHarness> TcpOn(const std::string& anywhere) {
  return std::make_unique<TcpHarness<Base>>(*Address::Parse(anywhere));
}

// One that no other harness has.
inline std::string NewUnixPath() {
  static const TempDir dir;
  static int count = 0;
  return absl::StrCat("unix:", dir.path(), "/", ++count);
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_TESTING_TCP_HARNESS_H_
