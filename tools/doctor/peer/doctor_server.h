// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_PEER_DOCTOR_SERVER_H_
#define FARCALL_TOOLS_DOCTOR_PEER_DOCTOR_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "rpc/runtime/runtime.h"
#include "rpc/runtime/server.h"
#include "tools/doctor/checks/facts.h"
#include "tools/doctor/peer/doctor_service.h"

namespace farcall::doctor {

// The other end of what is measured.
class DoctorServer {
 public:
  // `runtime` and `api` (may be null) outlive it.
  static absl::StatusOr<std::unique_ptr<DoctorServer>> Start(Runtime& runtime,
                                                             const std::string& address,
                                                             Introduction introduction,
                                                             const VerbsApi* api);
  Server& server() { return server_; }
  std::string address() const { return server_.listen_address().ToString(); }

 private:
  DoctorServer(Introduction introduction, const VerbsApi* api)
      : service_(std::move(introduction), api) {}

  DoctorService service_;
  Server server_;
};

// Whether the library finds RDMA that it can use, and with which reason not.
LibraryVerdict AskLibrary();
// What it says of a server that required RDMA and did or did not start.
LibraryVerdict VerdictOf(const absl::Status& started);

// Calls from this process to itself over one device, for `how_long`.
LoopbackFacts PingItself(const std::string& device, Duration how_long);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PEER_DOCTOR_SERVER_H_
