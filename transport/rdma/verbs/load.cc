// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/verbs/load.h"

#include <dlfcn.h>

#include <cstring>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "transport/rdma/verbs/release_context.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// What <infiniband/verbs.h> wraps in macros and inline functions, as the library exports it.
struct Exports {
  int (*query_port)(ibv_context* context, uint8_t port, _compat_ibv_port_attr* attr);
  ssize_t (*query_gid_table)(ibv_context* context, ibv_gid_entry* entries, size_t max_entries,
                             uint32_t flags, size_t entry_size);
  ibv_mr* (*reg_mr)(ibv_pd* pd, void* address, size_t length, int access);
  ibv_mr* (*reg_mr_iova2)(ibv_pd* pd, void* address, size_t length, uint64_t iova,
                          unsigned int access);
};

// A library is loaded once, so there is one of it. Set before the first table is given out,
// and not changed afterwards.
Exports exports;
std::once_flag exports_set;

// The library writes the fields that it knows, and `attr` has the later ones at zero.
int QueryPort(ibv_context* context, uint8_t port, ibv_port_attr* attr) {
  std::memset(attr, 0, sizeof(*attr));
  return exports.query_port(context, port, reinterpret_cast<_compat_ibv_port_attr*>(attr));
}

ssize_t QueryGidTable(ibv_context* context, ibv_gid_entry* entries, size_t max_entries) {
  return exports.query_gid_table(context, entries, max_entries, 0, sizeof(ibv_gid_entry));
}

// Only ibv_reg_mr_iova2 masks the optional flags where the kernel does not know them.
ibv_mr* RegMr(ibv_pd* pd, void* address, size_t length, unsigned int access) {
  if ((access & IBV_ACCESS_OPTIONAL_RANGE) == 0) {
    return exports.reg_mr(pd, address, length, static_cast<int>(access));
  }
  return exports.reg_mr_iova2(pd, address, length, reinterpret_cast<uintptr_t>(address), access);
}

class Library {
 public:
  explicit Library(const char* name) : name_(name) {
    // RTLD_NOW: what it needs itself is missing here, not at the first call. RTLD_NODELETE:
    // it has threads and handlers of its own that unloading would pull out from under it.
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle_ == nullptr) Missing(dlerror());
  }

  template <typename Function>
  void Get(Function*& function, const char* symbol) {
    if (!error_.empty()) return;
    // The default version of a symbol that has several.
    function = reinterpret_cast<Function*>(dlsym(handle_, symbol));
    if (function == nullptr) Missing(absl::StrCat(name_, " has no function ", symbol));
  }

  // Null: it has none.
  void* Find(const char* symbol) const { return dlsym(handle_, symbol); }

  absl::Status status() const {
    if (error_.empty()) return absl::OkStatus();
    return NotRdma(WhyNotRdma::kNoLibrary, error_);
  }

 private:
  void Missing(absl::string_view what) { error_ = std::string(what); }

  const char* const name_;
  void* handle_ = nullptr;
  std::string error_;  // the first
};

void Get(Library& library, VerbsApi::Ibv& ibv) {
  library.Get(ibv.get_device_list, "ibv_get_device_list");
  library.Get(ibv.free_device_list, "ibv_free_device_list");
  library.Get(ibv.get_device_name, "ibv_get_device_name");
  library.Get(ibv.open_device, "ibv_open_device");
  library.Get(ibv.close_device, "ibv_close_device");
  library.Get(ibv.query_device, "ibv_query_device");
  library.Get(ibv.alloc_pd, "ibv_alloc_pd");
  library.Get(ibv.dealloc_pd, "ibv_dealloc_pd");
  library.Get(ibv.dereg_mr, "ibv_dereg_mr");
  library.Get(ibv.create_comp_channel, "ibv_create_comp_channel");
  library.Get(ibv.destroy_comp_channel, "ibv_destroy_comp_channel");
  library.Get(ibv.create_cq, "ibv_create_cq");
  library.Get(ibv.destroy_cq, "ibv_destroy_cq");
  library.Get(ibv.get_cq_event, "ibv_get_cq_event");
  library.Get(ibv.ack_cq_events, "ibv_ack_cq_events");
  library.Get(ibv.create_srq, "ibv_create_srq");
  library.Get(ibv.destroy_srq, "ibv_destroy_srq");
  library.Get(ibv.create_qp, "ibv_create_qp");
  library.Get(ibv.destroy_qp, "ibv_destroy_qp");
  library.Get(ibv.modify_qp, "ibv_modify_qp");
  library.Get(ibv.get_async_event, "ibv_get_async_event");
  library.Get(ibv.ack_async_event, "ibv_ack_async_event");
  library.Get(ibv.wc_status_str, "ibv_wc_status_str");
  library.Get(ibv.event_type_str, "ibv_event_type_str");
  ibv.query_port = QueryPort;
  ibv.query_gid_table = QueryGidTable;
  ibv.reg_mr = RegMr;
}

void Get(Library& library, Exports& wrapped) {
  library.Get(wrapped.query_port, "ibv_query_port");
  library.Get(wrapped.query_gid_table, "_ibv_query_gid_table");
  library.Get(wrapped.reg_mr, "ibv_reg_mr");
  library.Get(wrapped.reg_mr_iova2, "ibv_reg_mr_iova2");
}

void Get(Library& library, VerbsApi::Rdma& rdma) {
  library.Get(rdma.create_event_channel, "rdma_create_event_channel");
  library.Get(rdma.destroy_event_channel, "rdma_destroy_event_channel");
  library.Get(rdma.create_id, "rdma_create_id");
  library.Get(rdma.destroy_id, "rdma_destroy_id");
  library.Get(rdma.bind_addr, "rdma_bind_addr");
  library.Get(rdma.resolve_addr, "rdma_resolve_addr");
  library.Get(rdma.resolve_route, "rdma_resolve_route");
  library.Get(rdma.create_qp, "rdma_create_qp");
  library.Get(rdma.destroy_qp, "rdma_destroy_qp");
  library.Get(rdma.connect, "rdma_connect");
  library.Get(rdma.listen, "rdma_listen");
  library.Get(rdma.accept, "rdma_accept");
  library.Get(rdma.reject, "rdma_reject");
  library.Get(rdma.disconnect, "rdma_disconnect");
  library.Get(rdma.get_cm_event, "rdma_get_cm_event");
  library.Get(rdma.ack_cm_event, "rdma_ack_cm_event");
  library.Get(rdma.event_str, "rdma_event_str");
  library.Get(rdma.set_option, "rdma_set_option");
  library.Get(rdma.get_devices, "rdma_get_devices");
  library.Get(rdma.free_devices, "rdma_free_devices");
  library.Get(rdma.get_src_port, "rdma_get_src_port");
  rdma.release_context = ReleaseContext;
}

// Where the kernel leaves it to chance whether parent or child keeps a page that a device writes
// to, every registration from now on keeps its pages out of children: ibv_fork_init(3). Where the
// kernel copies them for the child that does nothing. It fails if something else in this
// process has registered memory before, and so has decided.
void KeepMemoryFromChildren(const Library& ibverbs) {
  const auto fork_init = reinterpret_cast<int (*)()>(ibverbs.Find("ibv_fork_init"));
  if (fork_init != nullptr) static_cast<void>(fork_init());
}

}  // namespace

absl::StatusOr<VerbsApi> LoadVerbsApi(const VerbsLibraries& libraries) {
  VerbsApi api{};
  Exports wrapped{};
  Library ibverbs(libraries.ibverbs);
  Get(ibverbs, api.ibv);
  Get(ibverbs, wrapped);
  if (absl::Status status = ibverbs.status(); !status.ok()) return status;
  Library rdmacm(libraries.rdmacm);
  Get(rdmacm, api.rdma);
  if (absl::Status status = rdmacm.status(); !status.ok()) return status;
  std::call_once(exports_set, [&] {
    exports = wrapped;
    KeepMemoryFromChildren(ibverbs);
  });
  return api;
}

}  // namespace farcall
