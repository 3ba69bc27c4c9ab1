// SPDX-License-Identifier: Apache-2.0
//
// Writes blocks into a block store from registered memory, reads them back into such, compares
// every byte, and tells how many of them were copied on the way.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "examples/attachment/block_store.pb.h"
#include "farcall/channel.h"
#include "farcall/runtime.h"
#include "farcall/setting_flags.h"
#include "farcall/settled_connection.h"

ABSL_FLAG(std::string, server, "127.0.0.1:8003", "host:port, ip:port, [v6]:port or unix:PATH");
ABSL_FLAG(uint64_t, blocks, 1024, "how many, from the first on");
ABSL_FLAG(uint32_t, at_once, 16, "blocks in one call");
ABSL_FLAG(bool, use_rdma, true, "prefer RDMA; TCP carries the calls where it cannot be had");
ABSL_FLAG(uint32_t, rdma_within_s, 0,
          "go on trying for so long where a first attempt for RDMA fails; TCP carries them then");
ABSL_FLAG(
    uint32_t, read_at_least, 4096,
    "blocks of at least so many bytes are fetched by RDMA READ where the server has the same; "
    "0: never");

namespace {

using farcall::CopiedBytes;
using farcall::CopyCause;
using farcall::RegisteredMemory;
using farcall::TransportKind;

// What a socket's reader may have read of an answer before it knew of the memory for it.
constexpr uint64_t kReadAhead = 80 << 10;

// The disk as it was written and as it was read. Outlives the runtime, which lets go of it.
struct Image {
  std::string written;
  std::string read;
};

std::span<std::byte> BytesOf(std::string& text) {
  return {reinterpret_cast<std::byte*>(text.data()), text.size()};
}

// Of so many bytes of an answer, those that may come elsewhere than where they are wanted. Where
// RDMA carries the stream, or may come to, that is each of them, unless they are fetched by RDMA
// READ as what is `large` enough can be; then it is copied once.
uint64_t MayLand(const farcall::ConnectionInfo& info, uint64_t bytes, bool large) {
  // With "auto" the server may find that it sends faster.
  const bool always = info.rdma.reads.why == farcall::ReadsWhy::kAlways;
  if (large && always && info.rdma.fetches) return 0;
  switch (info.why_not_rdma) {
    case farcall::WhyNotRdma::kNotAsked:
    case farcall::WhyNotRdma::kNotForThisAddress:
    case farcall::WhyNotRdma::kNoLibrary:
    case farcall::WhyNotRdma::kNoDevice:
      return std::min(bytes, kReadAhead);
    default:
      return bytes;
  }
}

// For 5 s at most. What is sent before a device knows it is copied.
void AwaitRegistered(const RegisteredMemory& memory) {
  for (int i = 0; i < 5000 && absl::IsUnavailable(memory.status()); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

class Disk {
 public:
  Disk(const farcall::Runtime& runtime, farcall::Channel& channel, Image& image)
      : runtime_(runtime), store_(&channel), image_(image) {}

  // Waits until it is settled what carries the calls; makes and registers as much memory as
  // `blocks` need.
  absl::Status Prepare(uint64_t blocks) {
    const auto connection = Connection();
    if (!connection.ok()) return connection.status();
    carrier_ = absl::StrCat(ToString((*connection)->transport),
                            (*connection)->rdma.fetches ? ", by RDMA READ" : "");
    if (absl::GetFlag(FLAGS_use_rdma) && (*connection)->transport != TransportKind::kRdma) {
      const auto& info = **connection;
      absl::StrAppend(&carrier_, " (not rdma: ", Explain(info.why_not_rdma),
                      info.why_detail.empty() ? "" : ": ", info.why_detail, ")");
    }
    blocks_ = blocks;
    image_.written.resize(blocks * info_.block_bytes());
    image_.read.resize(image_.written.size());
    std::mt19937_64 random(1);
    for (char& byte : image_.written) byte = static_cast<char>(random());
    for (auto [memory, bytes] : {std::pair(&written_, &image_.written), {&read_, &image_.read}}) {
      auto registered = runtime_.RegisterMemory(BytesOf(*bytes));
      if (!registered.ok()) return registered.status();
      *memory = *registered;
      AwaitRegistered(*memory);
    }
    return absl::OkStatus();
  }

  // `at_once` blocks a call; adds up what may be copied.
  absl::Status Write(uint64_t at_once) {
    example::WriteRequest request;
    example::WriteResponse response;
    for (uint64_t block = 0; block < blocks_; block += at_once) {
      const size_t bytes = BytesOfCall(block, at_once);
      farcall::Controller controller;
      // A device that does not know it yet is given it by copy.
      if (!written_.status().ok()) may_send_ += bytes;
      controller.request_attachment() = written_.Slice(block * info_.block_bytes(), bytes);
      request.set_block(block);
      store_.Write(&controller, &request, &response, nullptr);
      if (controller.Failed()) return controller.status();
    }
    return absl::OkStatus();
  }
  absl::Status Read(uint64_t at_once) {
    example::ReadRequest request;
    example::ReadResponse response;
    for (uint64_t block = 0; block < blocks_; block += at_once) {
      const size_t bytes = BytesOfCall(block, at_once);
      farcall::Controller controller;
      // A device that does not know the memory yet does not write to it.
      const bool large =
          read_.status().ok() && info_.block_bytes() >= absl::GetFlag(FLAGS_read_at_least);
      controller.set_response_attachment_memory(read_.Slice(block * info_.block_bytes(), bytes));
      request.set_block(block);
      request.set_count(static_cast<uint32_t>(bytes / info_.block_bytes()));
      store_.Read(&controller, &request, &response, nullptr);
      if (controller.Failed()) return controller.status();
      may_land_ += MayLand(*controller.connection(), bytes, large);
    }
    return absl::OkStatus();
  }

  // Of what was done so far.
  absl::Status Compare() const {
    if (image_.read != image_.written) {
      return absl::DataLossError("the bytes differ from those that were written");
    }
    const CopiedBytes copied = runtime_.copied_bytes();
    const uint64_t sent = copied[CopyCause::kSentUnregistered];
    const uint64_t landed = copied[CopyCause::kNotLanded];
    std::printf("%llu blocks of %u bytes were written, read and compared\n",
                static_cast<unsigned long long>(blocks_), info_.block_bytes());
    std::printf("over %s\n", carrier_.c_str());
    std::printf("copied: %llu bytes of those written, %llu of those read\n",
                static_cast<unsigned long long>(sent), static_cast<unsigned long long>(landed));
    if (sent <= may_send_ && landed <= may_land_) return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat("no more than ", may_send_, " and ", may_land_, " bytes needed to be copied"));
  }

 private:
  absl::StatusOr<std::shared_ptr<const farcall::ConnectionInfo>> Connection() {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::seconds(absl::GetFlag(FLAGS_rdma_within_s));
    while (true) {
      absl::Status asked;
      auto connection = farcall::SettledConnection(
          [&](farcall::Controller& controller) {
            example::InfoRequest request;
            store_.Info(&controller, &request, &info_, nullptr);
            asked = controller.status();
          },
          std::chrono::seconds(15));
      if (connection.ok() && !asked.ok()) return asked;
      if (!connection.ok() || (*connection)->transport == TransportKind::kRdma ||
          std::chrono::steady_clock::now() >= end) {
        return connection;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  size_t BytesOfCall(uint64_t block, uint64_t at_once) const {
    return std::min(at_once, blocks_ - block) * info_.block_bytes();
  }

  const farcall::Runtime& runtime_;
  example::BlockStore_Stub store_;
  Image& image_;
  example::InfoResponse info_;
  std::string carrier_;
  uint64_t blocks_ = 0;
  RegisteredMemory written_;
  RegisteredMemory read_;
  uint64_t may_send_ = 0;
  uint64_t may_land_ = 0;
};

absl::Status Run() {
  Image image;
  farcall::RuntimeOptions runtime_options;
  runtime_options.rdma.read_at_least = absl::GetFlag(FLAGS_read_at_least);
  const auto runtime = farcall::Runtime::Create(runtime_options);
  if (!runtime.ok()) return runtime.status();
  farcall::ChannelOptions options;
  options.runtime = runtime->get();
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  options.timeout_ms = 10'000;
  const auto channel = farcall::Channel::Create(absl::GetFlag(FLAGS_server), options);
  if (!channel.ok()) return channel.status();
  const uint64_t at_once = std::max(1u, absl::GetFlag(FLAGS_at_once));
  Disk disk(**runtime, **channel, image);
  absl::Status status = disk.Prepare(absl::GetFlag(FLAGS_blocks));
  if (status.ok()) status = disk.Write(at_once);
  if (status.ok()) status = disk.Read(at_once);
  if (status.ok()) status = disk.Compare();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("writes blocks into example.BlockStore and reads them back");
  farcall::TakeSettingFlags(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "block_client: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
