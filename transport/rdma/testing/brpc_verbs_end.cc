// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/brpc_verbs_end.h"

#include <arpa/inet.h>
#include <string.h>

#include <algorithm>
#include <span>

#include "transport/rdma/testing/fabric/verbs_end.h"

namespace farcall {
namespace {

constexpr uint32_t kLargestSend = 70'000;
constexpr uint64_t kOfSends = uint64_t{1} << 32;

}  // namespace

BrpcVerbsEnd::BrpcVerbsEnd(FakeFabric& fabric, const Options& options)
    : api_(fabric.api()), options_(options) {
  memory_.resize(size_t{options.receive_slots} * options.block_bytes +
                 size_t{options.send_slots} * kLargestSend);
}

BrpcVerbsEnd::~BrpcVerbsEnd() {
  if (pair_ != nullptr) Break();
  pair_.reset();
  queue_.reset();
  region_.reset();
  domain_.reset();
  if (context_ != nullptr) api_.ibv.close_device(context_);
}

bool BrpcVerbsEnd::Make() {
  if (!OpenByName(api_, options_.device, context_, port_, gid_)) return false;
  if (!KeepMade(AllocateDomain(api_, context_), domain_)) return false;
  const auto memory = std::as_writable_bytes(std::span(memory_));
  if (!KeepMade(RegisterMemory(api_, domain_.get(), memory, IBV_ACCESS_LOCAL_WRITE), region_)) {
    return false;
  }
  const int entries = options_.send_slots + options_.receive_slots;
  if (!KeepMade(CreateCompletionQueue(api_, context_, entries, this, nullptr), queue_)) {
    return false;
  }
  ibv_qp_init_attr init{};
  init.qp_context = this;
  init.send_cq = init.recv_cq = queue_.get();
  init.cap = {.max_send_wr = options_.send_slots,
              .max_recv_wr = options_.receive_slots,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  init.qp_type = IBV_QPT_RC;
  ibv_qp* const made = api_.ibv.create_qp(domain_.get(), &init);
  if (made == nullptr) return false;
  pair_ = Own(api_, made);
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = 1;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  if (api_.ibv.modify_qp(pair_.get(), &attributes, VerbsEnd::kToInit) != 0) return false;
  for (uint64_t slot = 0; slot < options_.receive_slots; ++slot) {
    if (PostReceive(slot) != 0) return false;
  }
  return true;
}

BrpcEnd BrpcVerbsEnd::own() const {
  BrpcEnd end;
  std::copy(std::begin(gid_.gid.raw), std::end(gid_.gid.raw), end.gid.begin());
  end.lid = port_.lid;
  end.number = pair_->qp_num;
  end.block_bytes = options_.block_bytes;
  end.send_slots = options_.send_slots;
  end.receive_slots = options_.receive_slots;
  return end;
}

int BrpcVerbsEnd::Join(const BrpcEnd& peer) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = IBV_MTU_1024;
  attributes.dest_qp_num = peer.number;
  attributes.ah_attr.port_num = 1;
  attributes.ah_attr.dlid = peer.lid;
  attributes.ah_attr.is_global = 1;
  std::copy(peer.gid.begin(), peer.gid.end(), attributes.ah_attr.grh.dgid.raw);
  attributes.ah_attr.grh.sgid_index = static_cast<uint8_t>(gid_.gid_index);
  attributes.ah_attr.grh.hop_limit = 16;
  const int error = api_.ibv.modify_qp(pair_.get(), &attributes, VerbsEnd::kToReceive);
  if (error != 0) return error;
  ibv_qp_attr sending{};
  sending.qp_state = IBV_QPS_RTS;
  sending.timeout = 14;
  sending.retry_cnt = 6;
  // It gives up at the first message that finds no receive.
  sending.rnr_retry = 0;
  return api_.ibv.modify_qp(pair_.get(), &sending, VerbsEnd::kToSend);
}

void BrpcVerbsEnd::Break() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  api_.ibv.modify_qp(pair_.get(), &attributes, IBV_QP_STATE);
}

int BrpcVerbsEnd::PostReceive(uint64_t slot) {
  char* const block = memory_.data() + slot * options_.block_bytes;
  ibv_sge range = {reinterpret_cast<uint64_t>(block), options_.block_bytes, region_->lkey};
  ibv_recv_wr request{.wr_id = slot, .next = nullptr, .sg_list = &range, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(pair_.get(), &request, &bad);
}

int BrpcVerbsEnd::Send(absl::string_view bytes, uint32_t report, bool immediate) {
  const uint64_t slot = next_send_++ % options_.send_slots;
  char* const place =
      memory_.data() + size_t{options_.receive_slots} * options_.block_bytes + slot * kLargestSend;
  if (!bytes.empty()) memcpy(place, bytes.data(), bytes.size());
  ibv_sge range = {reinterpret_cast<uint64_t>(place), static_cast<uint32_t>(bytes.size()),
                   region_->lkey};
  ibv_send_wr request{};
  request.wr_id = kOfSends | slot;
  request.sg_list = &range;
  request.num_sge = bytes.empty() ? 0 : 1;
  request.opcode = immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
  request.imm_data = htonl(report);
  request.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
  ibv_send_wr* bad = nullptr;
  untold -= std::min(untold, report);
  return ibv_post_send(pair_.get(), &request, &bad);
}

void BrpcVerbsEnd::Poll() {
  ibv_wc completion{};
  while (ibv_poll_cq(queue_.get(), 1, &completion) == 1) {
    if (completion.status != IBV_WC_SUCCESS) {
      errors.emplace_back(api_.ibv.wc_status_str(completion.status));
      continue;
    }
    if (completion.wr_id >= kOfSends) {
      ++sends;
      continue;
    }
    if ((completion.wc_flags & IBV_WC_WITH_IMM) == 0) errors.emplace_back("no immediate data");
    reported += ntohl(completion.imm_data);
    const char* const block = memory_.data() + completion.wr_id * options_.block_bytes;
    received.append(block, completion.byte_len);
    largest = std::max(largest, completion.byte_len);
    ++(completion.byte_len > 0 ? messages : bare);
    if (PostReceive(completion.wr_id) != 0) errors.emplace_back("ibv_post_recv");
    if (completion.byte_len > 0) ++untold;
  }
}

}  // namespace farcall
