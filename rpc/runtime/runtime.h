// SPDX-License-Identifier: Apache-2.0
//
// Runtime: what channels and servers stand on: event loops with their threads,
// transports, memory, and the thread for what may block. A program needs to know
// it only to set its options or to have several.

#ifndef FARCALL_RPC_RUNTIME_RUNTIME_H_
#define FARCALL_RPC_RUNTIME_RUNTIME_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "rpc/options.h"
#include "rpc/runtime_parts.h"
#include "rpc/status/runtime_status.h"
#include "transport/buffer/buffer.h"
#include "transport/buffer/registered_memory.h"
#include "transport/copied_bytes.h"
#include "transport/why_not_rdma.h"

namespace farcall {

class Runtime {
 public:
  // Starts the threads. Fails when the system gives no threads, descriptors or memory.
  static absl::StatusOr<std::unique_ptr<Runtime>> Create(const RuntimeOptions& options);
  // On parts of the caller's making, which outlive it, all of them but the log (null: as in
  // RuntimeOptions) and the names (null: it makes them): for loops that the program drives itself,
  // and for simulations.
  static std::unique_ptr<Runtime> On(RuntimeParts parts);
  // Made with default options when it is first asked for, and never destroyed. Any thread.
  static absl::StatusOr<Runtime*> Default();

  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  // After its channels and servers, after all closures of handlers were run, and after the
  // Buffers that came from it; not from a closure or handler. Waits for its threads and
  // for calls that are still under way, which end by their deadlines.
  ~Runtime();

  const RuntimeParts& parts() const { return parts_; }
  // Of all its channels and servers since it was made. Any thread. Zeros on parts of the
  // caller's making.
  UpgradeCounts upgrade_counts() const;
  // Makes memory of the program known to every RDMA device in use, now or later, so that slices of
  // it are sent and received into without a copy (transport/buffer/registered_memory.h,
  // docs/memory.md). `memory` stays mapped until `released` (may be null) has run. Returns at
  // once; registering follows, 0.1 to 0.2 ms for each MiB, and status() of the handle tells how
  // it went. Fails without bytes, and beyond 4,096 pieces of up to 1 GiB. Any thread.
  absl::StatusOr<RegisteredMemory> RegisterMemory(
      std::span<std::byte> memory, absl::AnyInvocable<void()> released = nullptr) const;
  // No registration of RuntimeOptions::registration_cache that has any of these bytes is used
  // again: to be called before memory is unmapped that was given to Buffer::AppendUserData, and
  // after its release has run. Any thread.
  void ForgetMemory(const void* begin, size_t bytes) const;
  // `bytes` bytes in blocks of the runtime's pool (RuntimeOptions::pool), which leave without a
  // copy over TCP and RDMA; nothing else refers to them: write them by Buffer::CopyFrom or
  // WritableIovecs, then append them to an attachment. Of more than 4 KiB they pin less than twice
  // their size, unless only larger blocks are left. kResourceExhausted: pool.max_bytes does not
  // leave so many; what the program keeps, connections cannot have. Give it back before
  // the runtime ends. Any thread; microseconds. docs/memory.md, "Values that stay".
  absl::StatusOr<Buffer> AllocateBuffer(size_t bytes) const;
  // The same bytes, for who keeps them: they pin less than twice their size. Copied only where they
  // pin more: into blocks of the pool, or, up to 4 KiB and where it has none that fit, to the
  // ordinary heap, from which a device sends with a copy. Any thread.
  Buffer RightSized(Buffer bytes) const;
  // Bytes that were copied, by cause, of all channels and servers since the runtime was made.
  CopiedBytes copied_bytes() const;
  // What a report of a trouble should carry, as text for people: version, limits, memory,
  // options, RDMA devices with why they are not used, counters, and the last 256 events with
  // their times. No payload and no credential is in it; addresses of peers are. Any thread, no
  // loop held; takes half a second at most. docs/operations.md explains it.
  std::string Dump() const;
  // The same as values.
  RuntimeStatus status() const;

 private:
  struct Machine;
  Runtime();
  void Take(RuntimeParts parts);

  std::unique_ptr<Machine> machine_;  // null: the parts are the caller's
  RuntimeParts parts_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_RUNTIME_RUNTIME_H_
