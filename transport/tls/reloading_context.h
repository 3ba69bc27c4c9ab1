// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_RELOADING_CONTEXT_H_
#define FARCALL_TRANSPORT_TLS_RELOADING_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/base/time.h"
#include "transport/tls/loaded_context.h"

namespace farcall {

// Which contents some files had at one time, by what stat(2) says: symbolic links are followed,
// so that Kubernetes' swap of a secret's link is seen.
class FileStamps {
 public:
  // Of a file that is not there: that. Empty names are left out.
  static FileStamps Of(const std::vector<std::string>& files);

  bool operator==(const FileStamps& other) const = default;

 private:
  struct Stamp {
    bool there = false;
    uint64_t device = 0;
    uint64_t inode = 0;
    int64_t size = 0;
    int64_t modified_ns = 0;
    int64_t changed_ns = 0;
    bool operator==(const Stamp& other) const = default;
  };

  std::vector<Stamp> stamps_;
};

// A line for people about keys and certificates. Any thread, also with a loop held; it neither
// blocks nor calls back.
using TlsLog = std::function<void(absl::string_view)>;

// The context that new connections get, made again when its files have changed. Any thread.
//
// Who asks looks at the files, at most once an interval: a stat(2) for each. Only when they have
// changed are they read, milliseconds, by the one who looked; others get the old one meanwhile.
//
// A pair is replaced file by file, so between the two it does not load. Then the files are looked
// at more often, and it is logged only when they do not load for kTimeout. What fails may also
// have nothing to do with them, like a lack of descriptors, so it is tried again without a change.
class ReloadingContext {
 public:
  using Loaded = std::shared_ptr<const LoadedContext>;
  using Load = std::function<absl::StatusOr<Loaded>()>;

  static constexpr Duration kTimeout = std::chrono::seconds(5);
  static constexpr Duration kRetry = std::chrono::minutes(1);

  // Loads for the first time. `log`, which may be empty, gets each change, good or bad, once.
  static absl::StatusOr<std::unique_ptr<ReloadingContext>> Create(const TlsFiles& files, Load load,
                                                                  TlsLog log);

  Loaded Current(TimePoint now);

 private:
  ReloadingContext(const TlsFiles& files, Load load, TlsLog log);
  bool Look(TimePoint now);
  void Say(absl::string_view what) const;

  const std::vector<std::string> files_;
  const Duration interval_;
  const Load load_;
  const TlsLog log_;

  std::mutex look_mutex_;  // held by the one who looks
  // Guarded by look_mutex_.
  FileStamps seen_;      // of the last attempt to load
  std::string failure_;  // what that failed with; "": it did not
  // Where there is one:
  bool logged_ = false;        // and it has not changed since
  TimePoint failing_since_{};  // the first attempt that failed, and was not logged
  TimePoint retry_{};

  std::mutex mutex_;
  // Guarded by mutex_.
  TimePoint next_look_{};
  Loaded current_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_RELOADING_CONTEXT_H_
