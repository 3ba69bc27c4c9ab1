// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/fabric_end.h"

#include <fcntl.h>
#include <string.h>

#include "transport/base/check.h"
#include "transport/sockaddr.h"

namespace farcall {
namespace {

SocketAddress SocketAt(const std::string& ip, uint16_t port) {
  const std::string text = ip.find(':') == std::string::npos ? ip : "[" + ip + "]";
  const auto address = Address::Parse(text + ":" + std::to_string(port));
  Check(address.ok(), "an address of a test parses");
  return *ToSocketAddress(*address);
}

void MakeNonBlocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

FabricEnd::FabricEnd(FakeFabric& fake_fabric, FabricEndOptions end_options)
    : fabric(fake_fabric),
      api(fake_fabric.api()),
      options(end_options),
      memory(kSlots * kSlotBytes) {}

FabricEnd::~FabricEnd() { Release(); }

bool FabricEnd::MakeId() {
  channel = api.rdma.create_event_channel();
  if (channel == nullptr) return false;
  MakeNonBlocking(channel->fd);
  return api.rdma.create_id(channel, &id, this, RDMA_PS_TCP) == 0;
}

bool FabricEnd::Resolve(const std::string& ip, uint16_t port, const std::string& own_ip) {
  SocketAddress to = SocketAt(ip, port);
  SocketAddress from;
  if (!own_ip.empty()) from = SocketAt(own_ip, 0);
  if (api.rdma.resolve_addr(id, own_ip.empty() ? nullptr : from.get(), to.get(), 1000) != 0) {
    return false;
  }
  if (NextType() != RDMA_CM_EVENT_ADDR_RESOLVED) return false;
  if (api.rdma.resolve_route(id, 1000) != 0) return false;
  return NextType() == RDMA_CM_EVENT_ROUTE_RESOLVED;
}

bool FabricEnd::Prepare() {
  domain = api.ibv.alloc_pd(id->verbs);
  if (domain == nullptr) return false;
  region = api.ibv.reg_mr(domain, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
  if (region == nullptr) return false;
  completions = api.ibv.create_comp_channel(id->verbs);
  if (completions == nullptr) return false;
  MakeNonBlocking(completions->fd);
  queue = api.ibv.create_cq(id->verbs, options.entries, this, completions, 0);
  if (queue == nullptr) return false;
  if (options.shared_receives > 0) {
    ibv_srq_init_attr attr{};
    attr.attr.max_wr = options.shared_receives;
    attr.attr.max_sge = options.cap.max_recv_sge;
    shared = api.ibv.create_srq(domain, &attr);
    if (shared == nullptr) return false;
  }
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = queue;
  init.srq = shared;
  init.cap = options.cap;
  init.qp_type = IBV_QPT_RC;
  return api.rdma.create_qp(id, domain, &init) == 0;
}

bool FabricEnd::Connect(const std::string& data) {
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = static_cast<uint8_t>(data.size());
  param.responder_resources = param.initiator_depth = options.reads;
  param.retry_count = options.retry_count;
  param.rnr_retry_count = options.rnr_retry;
  return api.rdma.connect(id, &param) == 0;
}

bool FabricEnd::Listen(const std::string& ip, uint16_t port, int backlog) {
  SocketAddress at = SocketAt(ip, port);
  if (api.rdma.bind_addr(id, at.get()) != 0) return false;
  return api.rdma.listen(id, backlog) == 0;
}

void FabricEnd::Adopt(FabricEnd& listener) {
  channel = listener.channel;
  owns_channel_ = false;
}

bool FabricEnd::Accept(const std::string& data) {
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = static_cast<uint8_t>(data.size());
  param.rnr_retry_count = options.rnr_retry;
  return api.rdma.accept(id, &param) == 0;
}

std::optional<FabricEnd::Event> FabricEnd::Next() {
  fabric.Settle();
  rdma_cm_event* event = nullptr;
  if (api.rdma.get_cm_event(channel, &event) != 0) return std::nullopt;
  Event copy{.type = event->event, .status = event->status, .data = {}, .id = event->id};
  if (event->param.conn.private_data != nullptr) {
    copy.data.assign(static_cast<const char*>(event->param.conn.private_data),
                     event->param.conn.private_data_len);
  }
  api.rdma.ack_cm_event(event);
  return copy;
}

int FabricEnd::NextType() {
  const std::optional<Event> event = Next();
  return event.has_value() ? static_cast<int>(event->type) : -1;
}

int FabricEnd::Send(size_t slot, uint32_t bytes, uint64_t wr_id, unsigned int flags) {
  ibv_sge range = Range(slot, bytes);
  ibv_send_wr request{};
  request.wr_id = wr_id;
  request.sg_list = &range;
  request.num_sge = bytes == 0 ? 0 : 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = flags;
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(id->qp, &request, &bad);
}

int FabricEnd::Receive(size_t slot, uint32_t bytes, uint64_t wr_id) {
  ibv_sge range = Range(slot, bytes);
  ibv_recv_wr request{.wr_id = wr_id, .next = nullptr, .sg_list = &range, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  if (shared != nullptr) return ibv_post_srq_recv(shared, &request, &bad);
  return ibv_post_recv(id->qp, &request, &bad);
}

std::vector<ibv_wc> FabricEnd::Poll() {
  fabric.Settle();
  std::vector<ibv_wc> completed(static_cast<size_t>(options.entries));
  const int count = ibv_poll_cq(queue, options.entries, completed.data());
  completed.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return completed;
}

void FabricEnd::Fill(size_t slot, const std::string& text) {
  memcpy(Slot(slot), text.data(), text.size());
}

void FabricEnd::DestroyQp() {
  if (id != nullptr && id->qp != nullptr) api.rdma.destroy_qp(id);
}

void FabricEnd::DestroyId() {
  if (id != nullptr) api.rdma.destroy_id(id);
  id = nullptr;
}

void FabricEnd::Release() {
  DestroyQp();
  if (shared != nullptr) api.ibv.destroy_srq(shared);
  if (queue != nullptr) api.ibv.destroy_cq(queue);
  if (completions != nullptr) api.ibv.destroy_comp_channel(completions);
  if (region != nullptr) api.ibv.dereg_mr(region);
  if (domain != nullptr) api.ibv.dealloc_pd(domain);
  shared = nullptr;
  queue = nullptr;
  completions = nullptr;
  region = nullptr;
  domain = nullptr;
  DestroyId();
  if (channel != nullptr && owns_channel_) api.rdma.destroy_event_channel(channel);
  channel = nullptr;
}

bool FabricPair::Ask(const std::string& data) {
  if (!listener.MakeId() || !listener.Listen("10.9.0.2", kFabricPort)) return false;
  if (!client.MakeId() || !client.Resolve("10.9.0.2", kFabricPort)) return false;
  if (!client.Prepare() || !client.Connect(data)) return false;
  request = listener.Next();
  if (!request.has_value() || request->type != RDMA_CM_EVENT_CONNECT_REQUEST) return false;
  server.Adopt(listener);
  server.id = request->id;
  return server.Prepare();
}

bool FabricPair::Answer(const std::string& data) {
  if (!server.Accept(data)) return false;
  reply = client.Next();
  if (!reply.has_value() || reply->type != RDMA_CM_EVENT_ESTABLISHED) return false;
  return listener.NextType() == RDMA_CM_EVENT_ESTABLISHED;
}

bool FabricPair::Join() { return Ask() && Answer(); }

}  // namespace farcall
