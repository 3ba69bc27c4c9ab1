// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/certificate_text.h"

#include <arpa/inet.h>
#include <openssl/asn1.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/tls/openssl_ptr.h"

namespace farcall {
namespace {

constexpr size_t kMaxText = 200;
constexpr size_t kMaxNames = 8;

std::string Printable(absl::string_view text) { return absl::CHexEscape(text.substr(0, kMaxText)); }

std::string NameText(const X509_NAME* name) {
  std::array<char, kMaxText> line{};
  if (X509_NAME_oneline(name, line.data(), static_cast<int>(line.size())) == nullptr) return "?";
  return line[0] == '\0' ? "(a certificate without a subject)" : Printable(line.data());
}

absl::string_view BytesOf(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<size_t>(ASN1_STRING_length(string))};
}

std::string IpText(absl::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  if (bytes.size() != 4 && bytes.size() != 16) return "?";
  if (::inet_ntop(family, bytes.data(), text.data(), text.size()) == nullptr) return "?";
  return text.data();
}

}  // namespace

std::string SubjectOf(const X509& certificate) {
  return NameText(X509_get_subject_name(&certificate));
}

std::string IssuerOf(const X509& certificate) {
  return NameText(X509_get_issuer_name(&certificate));
}

std::vector<std::string> NamesOf(const X509& certificate) {
  std::vector<std::string> names;
  const UniqueNames all(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; all != nullptr && i < sk_GENERAL_NAME_num(all.get()); ++i) {
    if (names.size() == kMaxNames) {
      names.emplace_back("...");
      break;
    }
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(all.get(), i);
    if (name->type == GEN_DNS) names.push_back(Printable(BytesOf(name->d.dNSName)));
    if (name->type == GEN_IPADD) names.push_back(IpText(BytesOf(name->d.iPAddress)));
  }
  if (names.empty()) names.emplace_back("no host at all");
  return names;
}

std::string TimeText(const ASN1_TIME* time) {
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "?";
  std::array<char, 32> text{};
  return std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts) > 0 ? text.data()
                                                                                      : "?";
}

}  // namespace farcall
