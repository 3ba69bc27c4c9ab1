// SPDX-License-Identifier: Apache-2.0

#include "examples/attachment/disk_calls.h"

#include <cerrno>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "examples/attachment/block_store.pb.h"

namespace example {
namespace {

using farcall::bench::CallLoad;
using farcall::bench::CallTally;

class DiskSlot final : public CallLoad::Slot, public google::protobuf::Closure {
 public:
  DiskSlot(farcall::Channel& channel, const DiskJob& job, std::atomic<uint64_t>& next,
           farcall::Buffer written, uint64_t seed, std::span<CallTally> tallies)
      : stub_(&channel),
        job_(job),
        next_(next),
        written_(std::move(written)),
        random_(seed),
        tallies_(tallies) {}

  void Begin(CallLoad& load) override {
    load_ = &load;
    controller_.Reset();
    kind_ = static_cast<int>(random_() % 100) < job_.read_percent ? kRead : kWrite;
    const uint64_t places = job_.blocks / job_.blocks_at_once;
    const uint64_t place = job_.random ? random_() : next_.fetch_add(1, std::memory_order_relaxed);
    const uint64_t block = place % places * job_.blocks_at_once;
    if (kind_ == kRead) {
      read_.set_block(block);
      read_.set_count(job_.blocks_at_once);
      return stub_.Read(&controller_, &read_, &was_read_, this);
    }
    write_.set_block(block);
    controller_.request_attachment() = written_.Share();
    stub_.Write(&controller_, &write_, &was_written_, this);
  }
  void Run() override {
    CallTally& tally = tallies_[kind_];
    if (controller_.Failed()) {
      return load_->OnEnd(*this, tally, controller_.ErrorCode(), controller_.ErrorText());
    }
    const bool whole =
        kind_ == kWrite || controller_.response_attachment().size() == job_.bytes_per_call();
    load_->OnEnd(*this, tally, whole ? 0 : EBADMSG,
                 whole ? "" : "a read came back with another size");
  }

 private:
  BlockStore_Stub stub_;
  const DiskJob& job_;
  std::atomic<uint64_t>& next_;
  const farcall::Buffer written_;
  std::minstd_rand random_;
  const std::span<CallTally> tallies_;
  CallLoad* load_ = nullptr;
  DiskKind kind_ = kRead;
  farcall::Controller controller_;
  ReadRequest read_;
  ReadResponse was_read_;
  WriteRequest write_;
  WriteResponse was_written_;
};

}  // namespace

absl::StatusOr<DiskJob> DiskJob::Of(const std::string& rw, int mix) {
  DiskJob job;
  job.rw = rw;
  job.random = rw.compare(0, 4, "rand") == 0;
  const std::string direction = job.random ? rw.substr(4) : rw;
  if (direction == "read") {
    job.read_percent = 100;
  } else if (direction == "rw") {
    job.read_percent = mix;
  } else if (direction != "write") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--rw is one or more of read, write, rw, randread, randwrite and randrw, not \"", rw,
        "\""));
  }
  return job;
}

std::unique_ptr<CallLoad::Slot> MakeDiskSlot(farcall::Channel& channel, const DiskJob& job,
                                             std::atomic<uint64_t>& next, farcall::Buffer written,
                                             uint64_t seed, std::span<CallTally> tallies) {
  return std::make_unique<DiskSlot>(channel, job, next, std::move(written), seed, tallies);
}

}  // namespace example
