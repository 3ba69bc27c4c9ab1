// SPDX-License-Identifier: Apache-2.0

#include "rpc/reflection/reflection.h"

#include <cerrno>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "rpc/closure.h"
#include "rpc/controller.h"
#include "rpc/dispatch/test_services.pb.h"
#include "rpc/dispatch/test_services_two.pb.h"
#include "rpc/reflection/reflection.pb.h"

namespace farcall {
namespace {

using google::protobuf::DescriptorPool;
using testing::ElementsAre;
using testing::HasSubstr;

Reflection& AsReflection(google::protobuf::Service& service) {
  return static_cast<Reflection&>(service);
}

std::vector<std::string> List(google::protobuf::Service& service) {
  Controller controller;
  ListServicesRequest request;
  ListServicesResponse response;
  int runs = 0;
  AsReflection(service).ListServices(&controller, &request, &response, NewClosure([&] { ++runs; }));
  EXPECT_EQ(runs, 1);
  return {response.service().begin(), response.service().end()};
}

struct Files {
  explicit Files(google::protobuf::Service& service, const std::string& name) {
    GetFilesRequest request;
    request.set_service(name);
    int runs = 0;
    AsReflection(service).GetFiles(&controller, &request, &response, NewClosure([&] { ++runs; }));
    EXPECT_EQ(runs, 1);
  }
  Controller controller;
  GetFilesResponse response;
};

TEST(ReflectionTest, ListsTheServicesAndItself) {
  const auto reflection = MakeReflection({two::Echo::descriptor(), one::Lone::descriptor()});
  EXPECT_THAT(List(*reflection),
              ElementsAre("farcall.Reflection", "farcall.one.Lone", "farcall.two.Echo"));
}

TEST(ReflectionTest, NamesAServiceOnceThatIsGivenTwice) {
  const auto reflection = MakeReflection({two::Echo::descriptor(), two::Echo::descriptor()});
  EXPECT_THAT(List(*reflection), ElementsAre("farcall.Reflection", "farcall.two.Echo"));
}

TEST(ReflectionTest, ItsFilesBuildTheServiceInAnotherPool) {
  const auto reflection = MakeReflection({one::Echo::descriptor()});
  const Files files(*reflection, "farcall.one.Echo");
  ASSERT_FALSE(files.controller.Failed()) << files.controller.ErrorText();
  DescriptorPool pool;
  for (const auto& file : files.response.files().file()) {
    ASSERT_NE(pool.BuildFile(file), nullptr) << file.name();
  }
  const auto* service = pool.FindServiceByName("farcall.one.Echo");
  ASSERT_NE(service, nullptr);
  EXPECT_EQ(service->DebugString(), one::Echo::descriptor()->DebugString());
}

TEST(ReflectionTest, ImportsComeBeforeTheFilesThatNeedThem) {
  const auto reflection = MakeReflection({});
  const Files files(*reflection, "farcall.Reflection");
  ASSERT_EQ(files.response.files().file_size(), 2);
  EXPECT_EQ(files.response.files().file(0).name(), "google/protobuf/descriptor.proto");
  EXPECT_THAT(files.response.files().file(1).name(), HasSubstr("reflection.proto"));
}

TEST(ReflectionTest, AnUnknownServiceIsAnError) {
  const auto reflection = MakeReflection({one::Lone::descriptor()});
  for (const char* name : {"", "Lone", "farcall.one", "farcall.one.Echo", "farcall.one.Lone "}) {
    const Files files(*reflection, name);
    EXPECT_EQ(files.controller.ErrorCode(), kNoService) << name;
    EXPECT_THAT(files.controller.ErrorText(), HasSubstr("ListServices"));
  }
}

TEST(ReflectionTest, FilesOverTheLimitAreAnErrorWithTheNumber) {
  const auto reflection = MakeReflection({one::Lone::descriptor()}, 100);
  const Files files(*reflection, "farcall.one.Lone");
  EXPECT_EQ(files.controller.ErrorCode(), E2BIG);
  EXPECT_THAT(files.controller.ErrorText(), HasSubstr("farcall.one.Lone"));
  EXPECT_THAT(files.controller.ErrorText(), HasSubstr("100 bytes"));
}

}  // namespace
}  // namespace farcall
