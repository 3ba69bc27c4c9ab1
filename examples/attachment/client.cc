// SPDX-License-Identifier: Apache-2.0
//
// Writes blocks into a block store, reads them back, and compares every byte.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "examples/attachment/block_store.pb.h"
#include "rpc/channel.h"

ABSL_FLAG(std::string, server, "127.0.0.1:8003", "host:port, ip:port, [v6]:port or unix:PATH");
ABSL_FLAG(uint64_t, blocks, 1024, "how many, from the first on");
ABSL_FLAG(uint32_t, at_once, 16, "blocks in one call");
ABSL_FLAG(bool, use_rdma, true, "prefer RDMA; TCP carries the calls where it cannot be had");

namespace {

// Shared, since a call that fails may still have the bytes in a queue when it returns.
using Bytes = std::shared_ptr<const std::string>;

Bytes RandomBytes(uint64_t seed, size_t size) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return std::make_shared<const std::string>(std::move(bytes));
}

absl::Status Write(example::BlockStore_Stub& store, uint64_t block, const Bytes& bytes) {
  farcall::Controller controller;
  example::WriteRequest request;
  example::WriteResponse response;
  request.set_block(block);
  // The bytes stay where they are, and are sent from there.
  controller.request_attachment().AppendUserData(bytes->data(), bytes->size(), [bytes] {});
  store.Write(&controller, &request, &response, nullptr);
  return controller.status();
}

absl::Status ReadAndCompare(example::BlockStore_Stub& store, uint64_t block, uint32_t count,
                            const Bytes& bytes) {
  farcall::Controller controller;
  example::ReadRequest request;
  example::ReadResponse response;
  request.set_block(block);
  request.set_count(count);
  store.Read(&controller, &request, &response, nullptr);
  if (controller.Failed()) return controller.status();
  if (controller.response_attachment().ToString() == *bytes) return absl::OkStatus();
  return absl::DataLossError("the bytes differ from those that were written");
}

absl::Status WriteAndRead(farcall::Channel& channel) {
  example::BlockStore_Stub store(&channel);
  farcall::Controller controller;
  example::InfoRequest request;
  example::InfoResponse info;
  store.Info(&controller, &request, &info, nullptr);
  if (controller.Failed()) return controller.status();

  const uint64_t blocks = absl::GetFlag(FLAGS_blocks);
  const uint32_t at_once = std::max(1u, absl::GetFlag(FLAGS_at_once));
  for (const bool write : {true, false}) {
    for (uint64_t block = 0; block < blocks; block += at_once) {
      const auto count = static_cast<uint32_t>(std::min<uint64_t>(at_once, blocks - block));
      const Bytes bytes = RandomBytes(block, size_t{count} * info.block_bytes());
      const absl::Status status =
          write ? Write(store, block, bytes) : ReadAndCompare(store, block, count, bytes);
      if (!status.ok()) return status;
    }
  }
  std::printf("%llu blocks of %u bytes were written, read and compared\n",
              static_cast<unsigned long long>(blocks), info.block_bytes());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("writes blocks into example.BlockStore and reads them back");
  absl::ParseCommandLine(argc, argv);
  farcall::ChannelOptions options;
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  options.timeout_ms = 10'000;
  const auto channel = farcall::Channel::Create(absl::GetFlag(FLAGS_server), options);
  const absl::Status status = channel.ok() ? WriteAndRead(**channel) : channel.status();
  if (!status.ok()) std::fprintf(stderr, "block_client: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
