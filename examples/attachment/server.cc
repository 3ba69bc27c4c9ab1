// SPDX-License-Identifier: Apache-2.0
//
// Serves example.BlockStore, a disk in memory, until SIGTERM or Ctrl-C.

#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "examples/attachment/blocks.h"
#include "examples/attachment/service.h"
#include "examples/common/store_server.h"
#include "farcall/setting_flags.h"

ABSL_FLAG(std::string, listen, "0.0.0.0:8003", "address: ip:port, [v6]:port or unix:PATH");
ABSL_FLAG(bool, use_rdma, true, "let clients that ask for it use RDMA");
ABSL_FLAG(uint64_t, blocks, 65'536, "how many");
ABSL_FLAG(uint32_t, block_bytes, 4096, "of each: 512 to 1048576");
ABSL_FLAG(
    uint32_t, read_at_least, 4096,
    "blocks of at least so many bytes are fetched by RDMA READ where the client has the same; "
    "0: never");

namespace {

absl::Status Serve() {
  const uint64_t blocks = absl::GetFlag(FLAGS_blocks);
  const uint32_t block_bytes = absl::GetFlag(FLAGS_block_bytes);
  if (block_bytes < 512 || block_bytes > 1 << 20 || blocks < 1 || blocks > (uint64_t{1} << 31)) {
    return absl::InvalidArgumentError("--block_bytes is 512 to 1048576, --blocks 1 to 2^31");
  }
  // Nothing is stored in the blocks of the runtime.
  const auto runtime =
      example::StoreRuntime(/*event_loops=*/0, /*stored=*/0, absl::GetFlag(FLAGS_read_at_least));
  if (!runtime.ok()) return runtime.status();
  const auto disk = example::Blocks::Create(**runtime, blocks, block_bytes);
  if (!disk.ok()) return disk.status();
  example::BlockService service(**disk);
  const absl::Status served =
      example::ServeStore(**runtime, service, absl::GetFlag(FLAGS_listen),
                          absl::GetFlag(FLAGS_use_rdma), {.attachment_placer = &service});
  const farcall::CopiedBytes copied = (*runtime)->copied_bytes();
  std::printf("copied: %llu bytes of those written, %llu of those read\n",
              static_cast<unsigned long long>(copied[farcall::CopyCause::kNotLanded]),
              static_cast<unsigned long long>(copied[farcall::CopyCause::kSentUnregistered]));
  return served;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("serves example.BlockStore until SIGTERM or Ctrl-C");
  farcall::TakeSettingFlags(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = Serve();
  if (!status.ok()) std::fprintf(stderr, "block_server: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
