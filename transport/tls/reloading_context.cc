// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/reloading_context.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace farcall {
namespace {

std::vector<std::string> Named(const TlsFiles& files) {
  std::vector<std::string> named;
  for (const std::string& file : {files.certificate, files.private_key, files.ca}) {
    if (!file.empty()) named.push_back(file);
  }
  return named;
}

}  // namespace

ReloadingContext::ReloadingContext(const TlsFiles& files, Load load, TlsLog log)
    : files_(Named(files)),
      interval_(files.reload_interval),
      load_(std::move(load)),
      log_(std::move(log)),
      seen_(FileStamps::Of(files_)) {}

absl::StatusOr<std::unique_ptr<ReloadingContext>> ReloadingContext::Create(const TlsFiles& files,
                                                                           Load load, TlsLog log) {
  // The stamps are taken first: what changes while it is read is read again.
  std::unique_ptr<ReloadingContext> context(
      new ReloadingContext(files, std::move(load), std::move(log)));
  auto loaded = context->load_();
  if (!loaded.ok()) return loaded.status();
  context->current_ = *std::move(loaded);
  return context;
}

ReloadingContext::Loaded ReloadingContext::Current(TimePoint now) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (now < next_look_ || files_.empty()) return current_;
    next_look_ = now + interval_;
  }
  Look();
  const std::lock_guard<std::mutex> lock(mutex_);
  return current_;
}

void ReloadingContext::Look() {
  const std::unique_lock<std::mutex> looking(look_mutex_, std::try_to_lock);
  if (!looking.owns_lock()) return;
  FileStamps stamps = FileStamps::Of(files_);
  if (stamps == seen_) return;
  seen_ = std::move(stamps);
  auto loaded = load_();
  const std::string names = absl::StrJoin(files_, ", ");
  if (!loaded.ok()) {
    if (log_) {
      log_(absl::StrCat("tls: ", names, " changed and do not load, so the old ones stay: ",
                        loaded.status().message()));
    }
    return;
  }
  if (log_) log_(absl::StrCat("tls: ", names, " changed; new connections use them"));
  const std::lock_guard<std::mutex> lock(mutex_);
  current_ = *std::move(loaded);
}

}  // namespace farcall
