// SPDX-License-Identifier: Apache-2.0
//
// On files that are no devices. The kernel's part is in tools/rdma_vm_tests/breakage.py.

#include "transport/rdma/verbs/release_context.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "transport/base/check.h"
#include "transport/base/unique_fd.h"

namespace farcall {
namespace {

// A file whose other end tells when its last descriptor is gone.
struct Watched {
  Watched() {
    std::array<int, 2> ends;
    Check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0, "a pair");
    fd = UniqueFd(ends[0]);
    other = UniqueFd(ends[1]);
  }
  bool released() const {
    char byte;
    return read(other.get(), &byte, 1) == 0;
  }

  UniqueFd fd;
  UniqueFd other;
};

TEST(ReleaseContextTest, FilesAreReleasedAndTheirNumbersStayTaken) {
  Watched commands;
  Watched events;
  ibv_context context{};
  context.cmd_fd = commands.fd.get();
  context.async_fd = events.fd.get();
  EXPECT_FALSE(commands.released());
  ASSERT_EQ(ReleaseContext(&context), 0);
  EXPECT_TRUE(commands.released());
  EXPECT_TRUE(events.released());
  for (const int fd : {context.cmd_fd, context.async_fd}) {
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    char byte = 0;
    int bytes = 0;
    EXPECT_EQ(read(fd, &byte, 1), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(write(fd, &byte, 1), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(ioctl(fd, FIONREAD, &bytes), -1);
    EXPECT_EQ(errno, EBADF);
  }
  // As librdmacm does when it frees the context; and once more, since a look may come again.
  EXPECT_EQ(ReleaseContext(&context), 0);
}

TEST(ReleaseContextTest, WhatSomebodyHasMappedIsLeftAlone) {
  const std::string path = testing::TempDir() + "/device";
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  Watched events;
  ASSERT_TRUE(file.valid());
  ASSERT_EQ(ftruncate(file.get(), 4096), 0);
  ibv_context context{};
  context.cmd_fd = file.get();
  context.async_fd = events.fd.get();
  void* const queue = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0);
  ASSERT_NE(queue, MAP_FAILED);
  EXPECT_EQ(ReleaseContext(&context), EBUSY);
  // As the node of a device that is gone.
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ(ReleaseContext(&context), EBUSY);
  EXPECT_FALSE(events.released());
  EXPECT_EQ(ftruncate(file.get(), 4096), 0);
  munmap(queue, 4096);
  EXPECT_EQ(ReleaseContext(&context), 0);
  EXPECT_TRUE(events.released());
}

TEST(ReleaseContextTest, WhatIsNoDescriptorIsAnError) {
  ibv_context context{};
  context.cmd_fd = context.async_fd = -1;
  EXPECT_EQ(ReleaseContext(&context), ENOENT);
}

}  // namespace
}  // namespace farcall
