// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_VERBS_ERRNO_TEXT_H_
#define FARCALL_TRANSPORT_RDMA_VERBS_ERRNO_TEXT_H_

#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/base/errno_status.h"

namespace farcall {

// "WHAT: ERROR", with the cure where descriptors are lacking.
inline std::string ErrnoText(absl::string_view what, int error) {
  std::string text = absl::StrCat(what, ": ", ErrnoStatus(error).message());
  if (error == EMFILE) absl::StrAppend(&text, " (raise RLIMIT_NOFILE, ulimit -n)");
  if (error == ENFILE) absl::StrAppend(&text, " (raise the sysctl fs.file-max)");
  return text;
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_VERBS_ERRNO_TEXT_H_
