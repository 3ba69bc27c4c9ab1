// SPDX-License-Identifier: Apache-2.0
//
// Puts blocks into a block store, gets them back, and compares every byte.

#include <chrono>
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
ABSL_FLAG(uint64_t, blocks, 64, "how many blocks");
ABSL_FLAG(uint64_t, block_bytes, 1 << 20, "bytes of a block");
ABSL_FLAG(bool, use_rdma, true, "prefer RDMA; TCP carries the calls where it cannot be had");

namespace {

// Shared, since a call that fails may still have the bytes in a queue when it returns.
using Block = std::shared_ptr<const std::string>;

Block RandomBlock(uint64_t seed, size_t bytes) {
  std::mt19937_64 random(seed);
  std::string block(bytes, '\0');
  for (char& byte : block) byte = static_cast<char>(random());
  return std::make_shared<const std::string>(std::move(block));
}

bool Put(example::BlockStore_Stub& store, uint64_t id, const Block& block) {
  farcall::Controller controller;
  example::PutRequest request;
  example::PutResponse response;
  request.set_block(id);
  // The bytes stay where they are, and are sent from there.
  controller.request_attachment().AppendUserData(block->data(), block->size(), [block] {});
  store.Put(&controller, &request, &response, nullptr);
  if (!controller.Failed()) return true;
  std::fprintf(stderr, "put %llu: %s\n", static_cast<unsigned long long>(id),
               controller.status().ToString().c_str());
  return false;
}

bool GetAndCompare(example::BlockStore_Stub& store, uint64_t id, const Block& block) {
  farcall::Controller controller;
  example::GetRequest request;
  example::GetResponse response;
  request.set_block(id);
  store.Get(&controller, &request, &response, nullptr);
  if (controller.Failed()) {
    std::fprintf(stderr, "get %llu: %s\n", static_cast<unsigned long long>(id),
                 controller.status().ToString().c_str());
    return false;
  }
  if (controller.response_attachment().ToString() == *block) return true;
  std::fprintf(stderr, "get %llu: the bytes differ\n", static_cast<unsigned long long>(id));
  return false;
}

void Tell(const char* what, size_t bytes, std::chrono::steady_clock::time_point since) {
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - since;
  std::printf("%s %zu MB at %.0f MB/s\n", what, bytes / 1'000'000,
              static_cast<double>(bytes) / 1e6 / seconds.count());
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("puts blocks into example.BlockStore and gets them back");
  absl::ParseCommandLine(argc, argv);
  const uint64_t blocks = absl::GetFlag(FLAGS_blocks);
  const size_t bytes = absl::GetFlag(FLAGS_block_bytes);

  farcall::ChannelOptions options;
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  options.timeout_ms = 10'000;
  const auto channel = farcall::Channel::Create(absl::GetFlag(FLAGS_server), options);
  if (!channel.ok()) {
    std::fprintf(stderr, "block_client: %s\n", channel.status().ToString().c_str());
    return 1;
  }
  example::BlockStore_Stub store(channel->get());

  const auto put_started = std::chrono::steady_clock::now();
  for (uint64_t id = 0; id < blocks; ++id) {
    if (!Put(store, id, RandomBlock(id, bytes))) return 1;
  }
  Tell("made and put", blocks * bytes, put_started);
  const auto get_started = std::chrono::steady_clock::now();
  for (uint64_t id = 0; id < blocks; ++id) {
    if (!GetAndCompare(store, id, RandomBlock(id, bytes))) return 1;
  }
  Tell("got and compared", blocks * bytes, get_started);
  return 0;
}
