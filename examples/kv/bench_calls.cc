// SPDX-License-Identifier: Apache-2.0

#include "examples/kv/bench_calls.h"

#include <cerrno>
#include <random>
#include <utility>
#include <vector>

#include "examples/kv/kv.pb.h"
#include "farcall/coroutine.h"

namespace example {
namespace {

using farcall::bench::CallLoad;
using farcall::bench::CallTally;

char FirstByte(uint64_t number) { return static_cast<char>('a' + number % 26); }

// Every `step`-th value from `first` on, one after the other.
farcall::Task<absl::Status> FillPart(farcall::Channel& channel, const BenchData& data,
                                     uint64_t first, uint64_t step) {
  Kv_Stub stub(&channel);
  for (uint64_t number = first; number < data.keys; number += step) {
    farcall::Controller controller;
    KvPutRequest request;
    KvPutResponse response;
    BenchData::WriteKey(number, *request.mutable_key());
    controller.request_attachment().Append(data.ValueOf(number));
    if (!co_await farcall::CallAsync(stub, &Kv_Stub::Put, &controller, &request, &response)) {
      co_return controller.status();
    }
  }
  co_return absl::OkStatus();
}

// A call that is made again and again, for keys at random.
class GetSlot final : public CallLoad::Slot, public google::protobuf::Closure {
 public:
  GetSlot(farcall::Channel& channel, const BenchData& data, int batch, uint64_t seed,
          CallTally& tally)
      : stub_(&channel),
        data_(data),
        tally_(tally),
        random_(seed),
        numbers_(static_cast<size_t>(batch)) {}

  void Begin(CallLoad& load) override {
    load_ = &load;
    controller_.Reset();
    for (uint64_t& number : numbers_) number = random_() % data_.keys;
    if (numbers_.size() == 1) {
      BenchData::WriteKey(numbers_.front(), *get_.mutable_key());
      return stub_.Get(&controller_, &get_, &got_, this);
    }
    multi_get_.clear_key();
    for (const uint64_t number : numbers_) BenchData::WriteKey(number, *multi_get_.add_key());
    stub_.MultiGet(&controller_, &multi_get_, &multi_got_, this);
  }
  void Run() override {
    if (controller_.Failed()) {
      load_->OnEnd(*this, tally_, controller_.ErrorCode(), controller_.ErrorText());
    } else if (!Right()) {
      load_->OnEnd(*this, tally_, EBADMSG, "an answer is not the value that was put");
    } else {
      load_->OnEnd(*this, tally_, 0, "");
    }
  }

 private:
  bool Right() {
    if (numbers_.size() == 1) {
      const size_t size =
          got_.has_value() ? got_.value().size() : controller_.response_attachment().size();
      return got_.found() && IsValue(numbers_.front(), got_.value(), size);
    }
    if (multi_got_.item_size() != static_cast<int>(numbers_.size())) return false;
    size_t attached = 0;
    for (size_t i = 0; i < numbers_.size(); ++i) {
      const KvMultiGetResponse::Item& item = multi_got_.item(static_cast<int>(i));
      const size_t size = item.has_value() ? item.value().size() : item.attached();
      if (!item.found() || !IsValue(numbers_[i], item.value(), size)) return false;
      attached += item.attached();
    }
    return attached == controller_.response_attachment().size();
  }
  // `text`: empty where the value is attached.
  bool IsValue(uint64_t number, const std::string& text, size_t size) const {
    return size == data_.value_bytes && (text.empty() || text.front() == FirstByte(number));
  }

  Kv_Stub stub_;
  const BenchData& data_;
  CallTally& tally_;
  CallLoad* load_ = nullptr;
  std::minstd_rand random_;
  std::vector<uint64_t> numbers_;
  farcall::Controller controller_;
  KvGetRequest get_;
  KvGetResponse got_;
  KvMultiGetRequest multi_get_;
  KvMultiGetResponse multi_got_;
};

}  // namespace

void BenchData::WriteKey(uint64_t number, std::string& key) {
  key.assign("key-000000000000");
  for (size_t at = key.size(); number != 0 && at > 4; number /= 10) {
    key[--at] = static_cast<char>('0' + number % 10);
  }
}

std::string BenchData::ValueOf(uint64_t number) const {
  return std::string(value_bytes, FirstByte(number));
}

absl::Status Fill(farcall::Channel& channel, const BenchData& data) {
  constexpr uint64_t kSideBySide = 32;
  std::vector<farcall::Task<absl::Status>> parts;
  for (uint64_t part = 0; part < kSideBySide; ++part) {
    parts.push_back(FillPart(channel, data, part, kSideBySide));
  }
  for (absl::Status& status : farcall::SyncWait(farcall::WhenAll(std::move(parts)))) {
    if (!status.ok()) return std::move(status);
  }
  return absl::OkStatus();
}

std::unique_ptr<CallLoad::Slot> MakeGetSlot(farcall::Channel& channel, const BenchData& data,
                                            int batch, uint64_t seed, CallTally& tally) {
  return std::make_unique<GetSlot>(channel, data, batch, seed, tally);
}

}  // namespace example
