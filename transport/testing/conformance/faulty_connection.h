// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_CONFORMANCE_FAULTY_CONNECTION_H_
#define FARCALL_TRANSPORT_TESTING_CONFORMANCE_FAULTY_CONNECTION_H_

#include <memory>
#include <utility>

#include "transport/testing/conformance/faulty_transport.h"
#include "transport/transport.h"

namespace farcall {

// A Connection of a FaultyTransport.
class FaultyConnection final : public Connection, private Connection::Handler {
 public:
  // Of two names that are one.
  using Handler = Connection::Handler;

  // `kept`, where a block is kept that should go home, outlives it.
  FaultyConnection(std::unique_ptr<Connection> inner, PlantedFault fault, Buffer& kept)
      : inner_(std::move(inner)), fault_(fault), kept_(kept) {}

  void Start(Handler& handler) override;
  void Write(Buffer data) override;
  void PauseRead() override;
  void ResumeRead() override { inner_->ResumeRead(); }
  void Close(absl::Status why, CloseMode mode) override;
  size_t backlog() const override;
  BlockPool& pool() override { return inner_->pool(); }
  ConnectionInfo info() const override { return inner_->info(); }

 private:
  size_t OnRead(Buffer& input) override;
  Buffer PlaceFor(size_t ahead, size_t bytes) override;
  bool AwaitsPlace() const override { return handler_->AwaitsPlace(); }
  void OnDrained() override;
  void OnClose(const absl::Status& why) override;

  std::unique_ptr<Connection> inner_;
  const PlantedFault fault_;
  Buffer& kept_;
  Handler* handler_ = nullptr;
  bool called_ = false;     // of the end
  size_t written_ = 0;      // bytes, since nothing waited
  Buffer given_;            // what the handler sees, where that is not the input itself
  char* landed_ = nullptr;  // where the last place began, since the last OnRead
  char* late_ = nullptr;    // the one before
  Buffer held_;             // a read that waits for the next one to overtake it
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_CONFORMANCE_FAULTY_CONNECTION_H_
