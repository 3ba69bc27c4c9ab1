// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_CONTEXT_USE_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_CONTEXT_USE_H_

#include "transport/rdma/verbs/verbs_api.h"

namespace farcall {

// While it lives this process may have objects of a context that librdmacm opened.
// There is one context of a device for all of the process, and so for all its Runtimes. Any
// thread.
class ContextUse {
 public:
  explicit ContextUse(ibv_context* context);
  ContextUse(const ContextUse&) = delete;
  ContextUse& operator=(const ContextUse&) = delete;
  ~ContextUse();

  // VerbsApi's release_context, if it is not in use. The device is gone. False: not now.
  static bool Release(const VerbsApi& api, ibv_context* context);

 private:
  ibv_context* const context_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_CONTEXT_USE_H_
