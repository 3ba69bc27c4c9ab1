// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_OPENSSL_ERROR_H_
#define FARCALL_TRANSPORT_TLS_OPENSSL_ERROR_H_

#include <string>

namespace farcall {

// What the last call of OpenSSL on this thread failed with. Begins with ERR_clear_error
// before the call; see ERR_get_error(3ssl).
struct OpenSslError {
  int library = 0;  // ERR_LIB_SSL and so on; 0: no error was left
  int reason = 0;
  std::string text;  // of all errors that were left, the innermost first

  // Takes them off the thread's queue.
  static OpenSslError Take();
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_OPENSSL_ERROR_H_
