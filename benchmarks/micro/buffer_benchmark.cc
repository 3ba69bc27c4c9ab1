// SPDX-License-Identifier: Apache-2.0
//
// What a frame costs before any socket is touched: blocks, slices, serializing.

#include <benchmark/benchmark.h>
#include <google/protobuf/wrappers.pb.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/block_writer.h"
#include "transport/buffer/buffer.h"
#include "transport/buffer/zero_copy_stream.h"

namespace farcall {
namespace {

std::unique_ptr<BlockPool> NewPool() {
  auto pool = BlockPool::Create({});
  Check(pool.ok(), "the default options are valid");
  return *std::move(pool);
}

// Of the size that is asked for, in the calling thread.
void BM_PoolAllocateFree(benchmark::State& state) {
  static const std::unique_ptr<BlockPool> pool = NewPool();
  const auto bytes = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    const BlockRef block = pool->Allocate(bytes);
    benchmark::DoNotOptimize(block.get());
  }
}
BENCHMARK(BM_PoolAllocateFree)->Arg(BlockPool::kSmall)->Arg(BlockPool::kLarge);
BENCHMARK(BM_PoolAllocateFree)->Arg(BlockPool::kSmall)->Threads(2)->UseRealTime();

// As many as a turn may hold before it frees: through the shared list. Per block.
void BM_PoolAllocateFreeMany(benchmark::State& state) {
  const std::unique_ptr<BlockPool> pool = NewPool();
  std::vector<BlockRef> blocks(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    for (BlockRef& block : blocks) block = pool->Allocate(BlockPool::kSmall);
    for (BlockRef& block : blocks) block = BlockRef();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_PoolAllocateFreeMany)->Arg(256);

// Cuts a received block into frames, as a session does. Per frame.
void BM_BufferCutFrames(benchmark::State& state) {
  const std::unique_ptr<BlockPool> pool = NewPool();
  constexpr uint32_t kFrame = 64;
  constexpr int64_t kFrames = BlockPool::kSmall / kFrame;
  for (auto _ : state) {
    Buffer input;
    input.Append(Buffer::Slice{pool->Allocate(BlockPool::kSmall), 0, BlockPool::kSmall});
    while (!input.empty()) {
      char scratch[12];
      benchmark::DoNotOptimize(input.Front(sizeof(scratch), scratch));
      const Buffer frame = input.CutFront(kFrame);
      benchmark::DoNotOptimize(frame.size());
    }
  }
  state.SetItemsProcessed(state.iterations() * kFrames);
}
BENCHMARK(BM_BufferCutFrames);

// A header and an attachment go to the end of a queue, and leave at its front.
void BM_BufferQueueFrame(benchmark::State& state) {
  const std::unique_ptr<BlockPool> pool = NewPool();
  const BlockRef header = pool->Allocate(BlockPool::kSmall);
  const BlockRef attachment = pool->Allocate(BlockPool::kSmall);
  Buffer queue;
  for (int64_t i = 0; i < state.range(0); ++i) {
    queue.Append(header, 0, 64);
    queue.Append(attachment, 0, 4096);
  }
  for (auto _ : state) {
    Buffer frame;
    frame.Append(header, 0, 64);
    frame.Append(attachment, 0, 4096);
    queue.Append(std::move(frame));
    queue.RemoveFront(64 + 4096);
  }
}
BENCHMARK(BM_BufferQueueFrame)->Arg(0)->Arg(8)->Arg(4096);

void BM_BufferShare(benchmark::State& state) {
  const std::unique_ptr<BlockPool> pool = NewPool();
  Buffer buffer;
  for (int64_t i = 0; i < state.range(0); ++i) {
    buffer.Append(Buffer::Slice{pool->Allocate(BlockPool::kSmall), 0, 64});
  }
  for (auto _ : state) {
    const Buffer copy = buffer.Share();
    benchmark::DoNotOptimize(copy.size());
  }
}
BENCHMARK(BM_BufferShare)->Arg(1)->Arg(2)->Arg(16);

void BM_BufferMove(benchmark::State& state) {
  Buffer one(std::string(64, 'x'));
  for (auto _ : state) {
    Buffer other = std::move(one);
    benchmark::DoNotOptimize(other.size());
    one = std::move(other);
  }
}
BENCHMARK(BM_BufferMove);

void BM_BufferAppendCopy(benchmark::State& state) {
  const std::string bytes(static_cast<size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    const Buffer buffer(bytes);
    benchmark::DoNotOptimize(buffer.size());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_BufferAppendCopy)->Arg(64)->Arg(4096)->Arg(1 << 20);

// A turn of 64 small frames into one Buffer, sent at its end. Per frame.
void BM_BlockWriterAppend(benchmark::State& state) {
  const std::unique_ptr<BlockPool> pool = NewPool();
  BlockWriter writer(*pool);
  const std::string frame(64, 'x');
  constexpr int kTurn = 64;
  for (auto _ : state) {
    Buffer out;
    for (int i = 0; i < kTurn; ++i) {
      const bool written = writer.Append(frame, out);
      benchmark::DoNotOptimize(written);
    }
  }
  state.SetItemsProcessed(state.iterations() * kTurn);
}
BENCHMARK(BM_BlockWriterAppend);

google::protobuf::BytesValue MessageOf(int64_t bytes) {
  google::protobuf::BytesValue message;
  message.set_value(std::string(static_cast<size_t>(bytes), 'x'));
  return message;
}

void BM_ZeroCopySerialize(benchmark::State& state) {
  const std::unique_ptr<BlockPool> pool = NewPool();
  const auto message = MessageOf(state.range(0));
  for (auto _ : state) {
    BlockOutputStream stream(*pool, message.ByteSizeLong());
    const bool written = message.SerializeToZeroCopyStream(&stream);
    benchmark::DoNotOptimize(written);
    const Buffer buffer = stream.Take();
    benchmark::DoNotOptimize(buffer.size());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_ZeroCopySerialize)->Arg(32)->Arg(4096)->Arg(1 << 20);

void BM_ZeroCopyParse(benchmark::State& state) {
  const std::unique_ptr<BlockPool> pool = NewPool();
  BlockOutputStream out(*pool, static_cast<size_t>(state.range(0)));
  Check(MessageOf(state.range(0)).SerializeToZeroCopyStream(&out), "the pool is large enough");
  const Buffer buffer = out.Take();
  google::protobuf::BytesValue message;
  for (auto _ : state) {
    BufferInputStream stream(buffer);
    const bool parsed = message.ParseFromZeroCopyStream(&stream);
    benchmark::DoNotOptimize(parsed);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_ZeroCopyParse)->Arg(32)->Arg(4096)->Arg(1 << 20);

}  // namespace
}  // namespace farcall
