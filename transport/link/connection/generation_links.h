// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_CONNECTION_GENERATION_LINKS_H_
#define FARCALL_TRANSPORT_LINK_CONNECTION_GENERATION_LINKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "transport/buffer/buffer.h"
#include "transport/connection_info.h"
#include "transport/link/stream/frame_parts.h"
#include "transport/transport.h"

namespace farcall {

// The RDMA connections under one lifeline: those in use, and those that were given up and
// have not ended yet. With the loop held.
class GenerationLinks {
 public:
  class User {
   public:
    // As Connection::Handler, of a generation that was not given up. What OnGenerationEnd
    // is notified of is given up already.
    // `parts` is what cuts its frames.
    virtual size_t OnGenerationRead(uint32_t generation, FrameParts& parts, Buffer& input) = 0;
    // A place for bytes of its DATA frame that was begun, [ahead, ahead + bytes) of what is left
    // of it, or of fewer.
    virtual Buffer GenerationPlace(const FrameParts& parts, size_t ahead, size_t bytes) = 0;
    virtual std::shared_ptr<void> HoldGenerationPlace() = 0;
    // Whether it is too early to ask for that: GoOn follows.
    virtual bool GenerationAwaitsPlace() = 0;
    virtual void OnGenerationDrained() = 0;
    virtual void OnGenerationEnd(uint32_t generation, const absl::Status& why) = 0;

   protected:
    ~User() = default;
  };

  // `user` outlives this.
  explicit GenerationLinks(User& user);
  GenerationLinks(const GenerationLinks&) = delete;
  GenerationLinks& operator=(const GenerationLinks&) = delete;
  // Not from inside a callback of a Connection in it.
  ~GenerationLinks();

  // Starts `connection`.
  void Add(uint32_t generation, std::unique_ptr<Connection> connection);
  // Null: it is not there, or was given up.
  Connection* Find(uint32_t generation) const;
  // It is closed at once; nothing comes of it any more. From any callback.
  void GiveUp(uint32_t generation, const absl::Status& why);
  void GiveUpAll(const absl::Status& why);
  // As that of Connection, for all of them.
  void TrustPeer();
  // Those that wait for a place ask again.
  void GoOn();

  // Adds the calls of all of them, dead or alive, to those in `info`.
  void AddCounters(ConnectionInfo& info) const;

 private:
  class Link;

  // Erases one that has ended; from inside its OnClose.
  void Bury(Link& link);

  User& user_;
  std::vector<std::unique_ptr<Link>> links_;
  // Of those that are buried.
  uint64_t reads_ = 0;
  uint64_t writes_ = 0;
  RdmaUse messages_;
  CopiedBytes copied_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_CONNECTION_GENERATION_LINKS_H_
