// SPDX-License-Identifier: Apache-2.0
//
// What the frames of an echo cost: a message of 32 bytes, and one with an attachment
// of 4 KiB beside it. Per frame.

#include <benchmark/benchmark.h>
#include <google/protobuf/wrappers.pb.h>

#include <memory>
#include <string>
#include <utility>

#include "rpc/wire/frame.h"
#include "rpc/wire/payload.h"
#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace farcall {
namespace {

using google::protobuf::BytesValue;

constexpr size_t kMessageSize = 32;
constexpr size_t kScratch = 1024;
constexpr int kFramesPerRead = 100;

std::unique_ptr<BlockPool> NewPool() {
  auto pool = BlockPool::Create({});
  Check(pool.ok(), "the default options are valid");
  return *std::move(pool);
}

BytesValue Message() {
  BytesValue message;
  message.set_value(std::string(kMessageSize, 'm'));
  return message;
}

void FillMeta(int64_t correlation_id, wire::RpcMeta& meta) {
  wire::RpcRequestMeta& request = *meta.mutable_request();
  request.set_service_name("example.EchoService");
  request.set_method_name("Echo");
  request.set_timeout_ms(1000);
  meta.set_correlation_id(correlation_id);
}

FrameEncoder EncoderOf(wire::RpcMeta& meta, const BytesValue& message, size_t attachment) {
  auto encoder = FrameEncoder::Create(meta, &message, attachment);
  Check(encoder.ok() && encoder->head_size() <= kScratch, "a small frame can be encoded");
  return *encoder;
}

// Into memory of the caller, as for what is small.
void BM_FrameEncode(benchmark::State& state) {
  const auto attachment = static_cast<size_t>(state.range(0));
  const BytesValue message = Message();
  wire::RpcMeta meta;
  char scratch[kScratch];
  int64_t correlation_id = 0;
  for (auto _ : state) {
    FillMeta(++correlation_id, meta);
    EncoderOf(meta, message, attachment).WriteTo(scratch);
    benchmark::DoNotOptimize(scratch[0]);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FrameEncode)->ArgName("attachment")->Arg(0)->Arg(4096);

// Into blocks of its own, as for what is large.
void BM_FrameEncodeIntoBlocks(benchmark::State& state) {
  const auto attachment = static_cast<size_t>(state.range(0));
  const std::unique_ptr<BlockPool> pool = NewPool();
  const BytesValue message = Message();
  wire::RpcMeta meta;
  int64_t correlation_id = 0;
  for (auto _ : state) {
    FillMeta(++correlation_id, meta);
    Buffer out;
    Check(EncoderOf(meta, message, attachment).AppendTo(*pool, out), "the pool has room");
    benchmark::DoNotOptimize(out.size());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FrameEncodeIntoBlocks)->ArgName("attachment")->Arg(0)->Arg(4096);

// As a receiver finds them: one behind the other in blocks of 64 KiB.
Buffer ReceivedFrames(BlockPool& pool, size_t attachment) {
  const BytesValue message = Message();
  std::string bytes;
  for (int i = 0; i < kFramesPerRead; ++i) {
    wire::RpcMeta meta;
    FillMeta(i, meta);
    const FrameEncoder encoder = EncoderOf(meta, message, attachment);
    std::string head(encoder.head_size(), '\0');
    encoder.WriteTo(head.data());
    bytes += head + std::string(attachment, 'a');
  }
  Buffer received;
  for (size_t at = 0; at < bytes.size(); at += BlockPool::kMedium) {
    const std::string part = bytes.substr(at, BlockPool::kMedium);
    BlockRef block = pool.Allocate(part.size());
    Check(block && block->capacity >= part.size(), "the pool has room");
    part.copy(block->bytes(), part.size());
    received.Append(Buffer::Slice{std::move(block), 0, static_cast<uint32_t>(part.size())});
  }
  return received;
}

// Cut, and where `parse` is set the message is parsed too, as by a server.
void CutFrames(benchmark::State& state, bool parse) {
  const std::unique_ptr<BlockPool> pool = NewPool();
  const Buffer received = ReceivedFrames(*pool, static_cast<size_t>(state.range(0)));
  Frame frame;
  BytesValue message;
  for (auto _ : state) {
    Buffer input = received.Share();
    for (int i = 0; i < kFramesPerRead; ++i) {
      const auto needed = CutFrame(input, FrameLimits(), frame);
      Check(needed.ok() && *needed == 0, "the frames are whole");
      if (parse) Check(ParsePayload(frame.payload, message).ok(), "the message parses");
    }
    Check(input.empty(), "the frames are all there is");
    frame.payload.Clear();
    frame.attachment.Clear();
  }
  state.SetItemsProcessed(state.iterations() * kFramesPerRead);
}

void BM_FrameCut(benchmark::State& state) { CutFrames(state, false); }
BENCHMARK(BM_FrameCut)->ArgName("attachment")->Arg(0)->Arg(4096);

void BM_FrameCutAndParse(benchmark::State& state) { CutFrames(state, true); }
BENCHMARK(BM_FrameCutAndParse)->ArgName("attachment")->Arg(0)->Arg(4096);

}  // namespace
}  // namespace farcall
