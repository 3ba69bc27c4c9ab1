// SPDX-License-Identifier: Apache-2.0

#include "transport/link/connection/brpc_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace farcall {

void BrpcStream::Start(Connection::Handler& handler, bool paused) {
  handler_ = &handler;
  if (paused) parts_.rdma->PauseRead();
  parts_.rdma->Start(*this);
}

void BrpcStream::OnLifelineRead(Buffer& input) {
  if (input.empty()) return;
  const absl::Status breach = absl::InvalidArgumentError(
      absl::StrCat("the brpc peer ", parts_.lifeline.info().peer.ToString(), " sent ", input.size(),
                   " bytes by TCP, which carries nothing beside RDMA"));
  input.Clear();
  parts_.rdma->Close(breach, CloseMode::kAbort);
}

void BrpcStream::OnLifelineEnd(const absl::Status& why) {
  if (rdma_end_) {
    const absl::Status reason = *rdma_end_;
    return parts_.on_end(reason);
  }
  lifeline_end_ = why;
  parts_.pair->EndOfPeer();
}

void BrpcStream::Close(absl::Status why, CloseMode mode) {
  if (rdma_end_) {
    // Only the lifeline is left, which may wait for the peer's end.
    if (mode != CloseMode::kAbort || mode_ == mode) return;
    mode_ = mode;
    rdma_end_ = why;
    return parts_.lifeline.Close(std::move(why), mode);
  }
  closing_ = true;
  mode_ = mode;
  parts_.rdma->Close(std::move(why), mode);
}

// Its end in order is the lifeline's, behind the last byte.
void BrpcStream::OnClose(const absl::Status& why) {
  if (lifeline_end_) {
    const absl::Status reason = closing_ ? why : *lifeline_end_;
    return parts_.on_end(reason);
  }
  rdma_end_ = why;
  parts_.lifeline.Close(why, mode_);
}

void BrpcStream::Describe(ConnectionInfo& info) const {
  ConnectionInfo rdma = parts_.rdma->info();
  rdma.local = info.local;
  rdma.peer = info.peer;
  info = std::move(rdma);
}

}  // namespace farcall
