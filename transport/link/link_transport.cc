// SPDX-License-Identifier: Apache-2.0

#include "transport/link/link_transport.h"

#include <utility>

#include "transport/base/check.h"
#include "transport/link/connection/link_connection.h"
#include "transport/link/link_connector.h"
#include "transport/link/system_random.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

std::shared_ptr<const LinkSettings> Settings(UpgradeTransport* rdma, UpgradeRecord& record,
                                             const UpgradeOptions& options, RandomBytes random) {
  Check(options.stream.Validate().ok(), "the limits of a stream are valid");
  Check(options.use_rdma || !options.require_rdma, "require_rdma needs use_rdma");
  auto settings = std::make_shared<LinkSettings>();
  settings->options = options;
  settings->rdma = rdma;
  settings->record = &record;
  settings->random = std::move(random);
  return settings;
}

}  // namespace

LinkTransport::LinkTransport(Transport& tcp, UpgradeTransport* rdma, UpgradeRecord& record,
                             const UpgradeOptions& options)
    : LinkTransport(tcp, rdma, record, options, SystemRandom) {}

LinkTransport::LinkTransport(Transport& tcp, UpgradeTransport* rdma, UpgradeRecord& record,
                             const UpgradeOptions& options, RandomBytes random)
    : tcp_(tcp), settings_(Settings(rdma, record, options, std::move(random))) {}

void LinkTransport::Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
                            OnConnect done) {
  // What is wrong with the timeout, tcp says best.
  if (!settings_->options.use_rdma || options.timeout <= Duration::zero()) {
    return tcp_.Connect(loop, peer, options, std::move(done));
  }
  LinkConnector::Start(loop, tcp_, settings_, peer, options, std::move(done));
}

absl::StatusOr<std::unique_ptr<Listener>> LinkTransport::Listen(LoopGroup& loops,
                                                                const Address& address,
                                                                const ListenOptions& options,
                                                                OnAccept on_accept) {
  const WhyNotRdma why_not = options.tls_forbids_rdma ? WhyNotRdma::kTls : WhyNotRdma::kNotAsked;
  const absl::Status unwanted =
      settings_->options.use_rdma ? absl::OkStatus() : NotRdma(why_not, "");
  return tcp_.Listen(
      loops, address, options,
      [settings = settings_, connection_options = options.connection, verify = options.verify,
       unwanted,
       on_accept = std::move(on_accept)](EventLoop& loop, std::unique_ptr<Connection> tcp) {
        Introduction introduction;
        if (verify) {
          introduction.verify = [verify, peer = tcp->info().peer](absl::string_view credential) {
            return verify(credential, peer);
          };
        }
        on_accept(loop, LinkConnection::Accept({loop, std::move(tcp), settings, connection_options,
                                                std::move(introduction)},
                                               unwanted));
      });
}

}  // namespace farcall
