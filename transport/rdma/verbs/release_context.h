// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_VERBS_RELEASE_CONTEXT_H_
#define FARCALL_TRANSPORT_RDMA_VERBS_RELEASE_CONTEXT_H_

#include <infiniband/verbs.h>

namespace farcall {

// Ends what the kernel has of a context that librdmacm opened: librdmacm keeps the context, in
// which every later call fails with EBADF.
//
// librdmacm (44) closes the context of a device that is gone only when ibv_get_device_list(3)
// shows it another device. Where it was the host's only one the context stays open, and with a
// driver that cannot take a device from under its users (rxe and siw cannot, mlx5 can) the
// kernel's removal waits for that as long as the process lives. Nothing of librdmacm's reaches
// the context; closing its descriptors would let other files take their numbers, which
// librdmacm closes one day. So the numbers are kept: each of them becomes a second descriptor
// of "/" that was opened with O_PATH, on which read, write, ioctl and mmap are EBADF, open(2).
// What librdmacm does with the context later, when a device comes, is to free its memory and to
// close both. It may leak the few bytes of its ibv_pd, whose deallocation fails.
//
// The device is gone, and no object of the context's is left. 0, or an errno, and then nothing
// was done: EBUSY if the process has memory of the device mapped, which is another library's
// queues; or what open and readlink say.
int ReleaseContext(ibv_context* context);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_VERBS_RELEASE_CONTEXT_H_
