// SPDX-License-Identifier: Apache-2.0
//
// What certificates say, as text for people: escaped and short, since peers wrote them.

#ifndef FARCALL_TRANSPORT_TLS_CERTIFICATE_TEXT_H_
#define FARCALL_TRANSPORT_TLS_CERTIFICATE_TEXT_H_

#include <openssl/x509.h>

#include <string>
#include <vector>

namespace farcall {

std::string SubjectOf(const X509& certificate);  // "/O=Example/CN=server"
std::string IssuerOf(const X509& certificate);
// Its subject alternative names for hosts and addresses, a few of them; else what it has for one.
std::vector<std::string> NamesOf(const X509& certificate);
std::string TimeText(const ASN1_TIME* time);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_CERTIFICATE_TEXT_H_
