// SPDX-License-Identifier: Apache-2.0

#include <sys/socket.h>

#include <atomic>
#include <list>
#include <thread>
#include <utility>

#include "benchmarks/raw_echo/carrier.h"
#include "benchmarks/raw_echo/echo_stream.h"

namespace farcall::bench {
namespace {

struct Connection {
  explicit Connection(UniqueFd fd) : stream(std::move(fd)) {}

  EchoStream stream;
  std::atomic<bool> over = false;
  std::thread thread;
};

void Serve(Connection& connection) {
  while (connection.stream.Turn(0)) {
  }
  // Closed later, by the carrier, since it names the descriptor too. The peer hears of it now.
  shutdown(connection.stream.fd(), SHUT_RDWR);
  connection.over = true;
}

class Blocking final : public Carrier {
 public:
  ~Blocking() override {
    for (Connection& connection : connections_) {
      shutdown(connection.stream.fd(), SHUT_RDWR);
      connection.thread.join();
    }
  }

  void Take(UniqueFd fd) override {
    connections_.remove_if([](Connection& connection) {
      const bool over = connection.over;
      if (over) connection.thread.join();
      return over;
    });
    if (connections_.size() < kMaxConnections) {
      Connection& connection = connections_.emplace_back(std::move(fd));
      connection.thread = std::thread(Serve, std::ref(connection));
    }
  }

 private:
  std::list<Connection> connections_;
};

}  // namespace

std::unique_ptr<Carrier> BlockingCarrier() { return std::make_unique<Blocking>(); }

}  // namespace farcall::bench
