// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_NAMING_NAMING_PUBLISHER_H_
#define FARCALL_RPC_NAMING_NAMING_PUBLISHER_H_

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rpc/naming/naming.h"
#include "rpc/options.h"
#include "transport/base/episode_log.h"

namespace farcall {

// Publishes what a naming finds: each change, and errors as long as there was no good answer. After
// that the last good answer stays, and an error is logged once an episode. With the naming's loop
// held.
class NamingPublisher {
 public:
  NamingPublisher(std::string target, const LogSink& log, Naming::OnNodes on_nodes)
      : target_(std::move(target)),
        sink_([log](absl::string_view line) { log(LogSeverity::kWarning, line); }),
        on_nodes_(std::move(on_nodes)) {}

  // The owner may be destroyed when they return.
  void OnSame() { trouble_.OnRecovery(); }
  void OnNodes(Naming::Nodes nodes) {
    trouble_.OnRecovery();
    if (published_ && Same(*published_, nodes)) return;
    published_ = nodes;
    // A copy, which outlives the owner.
    const Naming::OnNodes tell = on_nodes_;
    tell(std::move(nodes));
  }
  void OnError(const absl::Status& why) {
    if (published_) {
      trouble_.OnFailure(absl::StrCat(target_, ": ", why.message(), "; its ", published_->size(),
                                      published_->size() == 1 ? " server stays" : " servers stay"));
      return;
    }
    const Naming::OnNodes tell = on_nodes_;
    tell(absl::Status(why.code(), absl::StrCat(target_, ": ", why.message())));
  }

 private:
  static bool Same(const Naming::Nodes& one, const Naming::Nodes& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](const ServerNode& a, const ServerNode& b) {
                        return a.address == b.address && a.host == b.host && a.tag == b.tag &&
                               a.weight == b.weight;
                      });
  }

  const std::string target_;
  const EpisodeLog::Sink sink_;
  EpisodeLog trouble_{sink_};
  const Naming::OnNodes on_nodes_;
  std::optional<Naming::Nodes> published_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_NAMING_PUBLISHER_H_
