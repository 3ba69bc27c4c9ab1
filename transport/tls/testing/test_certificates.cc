// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/testing/test_certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <cstdint>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr long kDay = 24 * 60 * 60;

UniqueKey NewKey() {
  UniqueKey key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  Check(key != nullptr, "OpenSSL makes a key");
  return key;
}

void Extend(X509& certificate, X509& issuer, int kind, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  Check(extension != nullptr && X509_add_ext(&certificate, extension, -1) == 1,
        "a test gives good extensions");
  X509_EXTENSION_free(extension);
}

UniqueX509 NewCertificate(const std::string& subject, EVP_PKEY& key, int days) {
  UniqueX509 made(X509_new());
  uint64_t serial = 0;
  Check(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) == 1, "dice");
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.get()), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), days < 0 ? 2 * days * kDay : -kDay);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), days * kDay);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
  Check(X509_set_pubkey(made.get(), &key) == 1, "a certificate takes its key");
  return made;
}

void Sign(X509& certificate, const X509& issuer, EVP_PKEY& key) {
  Check(X509_set_issuer_name(&certificate, X509_get_subject_name(&issuer)) == 1 &&
            X509_sign(&certificate, &key, EVP_sha256()) > 0,
        "a test's CA signs");
}

UniqueX509 NewLeaf(const TestLeaf& leaf, EVP_PKEY& key, X509* issuer) {
  UniqueX509 made = NewCertificate(leaf.subject, key, leaf.days);
  X509& signer = issuer != nullptr ? *issuer : *made;
  if (!leaf.names.empty()) Extend(*made, signer, NID_subject_alt_name, leaf.names);
  if (leaf.padding > 0) {
    Extend(*made, signer, NID_netscape_comment,
           std::string(static_cast<size_t>(leaf.padding), 'x'));
  }
  return made;
}

// Text that `write` writes.
template <typename Write>
std::string Pem(Write&& write) {
  BIO* const bio = BIO_new(BIO_s_mem());
  Check(bio != nullptr && write(bio) == 1, "PEM is written");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

std::string PemOf(const X509& certificate) {
  return Pem([&](BIO* bio) { return PEM_write_bio_X509(bio, &certificate); });
}

}  // namespace

void ReplaceFile(const std::string& file, absl::string_view text) {
  const std::string fresh = file + ".new";
  std::FILE* const opened = std::fopen(fresh.c_str(), "we");
  Check(opened != nullptr && std::fwrite(text.data(), 1, text.size(), opened) == text.size() &&
            std::fclose(opened) == 0 && std::rename(fresh.c_str(), file.c_str()) == 0,
        "a test writes its files");
}

TestCa::TestCa(const std::string& name) : key_(NewKey()) {
  certificate_ = NewCertificate(name, *key_, 30);
  Extend(*certificate_, *certificate_, NID_basic_constraints, "critical,CA:TRUE");
  Extend(*certificate_, *certificate_, NID_key_usage, "critical,keyCertSign");
  Sign(*certificate_, *certificate_, *key_);
  ReplaceFile(file(), PemOf(*certificate_));
}

TlsFiles TestCa::Issue(const std::string& name, const TestLeaf& leaf) {
  const UniqueKey key = NewKey();
  const UniqueX509 certificate = NewLeaf(leaf, *key, certificate_.get());
  Sign(*certificate, *certificate_, *key_);
  return Write(name, *certificate, *key);
}

TlsFiles TestCa::SelfSigned(const std::string& name, const TestLeaf& leaf) {
  const UniqueKey key = NewKey();
  const UniqueX509 certificate = NewLeaf(leaf, *key, nullptr);
  Sign(*certificate, *certificate, *key);
  return Write(name, *certificate, *key);
}

TlsFiles TestCa::Write(const std::string& name, const X509& certificate, EVP_PKEY& key) const {
  TlsFiles files;
  files.certificate = absl::StrCat(dir_.path(), "/", name, ".pem");
  files.private_key = absl::StrCat(dir_.path(), "/", name, ".key");
  files.ca = file();
  // Looked at for each connection.
  files.reload_interval = Duration::zero();
  ReplaceFile(files.private_key, Pem([&](BIO* bio) {
                return PEM_write_bio_PrivateKey(bio, &key, nullptr, nullptr, 0, nullptr, nullptr);
              }));
  ReplaceFile(files.certificate, PemOf(certificate));
  return files;
}

void TestCa::Encrypt(const std::string& key_file) const {
  const UniqueKey key = NewKey();
  const std::string secret = "secret";
  ReplaceFile(key_file, Pem([&](BIO* bio) {
                return PEM_write_bio_PrivateKey(
                    bio, key.get(), EVP_aes_256_cbc(),
                    reinterpret_cast<const unsigned char*>(secret.data()),
                    static_cast<int>(secret.size()), nullptr, nullptr);
              }));
}

ClientTlsOptions TestCa::Client() const {
  ClientTlsOptions options;
  options.files.ca = file();
  options.files.reload_interval = Duration::zero();
  return options;
}

ServerTlsOptions TestCa::Server(const TestLeaf& leaf) {
  ServerTlsOptions options;
  options.files = Issue(absl::StrCat("server", ++issued_), leaf);
  return options;
}

}  // namespace farcall
