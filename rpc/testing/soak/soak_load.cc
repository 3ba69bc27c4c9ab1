// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/soak/soak_load.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

// Calls of one thread, evenly in time: what is late is made up for, but not more than a second.
class Pace {
 public:
  explicit Pace(Duration between) : between_(between) {}
  void Wait() {
    const TimePoint now = std::chrono::steady_clock::now();
    next_ = std::max(next_ + between_, now - std::chrono::seconds(1));
    std::this_thread::sleep_until(next_);
  }

 private:
  const Duration between_;
  TimePoint next_ = std::chrono::steady_clock::now();
};

std::string Quoted(std::string text) {
  for (char& c : text) {
    if (c == '"' || c == '\\' || !absl::ascii_isprint(static_cast<unsigned char>(c))) c = '\'';
  }
  return absl::StrCat("\"", text, "\"");
}

int64_t Milliseconds(TimePoint time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

void Raise(std::atomic<int64_t>& most, int64_t value) {
  int64_t seen = most;
  while (seen < value && !most.compare_exchange_weak(seen, value)) {
  }
}

}  // namespace

SoakLoad::SoakLoad(const Channels& channels, SoakLedger& ledger, int calls_per_second,
                   uint64_t seed)
    : channels_(channels),
      ledger_(ledger),
      pace_(Duration(std::chrono::seconds(kSynchronous + kAsynchronous)) / calls_per_second) {
  for (int i = 0; i < kSynchronous; ++i) {
    threads_.emplace_back([this, seed, i] { CallSynchronously(seed * 100 + i); });
  }
  for (std::deque<SoakCall>& calls : asynchronous_) {
    for (size_t i = 0; i < kInFlight; ++i) {
      calls.emplace_back([this](SoakCall& call) { OnEnd(call); });
    }
    const uint64_t own_seed = seed * 100 + threads_.size();
    threads_.emplace_back([this, own_seed, &calls] { CallAsynchronously(own_seed, calls); });
  }
}

void SoakLoad::CallSynchronously(uint64_t seed) {
  TestRandom random(seed);
  SoakCall call([this](SoakCall& ended) { OnEnd(ended); });
  for (Pace pace(pace_); !stop_; pace.Wait()) {
    ++synchronous_;
    Start(call, random.Next(), nullptr);
    call.Run();
    --synchronous_;
  }
}

void SoakLoad::CallAsynchronously(uint64_t seed, std::deque<SoakCall>& calls) {
  TestRandom random(seed);
  size_t next = 0;
  for (Pace pace(pace_); !stop_; pace.Wait()) {
    size_t looked = 0;
    while (!calls[next].idle() && ++looked < calls.size()) next = (next + 1) % calls.size();
    if (calls[next].idle()) {
      Start(calls[next], random.Next(), &calls[next]);
    } else {
      ++skipped_;
    }
    next = (next + 1) % calls.size();
  }
}

void SoakLoad::Start(SoakCall& call, uint64_t choice, google::protobuf::Closure* done) {
  using Kind = SoakCall::Kind;
  const bool write = choice % 2 == 0;
  const Kind kind = write ? Kind::kWrite : choice % 4 == 1 ? Kind::kBackedRead : Kind::kRead;
  call.Prepare(kind, write ? ledger_.Begin() : next_read_++, choice >> 8);
  soak::Soak_Stub stub(write ? &channels_.writes : &channels_.reads);
  if (write) {
    stub.Write(&call.controller, &call.request, &call.response, done);
  } else {
    stub.Read(&call.controller, &call.request, &call.response, done);
  }
}

void SoakLoad::OnEnd(SoakCall& call) {
  const bool write = call.kind() == SoakCall::Kind::kWrite;
  const bool failed = call.controller.Failed();
  ++(write ? writes_ : reads_);
  if (write) ledger_.End(call.request.id(), !failed);
  retried_ += call.controller.retried_count();
  backed_up_ += call.controller.has_backup_request();
  Raise(
      longest_us_,
      std::chrono::duration_cast<std::chrono::microseconds>(call.ended() - call.started()).count());
  if (!failed) {
    wrong_ += !call.Answered();
    return;
  }
  ++(write ? failed_writes_ : failed_reads_);
  LogFailure(call);
}

void SoakLoad::LogFailure(const SoakCall& call) {
  if (++failure_lines_ > kMaxFailureLines) return;
  const bool write = call.kind() == SoakCall::Kind::kWrite;
  std::printf("%s\n", absl::StrCat("{\"failed\":", write ? "\"write\"" : "\"read\"", ",\"id\":",
                                   call.request.id(), ",\"code\":", call.controller.ErrorCode(),
                                   ",\"text\":", Quoted(call.controller.ErrorText()),
                                   ",\"remote\":", Quoted(call.controller.remote_side()),
                                   ",\"retried\":", call.controller.retried_count(),
                                   ",\"start_ms\":", Milliseconds(call.started()),
                                   ",\"end_ms\":", Milliseconds(call.ended()), "}")
                          .c_str());
  std::fflush(stdout);
}

int SoakLoad::InFlight() const {
  int count = synchronous_;
  for (const std::deque<SoakCall>& calls : asynchronous_) {
    for (const SoakCall& call : calls) count += !call.idle();
  }
  return count;
}

int SoakLoad::EndedTwice() const {
  int count = 0;
  for (const std::deque<SoakCall>& calls : asynchronous_) {
    for (const SoakCall& call : calls) count += call.ended_twice();
  }
  return count;
}

bool SoakLoad::WaitForNone(TimePoint limit) const {
  while (InFlight() > 0) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

bool SoakLoad::Stop(std::chrono::seconds timeout) {
  stop_ = true;
  const TimePoint limit = std::chrono::steady_clock::now() + timeout;
  // Those that wait for a call end with it.
  if (!WaitForNone(limit)) return false;
  for (std::thread& thread : threads_) thread.join();
  // One that was being made just then.
  return WaitForNone(limit);
}

std::string SoakLoad::Report() const {
  return absl::StrCat("{\"reads\":", reads_.load(), ",\"failed_reads\":", failed_reads_.load(),
                      ",\"writes\":", writes_.load(), ",\"failed_writes\":", failed_writes_.load(),
                      ",\"wrong\":", wrong_.load(), ",\"retried\":", retried_.load(),
                      ",\"backed_up\":", backed_up_.load(), ",\"skipped\":", skipped_.load(),
                      ",\"longest_ms\":", longest_us_.load() / 1000, ",\"in_flight\":", InFlight(),
                      ",\"ended_twice\":", EndedTwice(), "}");
}

}  // namespace farcall
