// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/rdma_peer/client_commands.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "rpc/testing/rdma_peer/exchange.pb.h"

namespace farcall::rdma_peer {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{20};

// Words 1, 2, ... as numbers; false if there are others or some are none.
template <typename... Numbers>
bool Parse(const std::vector<std::string>& words, Numbers*... numbers) {
  if (words.size() != sizeof...(numbers) + 1) return false;
  size_t at = 0;
  return (absl::SimpleAtoi(words[++at], numbers) && ...);
}

// The last word, behind `plain` others, if there is one: bytes attached to each answer.
bool TakeAnswer(size_t plain, std::vector<std::string>& words, CheckedLoad::Plan& plan) {
  if (words.size() != plain + 1) return true;
  if (!absl::SimpleAtoi(words.back(), &plan.answer.emplace())) return false;
  words.pop_back();
  return true;
}

}  // namespace

struct ClientCommands::State {
  size_t rdma = 0;
  size_t tcp = 0;
  size_t failed = 0;
  std::optional<size_t> rails;  // of the connection that has the fewest
  uint64_t fetched = 0;         // by RDMA READ, until what carries the connection changed last
  std::string why;
  std::string device;
  std::string set_up;
  std::string detail;
  std::string over;
  bool all_same_why = true;

  size_t connections() const { return rdma + tcp + failed; }
  void Add(const CheckedCall& call) {
    const auto& info = call.controller.connection();
    const bool first_bad = connections() == rdma && !call.OverRdma();
    const std::string was = why;
    ++(call.controller.Failed() ? failed : call.OverRdma() ? rdma : tcp);
    if (info != nullptr) fetched += info->rdma.fetched;
    const size_t its_rails = info == nullptr ? 0 : info->rails.size();
    rails = std::min(rails.value_or(its_rails), its_rails);
    if (connections() == 1 && info != nullptr) {
      over = absl::StrJoin(info->rails, ",", [](std::string* out, const RailInfo& rail) {
        absl::StrAppend(out, rail.device);
      });
    }
    const bool keep = connections() > 1 && !first_bad;
    std::string now = info == nullptr ? "none" : std::string(Name(info->why_not_rdma));
    if (connections() > 1 && now != was) all_same_why = false;
    if (keep) return;
    why = std::move(now);
    device = info == nullptr ? "" : info->device;
    set_up = info == nullptr ? "" : info->set_up;
    detail = info == nullptr ? "" : info->why_detail;
    if (call.controller.Failed()) detail = call.controller.ErrorText();
  }
  bool Are(absl::string_view what) const {
    if (what == "rdma") return rdma == connections();
    if (what == "tcp") return tcp == connections();
    if (what == "failed") return failed == connections();
    return all_same_why && why == what;
  }
  std::string ToString() const {
    return absl::StrCat("state connections=", connections(), " rdma=", rdma, " tcp=", tcp,
                        " failed=", failed, " why=", why, " device=", device, " set_up=", set_up,
                        " rails=", rails.value_or(0), " fetched=", fetched, " over=", over,
                        " detail=", detail);
  }
};

ClientCommands::ClientCommands(std::string server, const ChannelOptions& options)
    : server_(std::move(server)), options_(options) {}

absl::Status ClientCommands::Open(int connections) {
  load_ = nullptr;
  channels_.clear();
  for (int i = 0; i < connections; ++i) {
    auto channel = Channel::Create(server_, options_);
    if (!channel.ok()) return channel.status();
    channels_.push_back(*std::move(channel));
  }
  return absl::OkStatus();
}

std::string ClientCommands::Do(absl::string_view line) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  const std::string command = words.empty() ? "" : words[0];
  int connections = 0;
  if (command == "calls") return Calls(words);
  if (command == "load") return Load(words);
  if (command == "await") return Await(words);
  if (command == "state") return Look(0, channels_.size()).ToString();
  if (command == "made") return absl::StrCat("made calls=", IdsGiven());
  if (command == "open" && Parse(words, &connections)) {
    const absl::Status opened = Open(connections);
    return opened.ok() ? "opened" : absl::StrCat("error ", opened.ToString());
  }
  if (command == "progress" && load_ != nullptr) {
    return absl::StrCat("progress ", load_->counts().ToString());
  }
  if (command == "stop" && load_ != nullptr) {
    load_->Stop();
    const std::string counts = std::exchange(load_, nullptr)->Wait().ToString();
    return absl::StrCat("done ", counts);
  }
  return absl::StrCat("error what is \"", line, "\"?");
}

std::string ClientCommands::Calls(const std::vector<std::string>& words) {
  CheckedLoad::Plan plan;
  std::vector<std::string> plain = words;
  if (!TakeAnswer(4, plain, plan) ||
      !Parse(plain, &plan.calls_of_each, &plan.attachment, &plan.in_flight) ||
      plan.calls_of_each == 0) {
    return "error calls COUNT BYTES IN_FLIGHT [ANSWER]";
  }
  return absl::StrCat("done ", CheckedLoad(channels_, plan).Wait().ToString());
}

std::string ClientCommands::Load(const std::vector<std::string>& words) {
  CheckedLoad::Plan plan;
  std::vector<std::string> plain = words;
  if (!TakeAnswer(3, plain, plan)) return "error load BYTES IN_FLIGHT [ANSWER]";
  if (plain.size() == 3) {
    const std::pair<std::string, std::string> sizes =
        absl::StrSplit(plain[1], absl::MaxSplits('-', 1));
    plain[1] = sizes.first;
    if (!sizes.second.empty() && (!absl::SimpleAtoi(sizes.second, &plan.most_attachment) ||
                                  plan.most_attachment == 0 || sizes.first == "0")) {
      return "error load LEAST-MOST IN_FLIGHT";
    }
  }
  if (!Parse(plain, &plan.attachment, &plan.in_flight))
    return "error load BYTES IN_FLIGHT [ANSWER]";
  load_ = std::make_unique<CheckedLoad>(channels_, plan);
  return "started";
}

std::string ClientCommands::Await(const std::vector<std::string>& words) {
  int seconds = 0;
  if (words.size() != 3 || !absl::SimpleAtoi(words[2], &seconds)) {
    return "error await WHAT SECONDS";
  }
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  // A look at a thousand connections takes seconds, and keeps them from what is awaited: it ends
  // at the first that is not so, where the next one goes on. The last look is at all.
  size_t so = 0;
  while (std::chrono::steady_clock::now() < limit) {
    while (so < channels_.size() && Look(so, so + 1).Are(words[1])) ++so;
    if (so == channels_.size()) {
      const State state = Look(0, so);
      if (state.Are(words[1])) return state.ToString();
      so = 0;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return Look(0, channels_.size()).ToString();
}

ClientCommands::State ClientCommands::Look(size_t first, size_t end) {
  State state;
  CheckedCall call;
  for (size_t i = first; i < end; ++i) {
    call.Prepare(0);
    Exchange_Stub(channels_[i].get())
        .Call(&call.controller, &call.request, &call.response, nullptr);
    state.Add(call);
  }
  return state;
}

}  // namespace farcall::rdma_peer
