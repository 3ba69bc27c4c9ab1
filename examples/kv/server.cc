// SPDX-License-Identifier: Apache-2.0
//
// Serves example.Kv from memory until SIGTERM or Ctrl-C.

#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "examples/common/store_server.h"
#include "examples/kv/service.h"
#include "examples/kv/store.h"
#include "farcall/setting_flags.h"

ABSL_FLAG(std::string, listen, "0.0.0.0:8005", "address: ip:port, [v6]:port or unix:PATH");
ABSL_FLAG(bool, use_rdma, true, "let clients that ask for it use RDMA");
ABSL_FLAG(uint64_t, max_bytes, uint64_t{1} << 30, "of keys and values together");

namespace {

absl::Status Serve() {
  const uint64_t max_bytes = absl::GetFlag(FLAGS_max_bytes);
  const auto runtime = example::StoreRuntime(/*event_loops=*/0, max_bytes);
  if (!runtime.ok()) return runtime.status();
  example::Store store(max_bytes);
  example::KvService service(store, **runtime);
  return example::ServeStore(**runtime, service, absl::GetFlag(FLAGS_listen),
                             absl::GetFlag(FLAGS_use_rdma));
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("serves example.Kv until SIGTERM or Ctrl-C");
  farcall::TakeSettingFlags(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = Serve();
  if (!status.ok()) std::fprintf(stderr, "kv_server: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
