// SPDX-License-Identifier: Apache-2.0
//
// VerbsApi: the functions of libibverbs and librdmacm that set things up and tear
// them down, as a table that load.h fills with dlopen, and a test with a fake
// (transport/rdma/testing). Names and meanings are those of the man pages: ibv_*(3)
// and rdma_*(3). No binary depends on the libraries.
//
// What moves data is not here: ibv_post_send, ibv_post_recv, ibv_post_srq_recv,
// ibv_poll_cq and ibv_req_notify_cq are inline in <infiniband/verbs.h> and go through
// ibv_context.ops, which the fake fills too; so do ibv_alloc_mw and ibv_dealloc_mw.

#ifndef FARCALL_TRANSPORT_RDMA_VERBS_VERBS_API_H_
#define FARCALL_TRANSPORT_RDMA_VERBS_VERBS_API_H_

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

namespace farcall {

// All set, or the table does not exist. Copied freely; the libraries are never unloaded.
struct VerbsApi {
  struct Ibv {
    decltype(&::ibv_get_device_list) get_device_list;
    decltype(&::ibv_free_device_list) free_device_list;
    decltype(&::ibv_get_device_name) get_device_name;
    decltype(&::ibv_open_device) open_device;
    decltype(&::ibv_close_device) close_device;
    decltype(&::ibv_query_device) query_device;
    // Fills the fields of all versions; `attr` is zeroed before.
    int (*query_port)(ibv_context* context, uint8_t port, ibv_port_attr* attr);
    // ibv_query_gid_table(3), without its last argument.
    ssize_t (*query_gid_table)(ibv_context* context, ibv_gid_entry* entries, size_t max_entries);

    decltype(&::ibv_alloc_pd) alloc_pd;
    decltype(&::ibv_dealloc_pd) dealloc_pd;
    // Also knows the optional access flags, IBV_ACCESS_RELAXED_ORDERING.
    ibv_mr* (*reg_mr)(ibv_pd* pd, void* address, size_t length, unsigned int access);
    decltype(&::ibv_dereg_mr) dereg_mr;

    decltype(&::ibv_create_comp_channel) create_comp_channel;
    decltype(&::ibv_destroy_comp_channel) destroy_comp_channel;
    decltype(&::ibv_create_cq) create_cq;
    decltype(&::ibv_destroy_cq) destroy_cq;
    decltype(&::ibv_get_cq_event) get_cq_event;
    decltype(&::ibv_ack_cq_events) ack_cq_events;

    decltype(&::ibv_create_srq) create_srq;
    decltype(&::ibv_destroy_srq) destroy_srq;
    decltype(&::ibv_create_qp) create_qp;
    decltype(&::ibv_destroy_qp) destroy_qp;
    decltype(&::ibv_modify_qp) modify_qp;

    decltype(&::ibv_get_async_event) get_async_event;
    decltype(&::ibv_ack_async_event) ack_async_event;
    decltype(&::ibv_wc_status_str) wc_status_str;
    decltype(&::ibv_event_type_str) event_type_str;
  } ibv;

  struct Rdma {
    decltype(&::rdma_create_event_channel) create_event_channel;
    decltype(&::rdma_destroy_event_channel) destroy_event_channel;
    decltype(&::rdma_create_id) create_id;
    decltype(&::rdma_destroy_id) destroy_id;
    decltype(&::rdma_bind_addr) bind_addr;
    decltype(&::rdma_resolve_addr) resolve_addr;
    decltype(&::rdma_resolve_route) resolve_route;
    decltype(&::rdma_create_qp) create_qp;
    decltype(&::rdma_destroy_qp) destroy_qp;
    decltype(&::rdma_connect) connect;
    decltype(&::rdma_listen) listen;
    decltype(&::rdma_accept) accept;
    decltype(&::rdma_reject) reject;
    decltype(&::rdma_disconnect) disconnect;
    decltype(&::rdma_get_cm_event) get_cm_event;
    decltype(&::rdma_ack_cm_event) ack_cm_event;
    decltype(&::rdma_event_str) event_str;
    decltype(&::rdma_set_option) set_option;
    decltype(&::rdma_get_devices) get_devices;
    decltype(&::rdma_free_devices) free_devices;
    decltype(&::rdma_get_src_port) get_src_port;
    // ReleaseContext of release_context.h: what librdmacm has no call for.
    int (*release_context)(ibv_context* context);
  } rdma;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_VERBS_VERBS_API_H_
