// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/options_text.h"

#include <map>
#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace farcall {
namespace {

std::map<std::string, std::string> Texts(const ServerOptions& options) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : OptionsText(options)) {
    EXPECT_TRUE(texts.emplace(name, value).second) << name;
    EXPECT_FALSE(value.empty()) << name;
  }
  return texts;
}

TEST(OptionsTextTest, TheDefaultsSayWhatTheyMean) {
  auto texts = Texts(ServerOptions());
  EXPECT_EQ(texts["handler_threads"], "default");
  EXPECT_EQ(texts["max_concurrency"], "no limit");
  EXPECT_EQ(texts["max_connections"], "20000");
  EXPECT_EQ(texts["use_rdma"], "no");
  EXPECT_EQ(texts["tls"], "no");
  EXPECT_EQ(texts["traffic_class"], "default");
}

TEST(OptionsTextTest, WhatWasSetIsSaid) {
  ServerOptions options;
  options.handler_threads = 0;
  options.max_concurrency = MaxConcurrency::Auto();
  options.idle_timeout_ms = -1;
  options.read_timeout_ms = 250;
  options.require_rdma = true;
  options.traffic_class = 104;
  auto texts = Texts(options);
  EXPECT_EQ(texts["handler_threads"], "inline");
  EXPECT_EQ(texts["max_concurrency"], "auto");
  EXPECT_EQ(texts["idle_timeout_ms"], "never");
  EXPECT_EQ(texts["read_timeout_ms"], "250 ms");
  EXPECT_EQ(texts["use_rdma"], "yes") << "require_rdma implies it";
  EXPECT_EQ(texts["traffic_class"], "104");
  options.max_concurrency = 8;
  EXPECT_EQ(Texts(options)["max_concurrency"], "8");
}

TEST(OptionsTextTest, KeysAreNotTold) {
  auto tls = std::make_shared<ServerTlsOptions>();
  tls->files.private_key = "/secret/key.pem";
  tls->require_client_certificate = true;
  ServerOptions options;
  options.tls = tls;
  for (const auto& [name, value] : Texts(options)) {
    EXPECT_EQ(value.find("secret"), std::string::npos) << name;
  }
  EXPECT_EQ(Texts(options)["tls"], "mutual");
}

}  // namespace
}  // namespace farcall
