// SPDX-License-Identifier: Apache-2.0
//
// For the tests of naming: a loop that the test turns by hand, in the time that it says, and
// without another thread. One thread.

#ifndef FARCALL_RPC_NAMING_NAMING_TESTING_H_
#define FARCALL_RPC_NAMING_NAMING_TESTING_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rpc/naming/naming.h"
#include "rpc/runtime_parts.h"
#include "transport/base/clock.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_testing.h"

namespace farcall {

// "10.0.0.1:80 weight tag", "name:80", with commas between; or the error.
inline std::string Text(const absl::StatusOr<Naming::Nodes>& nodes) {
  if (!nodes.ok()) return nodes.status().ToString();
  return absl::StrJoin(*nodes, ",", [](std::string* out, const ServerNode& node) {
    const bool named = node.address.family() == AddressFamily::kNone;
    absl::StrAppend(out, named ? node.host : node.address.ToString());
    if (node.weight != 1) absl::StrAppend(out, " ", node.weight);
    if (!node.tag.empty()) absl::StrAppend(out, " ", node.tag);
  });
}

class NamingWorld {
 public:
  NamingWorld() {
    parts.clock = &clock;
    parts.run_blocking = [this](std::function<void()> work) {
      if (refuse_blocking) return false;
      blocking.push_back(std::move(work));
      return true;
    };
    parts.log = [this](LogSeverity, absl::string_view line) { log.emplace_back(line); };
  }
  ~NamingWorld() {
    Stop();
    Run();
  }

  // `start` makes a naming that tells what it is given.
  void Start(const std::function<std::unique_ptr<Naming>(Naming::OnNodes)>& start) {
    Hold([&] {
      naming = start([this](absl::StatusOr<Naming::Nodes> nodes) {
        published.push_back(Text(nodes));
        hosts.clear();
        if (nodes.ok()) {
          for (const ServerNode& node : *nodes) hosts.push_back(node.host);
        }
        if (on_published) on_published();
      });
      EXPECT_TRUE(published.empty()) << "nothing is published from inside Start";
    });
  }
  void Stop() {
    Hold([this] { naming.reset(); });
  }
  void Refresh() {
    Hold([this] { naming->Refresh(); });
    Run();
  }
  // With the loop held, after all that waits.
  void Hold(const std::function<void()>& work) {
    while (!loop->TryRun(work)) loop->RunOnce();
  }
  // Until there is nothing to do at this time.
  void Run() {
    bool busy = true;
    while (busy) {
      busy = loop->RunOnce();
      for (const auto& work : std::exchange(blocking, {})) {
        work();
        busy = true;
      }
      if (serve && serve()) busy = true;
    }
  }
  void Advance(Duration by) {
    clock.Advance(by);
    Run();
  }
  // What was published since the last time, with "; " between.
  std::string TakePublished() { return absl::StrJoin(std::exchange(published, {}), "; "); }
  int Logged(absl::string_view part) const {
    return static_cast<int>(std::count_if(log.begin(), log.end(), [&](const std::string& line) {
      return line.find(std::string(part)) != std::string::npos;
    }));
  }

  ManualClock clock;
  std::unique_ptr<EventLoop> loop = *EventLoop::Create(clock);
  std::vector<std::function<void()>> blocking;
  bool refuse_blocking = false;
  std::function<bool()> serve;  // something else that Run drives; true: it did something
  RuntimeParts parts;
  std::vector<std::string> log;
  std::vector<std::string> published;
  std::vector<std::string> hosts;  // of the nodes published last
  std::function<void()> on_published;
  std::unique_ptr<Naming> naming;
};

// A directory of the test's own.
class TestDirectory {
 public:
  TestDirectory() {
    std::string made = absl::StrCat(::testing::TempDir(), "/naming.XXXXXX");
    EXPECT_NE(::mkdtemp(made.data()), nullptr);
    path_ = made;
  }
  ~TestDirectory() {
    for (auto file = made_.rbegin(); file != made_.rend(); ++file) std::remove(file->c_str());
    ::rmdir(path_.c_str());
  }
  std::string Path(absl::string_view name) const { return absl::StrCat(path_, "/", name); }

  // Written in place, and so long ago that it is taken at once.
  void Write(absl::string_view name, absl::string_view text,
             std::chrono::seconds age = std::chrono::seconds(100)) {
    std::ofstream(Note(name)) << text;
    SetAge(name, age);
  }
  void SetAge(absl::string_view name, std::chrono::seconds age) {
    timespec now{};
    ASSERT_EQ(::clock_gettime(CLOCK_REALTIME, &now), 0);
    const timespec modified{now.tv_sec - age.count(), now.tv_nsec};
    const timespec times[] = {modified, modified};
    ASSERT_EQ(::utimensat(AT_FDCWD, Path(name).c_str(), times, 0), 0);
  }
  void Rename(absl::string_view from, absl::string_view to) {
    ASSERT_EQ(::rename(Path(from).c_str(), Note(to).c_str()), 0);
  }
  void Link(absl::string_view target, absl::string_view name) {
    ASSERT_EQ(::symlink(std::string(target).c_str(), Note(name).c_str()), 0);
  }
  void MakeDirectory(absl::string_view name) { ASSERT_EQ(::mkdir(Note(name).c_str(), 0755), 0); }
  void Remove(absl::string_view name) { ASSERT_EQ(std::remove(Path(name).c_str()), 0); }

 private:
  std::string Note(absl::string_view name) {
    made_.push_back(Path(name));
    return made_.back();
  }

  std::string path_;
  std::vector<std::string> made_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_NAMING_TESTING_H_
