// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/verbs_end.h"

#include <string.h>

#include <span>

namespace farcall {

bool OpenByName(const VerbsApi& api, const std::string& name, ibv_context*& context,
                ibv_port_attr& port, ibv_gid_entry& gid) {
  int count = 0;
  ibv_device** const list = api.ibv.get_device_list(&count);
  if (list == nullptr) return false;
  for (int i = 0; i < count; ++i) {
    if (api.ibv.get_device_name(list[i]) == name) context = api.ibv.open_device(list[i]);
  }
  api.ibv.free_device_list(list);
  if (context == nullptr) return false;
  if (api.ibv.query_port(context, 1, &port) != 0) return false;
  std::vector<ibv_gid_entry> gids(static_cast<size_t>(port.gid_tbl_len));
  const ssize_t found = api.ibv.query_gid_table(context, gids.data(), gids.size());
  if (found <= 0) return false;
  gid = gids[static_cast<size_t>(found) - 1];
  return true;
}

VerbsEnd::VerbsEnd(FakeFabric& fake_fabric, const std::string& device)
    : fabric(fake_fabric), api(fake_fabric.api()), device_(device) {}

VerbsEnd::~VerbsEnd() {
  pair.reset();
  queue.reset();
  region.reset();
  domain.reset();
  if (context != nullptr) api.ibv.close_device(context);
}

bool VerbsEnd::Make() {
  if (!OpenByName(api, device_, context, port, gid)) return false;
  if (!KeepMade(AllocateDomain(api, context), domain)) return false;
  const auto memory = std::as_writable_bytes(std::span(memory_));
  if (!KeepMade(RegisterMemory(api, domain.get(), memory, IBV_ACCESS_LOCAL_WRITE), region)) {
    return false;
  }
  if (!KeepMade(CreateCompletionQueue(api, context, 64, this, nullptr), queue)) return false;
  ibv_qp_init_attr init{};
  init.qp_context = this;
  init.send_cq = init.recv_cq = queue.get();
  init.cap = {.max_send_wr = 16,
              .max_recv_wr = 16,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  init.qp_type = IBV_QPT_RC;
  ibv_qp* const made = api.ibv.create_qp(domain.get(), &init);
  if (made == nullptr) return false;
  pair = Own(api, made);
  return true;
}

ibv_qp_attr VerbsEnd::ToInit() const {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = 1;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_READ;
  return attributes;
}

ibv_qp_attr VerbsEnd::ToReceive(const VerbsEnd& peer) const {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = IBV_MTU_1024;
  attributes.dest_qp_num = peer.pair->qp_num;
  attributes.rq_psn = peer.first_packet;
  attributes.max_dest_rd_atomic = 1;
  attributes.min_rnr_timer = 12;
  attributes.ah_attr.port_num = 1;
  attributes.ah_attr.dlid = peer.port.lid;
  if (port.link_layer == IBV_LINK_LAYER_ETHERNET) {
    attributes.ah_attr.is_global = 1;
    attributes.ah_attr.grh.dgid = peer.gid.gid;
    attributes.ah_attr.grh.sgid_index = static_cast<uint8_t>(gid.gid_index);
    attributes.ah_attr.grh.hop_limit = 64;
  }
  return attributes;
}

ibv_qp_attr VerbsEnd::ToSend() const {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = first_packet;
  attributes.timeout = 14;
  attributes.retry_cnt = 6;
  attributes.rnr_retry = 7;
  attributes.max_rd_atomic = 1;
  return attributes;
}

int VerbsEnd::Modify(ibv_qp_attr attributes, int mask) {
  return api.ibv.modify_qp(pair.get(), &attributes, mask);
}

int VerbsEnd::Join(const VerbsEnd& peer) {
  const int error = ReadyToReceive(peer);
  return error != 0 ? error : ReadyToSend();
}

int VerbsEnd::Send(const std::string& text, uint64_t wr_id) {
  memcpy(memory_.data(), text.data(), text.size());
  ibv_sge range = {reinterpret_cast<uint64_t>(memory_.data()), static_cast<uint32_t>(text.size()),
                   region->lkey};
  ibv_send_wr request{};
  request.wr_id = wr_id;
  request.sg_list = &range;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(pair.get(), &request, &bad);
}

int VerbsEnd::Receive(uint64_t wr_id) {
  ibv_sge range = {reinterpret_cast<uint64_t>(memory_.data() + kHalf), kHalf, region->lkey};
  ibv_recv_wr request{.wr_id = wr_id, .next = nullptr, .sg_list = &range, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(pair.get(), &request, &bad);
}

std::vector<ibv_wc> VerbsEnd::Poll() {
  fabric.Settle();
  std::vector<ibv_wc> completed(64);
  const int count = ibv_poll_cq(queue.get(), 64, completed.data());
  completed.resize(count < 0 ? 0 : static_cast<size_t>(count));
  for (const ibv_wc& completion : completed) {
    if (completion.status == IBV_WC_SUCCESS && completion.opcode == IBV_WC_RECV) {
      received_ = completion.byte_len;
    }
  }
  return completed;
}

std::string VerbsEnd::PollStatus() {
  std::string said;
  for (const ibv_wc& completion : Poll()) {
    if (!said.empty()) said += ", ";
    said += api.ibv.wc_status_str(completion.status);
  }
  return said;
}

}  // namespace farcall
