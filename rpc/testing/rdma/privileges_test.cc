// SPDX-License-Identifier: Apache-2.0
//
// A process that gives up its privileges while it serves: what is open stays in use, and what it
// lacks from then on is shown as the reason, while calls go on over TCP.

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/large_attachments.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/rdma/stepped_rdma.h"
#include "transport/base/check.h"
#include "transport/base/unique_fd.h"
#include "transport/rdma/testing/fault_run.h"

namespace farcall {
namespace {

constexpr char kAddress[] = "10.0.0.1:80";
constexpr Duration kSoon = std::chrono::seconds(20);
constexpr uid_t kNobody = 65534;

// Of this thread alone: setresuid(3) would do it for all of the process, its system call does not
// (credentials(7)). Where this user namespace has no other user it stays who it is, without
// capabilities: then files that their owner may not open are closed to it, too.
void GiveUpPrivileges() {
  static_cast<void>(::syscall(SYS_setgroups, 0, nullptr));
  static_cast<void>(::syscall(SYS_setresgid, kNobody, kNobody, kNobody));
  static_cast<void>(::syscall(SYS_setresuid, kNobody, kNobody, kNobody));
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  Check(::syscall(SYS_capset, &header, none) == 0, "capabilities may be given up");
}

class PrivilegesTest : public testing::Test {
 protected:
  PrivilegesTest() : root_(testing::TempDir() + "/privileges") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/dev");
    std::filesystem::create_directories(root_ + "/class/infiniband/fakeA");
    for (const char* const name : {"uverbs0", "uverbs1", "uverbs2", "rdma_cm"}) {
      const std::string path = absl::StrCat(root_, "/dev/", name);
      std::ofstream(path).close();
      Check(::chmod(path.c_str(), 0) == 0, "a file's owner changes its mode");
    }
    Check(::getrlimit(RLIMIT_MEMLOCK, &memlock_) == 0, "a process has limits");
  }
  ~PrivilegesTest() override {
    Check(::setrlimit(RLIMIT_MEMLOCK, &memlock_) == 0, "a limit may be what it was");
    std::filesystem::remove_all(root_);
  }

  // Both hosts live in the thread that runs this, which is what has the privileges.
  void Live() {
    hosts_ = std::make_unique<SteppedRdma>([this](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      SmallRdma(fabric, rig);
      rig.view.sys_class = root_ + "/class";
      rig.view.dev_directory = root_ + "/dev";
    });
    ServerOptions options = WithRdma(Inline());
    options.runtime = &hosts_->server().runtime();
    server_ = std::make_unique<Server>();
    ASSERT_TRUE(server_->AddService(&service_, SERVER_DOESNT_OWN_SERVICE).ok());
    ASSERT_TRUE(server_->Start(kAddress, options).ok());
    channel_ = OpenChannel(kAddress, hosts_->client().runtime(), WithRdma(Patient()));
    ASSERT_TRUE(ComeTo("rdma fakeB in_use")) << Logs();
    GiveUpPrivileges();
    // It is as it is said to be.
    const std::string file = root_ + "/dev/uverbs0";
    ASSERT_FALSE(UniqueFd(::open(file.c_str(), O_RDWR | O_CLOEXEC)).valid());
    ASSERT_EQ(errno, EACCES);
  }
  void End() {
    channel_.reset();
    if (server_ != nullptr) hosts_->Stop(std::move(server_));
    EXPECT_EQ(hosts_->End(), "");
  }
  // The server's word for what carries a call with an attachment.
  std::string Call() {
    for (const size_t attachment : {size_t{0}, size_t{100} << 10}) {
      TestCall call(attachment == 0 ? kWhere : "bytes");
      call.controller.request_attachment().Append(PatternBytes(attachment));
      call.Start(*channel_);
      EXPECT_TRUE(hosts_->Until([&] { return call.ends() > 0; }, kSoon));
      EXPECT_FALSE(call.controller.Failed()) << call.Error();
      if (attachment == 0) where_ = call.response.message();
    }
    return where_;
  }
  bool ComeTo(absl::string_view where) {
    const TimePoint begin = hosts_->now();
    while (Call() != where) {
      if (hosts_->now() > begin + kSoon) return false;
      hosts_->RunFor(std::chrono::milliseconds(100));
    }
    return true;
  }
  void UnplugAll() {
    for (const char* const device : {"fakeA", "fakeB", "fakeC"}) {
      faults().RemoveDevice(device, /*flush=*/true);
    }
    EXPECT_TRUE(hosts_->Until(
        [&] { return !faults().RemovalPending("fakeA") && !faults().RemovalPending("fakeB"); },
        kSoon))
        << Logs();
  }
  void PlugAll() {
    for (const char* const device : {"fakeA", "fakeB", "fakeC"}) {
      EXPECT_TRUE(faults().AddDevice(device));
    }
  }
  bool LogContains(absl::string_view text) {
    return hosts_->Until([&] { return absl::StrContains(Logs(), text); }, kSoon);
  }
  FakeFaults& faults() { return hosts_->fabric().faults(); }
  std::string Logs() { return hosts_->client().Log() + hosts_->server().Log(); }

  const std::string root_;
  rlimit memlock_{};
  std::unique_ptr<SteppedRdma> hosts_;
  ScriptedService service_{EchoOrWhere};
  std::unique_ptr<Server> server_;
  std::unique_ptr<Channel> channel_;
  std::string where_;
};

class UnprivilegedDevice : public PrivilegesTest {
 protected:
  void Run() {
    Live();
    if (HasFatalFailure()) return End();
    EXPECT_EQ(Call(), "rdma fakeB in_use") << "what is open stays in use";
    UnplugAll();
    for (const char* const device : {"fakeA", "fakeB", "fakeC"}) {
      faults().SetPermitted(device, false);
    }
    PlugAll();
    EXPECT_TRUE(LogContains("device_not_permitted")) << Logs();
    EXPECT_TRUE(LogContains(absl::StrCat("fakeA: ", root_, "/dev/uverbs0: Permission denied")))
        << Logs();
    EXPECT_FALSE(absl::StartsWith(Call(), "rdma")) << where_;
    // And back, with the group of the files, say.
    for (const char* const device : {"fakeA", "fakeB", "fakeC"})
      faults().SetPermitted(device, true);
    EXPECT_TRUE(ComeTo("rdma fakeB in_use")) << where_ << Logs();
    End();
  }
};

TEST_F(UnprivilegedDevice, ThatComesBackIsNamedAndCallsGoOn) {
  std::thread([this] { Run(); }).join();
}

class UnprivilegedMemory : public PrivilegesTest {
 protected:
  void Run() {
    Live();
    if (HasFatalFailure()) return End();
    rlimit small = memlock_;
    small.rlim_cur = std::min<rlim_t>(memlock_.rlim_max, 65536);
    ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &small), 0);
    // As the kernel has it: what is locked stays, and no more may be.
    for (const char* const device : {"fakeA", "fakeB"}) {
      faults().SetMemlock(device, small.rlim_cur);
    }
    EXPECT_EQ(Call(), "rdma fakeB in_use");
    UnplugAll();
    PlugAll();
    EXPECT_TRUE(LogContains("memlock")) << Logs();
    EXPECT_TRUE(LogContains(absl::StrCat(small.rlim_cur, " are allowed"))) << Logs();
    EXPECT_FALSE(absl::StartsWith(Call(), "rdma")) << where_;
    ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &memlock_), 0);
    for (const char* const device : {"fakeA", "fakeB"}) faults().SetMemlock(device, UINT64_MAX);
    EXPECT_TRUE(ComeTo("rdma fakeB in_use")) << where_ << Logs();
    End();
  }
};

TEST_F(UnprivilegedMemory, IsToldWithBothNumbersAndCallsGoOn) {
  std::thread([this] { Run(); }).join();
}

}  // namespace
}  // namespace farcall
