// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_OPENSSL_PTR_H_
#define FARCALL_TRANSPORT_TLS_OPENSSL_PTR_H_

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>

namespace farcall {

// What OpenSSL hands out, owned.
template <auto kFree>
struct OpenSslFree {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
template <typename T, auto kFree>
using OpenSslPtr = std::unique_ptr<T, OpenSslFree<kFree>>;

using UniqueSslCtx = OpenSslPtr<SSL_CTX, SSL_CTX_free>;
using UniqueSsl = OpenSslPtr<SSL, SSL_free>;
using UniqueX509 = OpenSslPtr<X509, X509_free>;
using UniqueKey = OpenSslPtr<EVP_PKEY, EVP_PKEY_free>;
using UniqueNames = OpenSslPtr<GENERAL_NAMES, GENERAL_NAMES_free>;

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_OPENSSL_PTR_H_
