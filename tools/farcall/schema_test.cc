// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/schema.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/reflection/reflection.h"
#include "rpc/reflection/reflection.pb.h"
#include "rpc/runtime/server.h"

namespace farcall::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string TextOf(const absl::Status& status) { return std::string(status.message()); }

class ImportTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(Path(name)) << text;
  }
  std::string Path(const std::string& name) { return absl::StrCat(directory_, name); }

  const std::string directory_ = testing::TempDir();  // ends with a slash
};

TEST_F(ImportTest, ReadsAServiceWithItsImports) {
  Write("words.proto",
        "syntax = \"proto3\"; package w; import \"google/protobuf/timestamp.proto\";"
        "message Word { string text = 1; google.protobuf.Timestamp at = 2; }");
  Write("service.proto",
        "syntax = \"proto3\"; package s; import \"words.proto\";"
        "service Talk { rpc Say(w.Word) returns (w.Word); }");
  // By its name among the imports, and by its path.
  for (const std::string& file : {std::string("service.proto"), Path("service.proto")}) {
    const auto schema = ImportFiles({file}, {directory_});
    ASSERT_TRUE(schema.ok()) << schema.status();
    EXPECT_THAT((*schema)->services(), ElementsAre("s.Talk"));
    const auto method = (*schema)->FindMethod("Talk.Say");
    ASSERT_TRUE(method.ok()) << method.status();
    EXPECT_EQ((*method)->input_type()->full_name(), "w.Word");
  }
}

TEST_F(ImportTest, AFileNeedNotBeInTheDirectories) {
  Write("apart.proto",
        "syntax = \"proto3\"; message M {} service Apart { rpc Do(M) returns (M); }");
  // As people and scripts spell paths.
  for (const std::string& file :
       {Path("apart.proto"), Path("/apart.proto"), Path("./apart.proto")}) {
    for (const std::vector<std::string>& directories : {std::vector<std::string>{}, {"/usr/lib"}}) {
      const auto schema = ImportFiles({file}, directories);
      ASSERT_TRUE(schema.ok()) << file << ": " << schema.status();
      EXPECT_THAT((*schema)->services(), ElementsAre("Apart"));
    }
  }
}

TEST_F(ImportTest, ErrorsHaveFileAndLine) {
  Write("bad.proto", "syntax = \"proto3\";\nmessage {");
  const auto schema = ImportFiles({"bad.proto"}, {directory_});
  EXPECT_EQ(schema.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(TextOf(schema.status()), HasSubstr("bad.proto:2:9: "));
}

TEST_F(ImportTest, AFileThatIsNotThereIsNamed) {
  const auto schema = ImportFiles({"none.proto"}, {directory_});
  EXPECT_THAT(TextOf(schema.status()), HasSubstr("cannot read none.proto (-I says where"));
}

TEST_F(ImportTest, FilesWithoutServicesAreAnError) {
  Write("empty.proto", "syntax = \"proto3\";");
  EXPECT_THAT(TextOf(ImportFiles({"empty.proto"}, {directory_}).status()),
              HasSubstr("define no service"));
}

TEST_F(ImportTest, AnUnknownMethodIsAnsweredWithThoseThatThereAre) {
  Write("s.proto",
        "syntax = \"proto3\"; message M {}"
        "service Talk { rpc Say(M) returns (M); rpc Hear(M) returns (M); }");
  const auto schema = ImportFiles({"s.proto"}, {directory_});
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_THAT(TextOf((*schema)->FindMethod("Talk.Shout").status()),
              HasSubstr("Talk has no method Shout; it has: Say, Hear"));
  EXPECT_THAT(TextOf((*schema)->FindMethod("Tell.Say").status()),
              HasSubstr("there is no service Tell; there are: Talk"));
}

// A server whose services are given.
class ServerSchemaTest : public testing::Test {
 protected:
  void Start(std::unique_ptr<google::protobuf::Service> service) {
    ServerOptions options;
    options.reflection = false;  // the test brings its own
    ASSERT_TRUE(server_.AddService(service.release(), SERVER_OWNS_SERVICE).ok());
    ASSERT_TRUE(server_.Start("127.0.0.1:0", options).ok());
    Open(server_.listen_address().ToString());
  }
  void Open(const std::string& target) {
    ChannelOptions options;
    options.timeout_ms = 10'000;
    auto channel = Channel::Create(target, options);
    ASSERT_TRUE(channel.ok()) << channel.status();
    channel_ = *std::move(channel);
  }

  Server server_;
  std::unique_ptr<Channel> channel_;
};

class OtherService final : public Reflection {
 public:
  void ListServices(google::protobuf::RpcController*, const ListServicesRequest*,
                    ListServicesResponse* response, google::protobuf::Closure* done) override {
    response->add_service("lost.Service");
    done->Run();
  }
  void GetFiles(google::protobuf::RpcController*, const GetFilesRequest*,
                GetFilesResponse* response, google::protobuf::Closure* done) override {
    auto* file = response->mutable_files()->add_file();
    file->set_name("f.proto");
    file->add_dependency("missing.proto");
    done->Run();
  }
};

TEST_F(ServerSchemaTest, AsksTheServer) {
  Start(MakeReflection({}));
  const auto schema = AskServer(*channel_);
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_THAT((*schema)->services(), ElementsAre("farcall.Reflection"));
  const auto method = (*schema)->FindMethod("Reflection.GetFiles");
  ASSERT_TRUE(method.ok()) << method.status();
  EXPECT_NE(*method, Reflection::descriptor()->FindMethodByName("GetFiles")) << "of its own pool";
  EXPECT_EQ((*method)->DebugString(),
            Reflection::descriptor()->FindMethodByName("GetFiles")->DebugString());
}

TEST_F(ServerSchemaTest, FilesThatDoNotFitTogetherAreAnError) {
  Start(std::make_unique<OtherService>());
  const auto schema = AskServer(*channel_);
  ASSERT_TRUE(schema.ok()) << schema.status();
  const auto method = (*schema)->FindMethod("lost.Service.Method");
  EXPECT_THAT(TextOf(method.status()), HasSubstr("do not fit together"));
  EXPECT_THAT(TextOf(method.status()), HasSubstr("missing.proto"));
}

TEST_F(ServerSchemaTest, AServerThatIsNotThereIsUnavailable) {
  Open("127.0.0.1:1");
  const auto schema = AskServer(*channel_);
  EXPECT_EQ(schema.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(TextOf(schema.status()), HasSubstr("127.0.0.1:1"));
}

TEST(ServerSchemaOffTest, AServerWithoutReflectionIsToldWithTheCure) {
  Server server;
  ServerOptions options;
  options.reflection = false;
  ASSERT_TRUE(server.Start("127.0.0.1:0", options).ok());
  ChannelOptions channel_options;
  channel_options.timeout_ms = 10'000;
  const auto channel = Channel::Create(server.listen_address().ToString(), channel_options);
  ASSERT_TRUE(channel.ok());
  const auto schema = AskServer(**channel);
  EXPECT_EQ(schema.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(TextOf(schema.status()), HasSubstr("--proto FILE -I DIR"));
}

}  // namespace
}  // namespace farcall::cli
