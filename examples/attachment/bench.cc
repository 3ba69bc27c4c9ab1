// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes blocks of a block store as fio does those of a disk: a closed loop of so many
// calls under way, and latencies as fio names them.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/common/load_run.h"
#include "examples/attachment/block_store.pb.h"
#include "examples/attachment/disk_calls.h"
#include "examples/attachment/disk_report.h"
#include "farcall/runtime.h"
#include "farcall/setting_flags.h"
#include "farcall/settled_connection.h"

ABSL_FLAG(std::string, server, "127.0.0.1:8003", "host:port, ip:port, [v6]:port or unix:PATH");
ABSL_FLAG(bool, use_rdma, true, "prefer RDMA; TCP carries the calls where it cannot be had");
ABSL_FLAG(std::vector<std::string>, rw, (std::vector<std::string>{"randread", "randwrite"}),
          "read, write, rw, randread, randwrite or randrw; several run one after the other");
ABSL_FLAG(int, rwmixread, 50, "percent of reads in rw and randrw");
ABSL_FLAG(std::vector<std::string>, iodepth, (std::vector<std::string>{"1", "32"}),
          "calls under way on each connection; several run one after the other");
ABSL_FLAG(int, numjobs, 1, "connections");
ABSL_FLAG(uint32_t, bs, 0, "bytes of a call, a multiple of the block size; 0: one block");
ABSL_FLAG(double, runtime, 3, "seconds, of each job");
ABSL_FLAG(double, ramp_time, 0.5, "seconds of load before that");

namespace {

using farcall::Channel;
using farcall::bench::LoadOutcome;
using farcall::bench::LoadPlan;

struct Disk {
  std::vector<std::unique_ptr<Channel>> channels;
  example::InfoResponse info;
  std::string carrier;  // "tcp", and why not rdma
};

// The connection is settled before anything is measured.
absl::Status Open(farcall::Runtime& runtime, Disk& disk) {
  farcall::ChannelOptions options;
  options.runtime = &runtime;
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  options.timeout_ms = 10'000;
  options.connect_timeout_ms = 5000;
  options.max_retry = 0;
  for (int i = 0; i < std::max(1, absl::GetFlag(FLAGS_numjobs)); ++i) {
    auto channel = Channel::Create(absl::GetFlag(FLAGS_server), options);
    if (!channel.ok()) return channel.status();
    absl::Status asked;
    example::BlockStore_Stub stub(channel->get());
    const auto connection = farcall::SettledConnection(
        [&](farcall::Controller& controller) {
          example::InfoRequest request;
          stub.Info(&controller, &request, &disk.info, nullptr);
          asked = controller.status();
        },
        std::chrono::seconds(15));
    if (!connection.ok()) return connection.status();
    if (!asked.ok()) return asked;
    disk.carrier = std::string(ToString((*connection)->transport));
    if (options.use_rdma && disk.carrier != "rdma") {
      absl::StrAppend(&disk.carrier, " (not rdma: ", Explain((*connection)->why_not_rdma), ")");
    }
    disk.channels.push_back(*std::move(channel));
  }
  return absl::OkStatus();
}

absl::StatusOr<example::DiskJob> MakeJob(const Disk& disk, const std::string& rw) {
  const int mix = absl::GetFlag(FLAGS_rwmixread);
  if (mix < 0 || mix > 100) return absl::InvalidArgumentError("--rwmixread is 0 to 100");
  absl::StatusOr<example::DiskJob> job = example::DiskJob::Of(rw, mix);
  if (!job.ok()) return job.status();
  job->block_bytes = disk.info.block_bytes();
  job->blocks = disk.info.blocks();
  const uint32_t bs = absl::GetFlag(FLAGS_bs) == 0 ? job->block_bytes : absl::GetFlag(FLAGS_bs);
  job->blocks_at_once = bs / job->block_bytes;
  if (bs % job->block_bytes != 0 || job->blocks_at_once > disk.info.most_blocks() ||
      job->blocks_at_once > job->blocks) {
    return absl::InvalidArgumentError(
        absl::StrCat("--bs is a multiple of ", job->block_bytes, ", at most ",
                     std::min<uint64_t>(disk.info.most_blocks(), job->blocks), " times"));
  }
  return job;
}

// True: no call failed.
absl::StatusOr<bool> RunJob(farcall::Runtime& runtime, const Disk& disk,
                            const example::DiskJob& job, int depth) {
  // Registered memory, which RDMA sends from as it is.
  absl::StatusOr<farcall::Buffer> written = runtime.AllocateBuffer(job.bytes_per_call());
  if (!written.ok()) return written.status();
  const std::string bytes(job.bytes_per_call(), 'w');
  written->CopyFrom(bytes.data(), bytes.size());
  LoadPlan plan;
  plan.loads = static_cast<int>(disk.channels.size());
  plan.slots = depth * plan.loads;
  plan.warmup = LoadPlan::Seconds(absl::GetFlag(FLAGS_ramp_time));
  plan.measured = LoadPlan::Seconds(absl::GetFlag(FLAGS_runtime));
  plan.kinds = example::kDiskKinds;
  std::atomic<uint64_t> next{0};
  uint64_t seed = 1;
  plan.make = [&](int load, std::span<farcall::bench::CallTally> tallies) {
    return example::MakeDiskSlot(*disk.channels[static_cast<size_t>(load)], job, next,
                                 written->Share(), seed++, tallies);
  };
  std::printf("%s: bs=%zuB, iodepth=%d, numjobs=%d, over %s\n", job.rw.c_str(),
              job.bytes_per_call(), depth, plan.loads, disk.carrier.c_str());
  const LoadOutcome outcome = RunLoad(plan);
  bool well = true;
  for (const auto& [kind, name] : {std::pair{example::kRead, "read"}, {example::kWrite, "write"}}) {
    if (kind == example::kRead ? job.read_percent == 0 : job.read_percent == 100) continue;
    const farcall::bench::CallCounts& counts = outcome.kinds[kind];
    std::printf(
        "%s",
        example::DiskReport(name, job.bytes_per_call(), outcome.measured.count(), counts).c_str());
    well &= counts.failed() == 0;
  }
  std::fflush(stdout);
  return well;
}

absl::StatusOr<bool> RunAll() {
  farcall::RuntimeOptions runtime_options;
  runtime_options.event_loops = 1;  // unless --event_loops says otherwise
  runtime_options.log = [](farcall::LogSeverity, absl::string_view) {};
  const auto runtime = farcall::Runtime::Create(runtime_options);
  if (!runtime.ok()) return runtime.status();
  Disk disk;
  if (absl::Status status = Open(**runtime, disk); !status.ok()) return status;
  bool well = true;
  for (const std::string& rw : absl::GetFlag(FLAGS_rw)) {
    const auto job = MakeJob(disk, rw);
    if (!job.ok()) return job.status();
    for (const std::string& depth_text : absl::GetFlag(FLAGS_iodepth)) {
      int depth = 0;
      if (!absl::SimpleAtoi(depth_text, &depth) || depth < 1 || depth > 65536) {
        return absl::InvalidArgumentError("--iodepth is 1 to 65536, or several of these");
      }
      const auto ran = RunJob(**runtime, disk, *job, depth);
      if (!ran.ok()) return ran.status();
      well &= *ran;
    }
  }
  return well;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("reads and writes blocks of example.BlockStore as fio would");
  farcall::TakeSettingFlags(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  const absl::StatusOr<bool> well = RunAll();
  if (!well.ok()) std::fprintf(stderr, "block_bench: %s\n", well.status().ToString().c_str());
  return well.ok() && *well ? 0 : 1;
}
