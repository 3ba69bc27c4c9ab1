// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/reloading_context.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace farcall {
namespace {

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// While files do not load that may be half replaced.
constexpr Duration kLookAgain = std::chrono::seconds(1);

std::vector<std::string> Named(const TlsFiles& files) {
  std::vector<std::string> named;
  for (const std::string& file : {files.certificate, files.private_key, files.ca}) {
    if (!file.empty()) named.push_back(file);
  }
  return named;
}

}  // namespace

FileStamps FileStamps::Of(const std::vector<std::string>& files) {
  FileStamps all;
  for (const std::string& file : files) {
    if (file.empty()) continue;
    struct stat found {};
    if (::stat(file.c_str(), &found) != 0) {
      all.stamps_.emplace_back();
      continue;
    }
    all.stamps_.push_back({true, found.st_dev, found.st_ino, found.st_size,
                           Nanoseconds(found.st_mtim), Nanoseconds(found.st_ctim)});
  }
  return all;
}

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
  const bool unfinished = Look(now);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (unfinished) next_look_ = now + std::min(interval_, kLookAgain);
  return current_;
}

// Whether what was found does not load, and is not logged yet.
bool ReloadingContext::Look(TimePoint now) {
  const std::unique_lock<std::mutex> looking(look_mutex_, std::try_to_lock);
  if (!looking.owns_lock()) return false;
  FileStamps stamps = FileStamps::Of(files_);
  const bool changed = stamps != seen_;
  if (changed || (!failure_.empty() && now >= retry_)) {
    seen_ = std::move(stamps);
    auto loaded = load_();
    if (loaded.ok()) {
      failure_.clear();
      logged_ = false;
      Say("changed; new connections use them");
      const std::lock_guard<std::mutex> lock(mutex_);
      current_ = *std::move(loaded);
      return false;
    }
    if (failure_.empty() || (changed && logged_)) failing_since_ = now;
    if (changed) logged_ = false;
    failure_ = std::string(loaded.status().message());
    retry_ = now + kRetry;
  }
  if (failure_.empty() || logged_) return false;
  if (now - failing_since_ < kTimeout) return true;
  Say(absl::StrCat("changed and do not load, so the old ones stay: ", failure_));
  logged_ = true;
  return false;
}

void ReloadingContext::Say(absl::string_view what) const {
  if (log_) log_(absl::StrCat("tls: ", absl::StrJoin(files_, ", "), " ", what));
}

}  // namespace farcall
