// SPDX-License-Identifier: Apache-2.0
//
// For the tests of the protocol: a server's end of a connection, step by step, whose other end
// sends text and reads text.

#ifndef FARCALL_RPC_HTTP_HTTP_PROTOCOL_TESTING_H_
#define FARCALL_RPC_HTTP_HTTP_PROTOCOL_TESTING_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/http/http_page.h"
#include "rpc/http/http_protocol.h"
#include "rpc/http/json_test.pb.h"
#include "rpc/session/session_testing.h"

namespace farcall {

// Relax sends the text back, unless the test says otherwise; Grow the whole tree, or nothing for
// "wither".
class TreeServiceForTest final : public http_test::TreeService {
 public:
  using Closure = google::protobuf::Closure;

  void Grow(google::protobuf::RpcController*, const http_test::Tree* request,
            http_test::Tree* response, Closure* done) override {
    if (request->name() != "wither") response->CopyFrom(*request);
    done->Run();
  }
  void Relax(google::protobuf::RpcController* controller, const http_test::Loose* request,
             http_test::Loose* response, Closure* done) override {
    heard.push_back(request->text());
    response->set_text(request->text());
    relax(static_cast<Controller&>(*controller), *response, done);
  }

  std::function<void(Controller&, http_test::Loose&, Closure*)> relax =
      [](Controller&, http_test::Loose&, Closure* done) { done->Run(); };
  std::vector<std::string> heard;
};

class HttpProtocolTestBase : public ::testing::Test {
 protected:
  HttpProtocolTestBase() {
    core_->parts = world_.parts;
    EXPECT_TRUE(core_->services.Add(service_).ok());
  }
  ~HttpProtocolTestBase() override {
    if (wire_ != nullptr) End();
    EXPECT_EQ(core_->connections.count(), 0);
    EXPECT_EQ(core_->running.count(), 0);
    if (closures_.empty()) {
      EXPECT_EQ(core_->unanswered.count(), 0);
      EXPECT_EQ(core_.use_count(), 1) << "calls and sessions are gone";
    }
  }

  // With options and pages set.
  void Accept() {
    ServeHttp(*core_, std::move(pages_));
    wire_ = std::make_shared<FakeWire>();
    world_.loop->RunOrPost([&] {
      ServerSession::Accept(core_, *world_.loop,
                            std::make_unique<FakeConnection>(*world_.loop, *world_.pool, wire_));
    });
  }
  void End() {
    if (wire_->handler != nullptr) wire_->End(absl::UnavailableError("closed by peer"));
    world_.Run();
    wire_ = nullptr;
  }
  // What is answered to `bytes`, as it went out.
  std::string Ask(absl::string_view bytes) {
    if (wire_ == nullptr) Accept();
    wire_->Deliver(bytes);
    world_.Run();
    return Written();
  }
  std::string Written() {
    std::string written = wire_->written.ToString();
    wire_->written.Clear();
    return written;
  }
  static std::string Get(absl::string_view path, absl::string_view fields = "") {
    return absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: test\r\n", fields, "\r\n");
  }
  static std::string Post(absl::string_view path, absl::string_view body,
                          absl::string_view fields = "") {
    return absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: test\r\nContent-Length: ", body.size(),
                        "\r\n", fields, "\r\n", body);
  }
  static std::string Relax(absl::string_view text, absl::string_view fields = "") {
    return Post("/TreeService/Relax", absl::StrCat("{\"text\":\"", text, "\"}"), fields);
  }
  static int Count(absl::string_view text, absl::string_view part) {
    int count = 0;
    for (size_t at = 0; (at = text.find(part, at)) != absl::string_view::npos; at += part.size()) {
      ++count;
    }
    return count;
  }
  // `status`, and a body that ends in `part` or holds it.
  void ExpectAnswer(absl::string_view bytes, int status, absl::string_view part) {
    const std::string answer = Ask(bytes);
    EXPECT_TRUE(absl::StartsWith(answer, absl::StrCat("HTTP/1.1 ", status, " "))) << answer;
    EXPECT_TRUE(absl::StrContains(answer, part)) << answer;
    EXPECT_EQ(Count(answer, "HTTP/1.1 "), 1) << answer;
  }
  bool closed() const { return wire_->closing; }
  // Handlers keep their closures.
  void Keep() {
    service_.relax = [this](Controller&, http_test::Loose&, google::protobuf::Closure* done) {
      closures_.push_back(done);
    };
  }
  void AnswerOldest() {
    google::protobuf::Closure* const done = closures_.front();
    closures_.erase(closures_.begin());
    done->Run();
    world_.Run();
  }
  bool Logged(absl::string_view part) const {
    for (const std::string& line : world_.log) {
      if (absl::StrContains(line, part)) return true;
    }
    return false;
  }

  SessionWorld world_;
  TreeServiceForTest service_;
  HttpPages pages_;
  std::shared_ptr<ServerCore> core_ = std::make_shared<ServerCore>();
  std::shared_ptr<FakeWire> wire_;
  std::vector<google::protobuf::Closure*> closures_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_PROTOCOL_TESTING_H_
