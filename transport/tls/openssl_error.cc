// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/openssl_error.h"

#include <openssl/err.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"

namespace farcall {
namespace {

std::string TextOf(unsigned long error) {
  if (ERR_SYSTEM_ERROR(error)) return std::string(ErrnoStatus(ERR_GET_REASON(error)).message());
  const char* const reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : absl::StrCat("error ", absl::Hex(error));
}

}  // namespace

OpenSslError OpenSslError::Take() {
  OpenSslError all;
  while (const unsigned long error = ERR_get_error()) {
    if (all.reason == 0) {
      all.library = ERR_GET_LIB(error);
      all.reason = ERR_GET_REASON(error);
    }
    absl::StrAppend(&all.text, all.text.empty() ? "" : ", ", TextOf(error));
  }
  if (all.text.empty()) all.text = "OpenSSL gives no reason";
  return all;
}

}  // namespace farcall
