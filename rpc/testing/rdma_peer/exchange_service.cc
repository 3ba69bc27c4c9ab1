// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/rdma_peer/exchange_service.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/closure.h"
#include "rpc/controller.h"
#include "rpc/testing/rdma_peer/pattern_bytes.h"

namespace farcall::rdma_peer {
namespace {

bool OnLoopThread() {
  char name[16] = "";
  return prctl(PR_GET_NAME, name) == 0 && absl::string_view(name) == "farcall-loop";
}

// Of the page that has this byte, which was touched; negative: not known.
int NodeOf(const char* byte) {
  const void* page = byte;
  int node = -1;
  return syscall(SYS_move_pages, 0, 1UL, &page, nullptr, &node, 0) == 0 ? node : -1;
}

}  // namespace

std::string ExchangeService::Counts::ToString() const {
  return absl::StrCat("calls=", calls, " wrong=", wrong, " doubled=", doubled, " rdma=", rdma,
                      " tcp=", tcp);
}

void ExchangeService::Call(google::protobuf::RpcController* rpc_controller,
                           const ExchangeRequest* request, ExchangeResponse* response,
                           google::protobuf::Closure* done) {
  const ClosureGuard answer(done);
  auto& controller = static_cast<Controller&>(*rpc_controller);
  Buffer& attachment = controller.request_attachment();
  const uint64_t id = request->id();
  const bool right =
      request->text() == PatternText(id) && IsPattern(attachment, id, attachment.size());
  const auto& connection = controller.connection();
  NoteNodes(controller);
  Count(id, right, connection != nullptr && connection->transport == TransportKind::kRdma);
  response->set_id(id);
  response->set_text(PatternText(~id));
  if (request->has_answer()) {
    controller.response_attachment() = PatternBuffer(~id, request->answer());
  } else {
    controller.response_attachment() =
        id % 2 == 1 ? std::move(attachment) : PatternBuffer(~id, attachment.size());
  }
}

void ExchangeService::NoteNodes(const Controller& controller) {
  const auto& connection = controller.connection();
  unsigned int node = 0;
  if (connection == nullptr || !OnLoopThread() || getcpu(nullptr, &node) != 0) return;
  const std::string carrier = connection->device.empty() ? "tcp" : connection->device;
  const std::lock_guard<std::mutex> lock(mutex_);
  // A Buffer is read without being changed; only its owner has no const way to it.
  for (const auto& slice : const_cast<Controller&>(controller).request_attachment().slices()) {
    ++nodes_[absl::StrCat(carrier, "/", node, "/", NodeOf(slice.view().data()))];
  }
}

std::string ExchangeService::Nodes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string text;
  for (const auto& [place, blocks] : nodes_) absl::StrAppend(&text, " ", place, "=", blocks);
  return text;
}

ExchangeService::Counts ExchangeService::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

void ExchangeService::Count(uint64_t id, bool right, bool rdma) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++counts_.calls;
  if (!right) ++counts_.wrong;
  if (!seen_.insert(id).second) ++counts_.doubled;
  ++(rdma ? counts_.rdma : counts_.tcp);
}

}  // namespace farcall::rdma_peer
