// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_RELOADING_CONTEXT_H_
#define FARCALL_TRANSPORT_TLS_RELOADING_CONTEXT_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/base/time.h"
#include "transport/tls/loaded_context.h"
#include "transport/tls/watched_files.h"

namespace farcall {

// A line for people about keys and certificates. Any thread, also with a loop held; it neither
// blocks nor calls back.
using TlsLog = std::function<void(absl::string_view)>;

// The context that new connections get, made again when its files have changed. Any thread.
//
// Who asks looks at the files, at most once an interval: a stat(2) for each. Only when they have
// changed are they read, milliseconds, by the one who looked; others get the old one meanwhile.
class ReloadingContext {
 public:
  using Loaded = std::shared_ptr<const LoadedContext>;
  using Load = std::function<absl::StatusOr<Loaded>()>;

  // Loads for the first time. `log`, which may be empty, is told of each change, good or bad, once.
  static absl::StatusOr<std::unique_ptr<ReloadingContext>> Create(const TlsFiles& files, Load load,
                                                                  TlsLog log);

  Loaded Current(TimePoint now);

 private:
  ReloadingContext(const TlsFiles& files, Load load, TlsLog log);
  void Look();

  const std::vector<std::string> files_;
  const Duration interval_;
  const Load load_;
  const TlsLog log_;

  std::mutex look_mutex_;  // held by the one who looks
  FileStamps seen_;        // guarded by look_mutex_; of the last attempt to load

  std::mutex mutex_;
  // Guarded by mutex_.
  TimePoint next_look_{};
  Loaded current_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_RELOADING_CONTEXT_H_
