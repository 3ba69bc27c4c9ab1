// SPDX-License-Identifier: Apache-2.0

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/reflection/reflection.h"
#include "rpc/runtime/server.h"
#include "tools/farcall/program_testing.h"

namespace farcall::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ProgramTest, HelpIsThereForTheProgramAndEachCommand) {
  const Outcome all({"--help"});
  EXPECT_EQ(all.code, kSuccess);
  for (const char* command : {"call", "press", "list", "status", "dump"}) {
    EXPECT_THAT(all.out, HasSubstr(absl::StrCat("\n  ", command, " ")));
    const Outcome one({command, "--help"});
    EXPECT_EQ(one.code, kSuccess);
    EXPECT_THAT(one.out, StartsWith(absl::StrCat("usage: farcall ", command, " TARGET")));
    EXPECT_THAT(one.out, HasSubstr("Exit codes:"));
    EXPECT_THAT(one.out, HasSubstr("--timeout"));
    std::istringstream lines(one.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(ProgramTest, WrongArgumentsAreToldWithTheWayToTheHelp) {
  EXPECT_EQ(Outcome({}).code, kBadArguments);
  EXPECT_THAT(Outcome({"cal"}).err, HasSubstr("there is no command cal"));
  const std::vector<std::vector<std::string>> wrong = {
      {"call"},
      {"call", "host:1"},
      {"call", "host:1", "S.M", "{}", "more"},
      {"call", "host", "S.M"},
      {"call", "host:1", "S.M", "--bogus"},
      {"call", "host:1", "S.M", "--timeout=5"},
      {"call", "host:1", "S.M", "--compress=rar"},
      {"call", "host:1", "S.M", "--header=novalue"},
      {"call", "host:1", "S.M", "--attachment=/nonexistent/file"},
      {"call", "host:1", "S.M", "-I", "dir"},
      {"call", "host:1", "S.M", "--proto=/nonexistent.proto"},
      {"press", "host:1", "S.M", "--qps=-1"},
      {"press", "host:1", "S.M", "--concurrency=0"},
      {"press", "host:1", "S.M", "--duration=0s"},
      {"press", "host:1", "S.M", "--connections=1000"},
      {"list"},
      {"status"},
      {"dump"},
      {"status", "nohost"},
  };
  for (const auto& arguments : wrong) {
    const Outcome outcome(arguments);
    EXPECT_EQ(outcome.code, kBadArguments) << testing::PrintToString(arguments);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, StartsWith("farcall: "));
    EXPECT_THAT(outcome.err,
                HasSubstr(absl::StrCat("\"farcall ", arguments[0], " --help\" tells")));
  }
}

TEST(ProgramTest, AServerThatIsNotThereHasACodeOfItsOwn) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"call", "127.0.0.1:1", "S.M"},
           {"press", "127.0.0.1:1", "S.M"},
           {"list", "127.0.0.1:1"},
           {"status", "127.0.0.1:1"},
           {"dump", "127.0.0.1:1"},
       }) {
    const Outcome outcome(arguments);
    EXPECT_EQ(outcome.code, kNoConnection) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("127.0.0.1:1"));
  }
}

// A server with nothing but its reflection, which is a service as any other.
class ServedProgramTest : public testing::Test {
 protected:
  ServedProgramTest() {
    ServerOptions options;
    options.reflection = false;
    EXPECT_TRUE(server_.AddService(MakeReflection({}).release(), SERVER_OWNS_SERVICE).ok());
    EXPECT_TRUE(server_.Start("127.0.0.1:0", options).ok());
    target_ = server_.listen_address().ToString();
  }

  Server server_;
  std::string target_;
};

TEST_F(ServedProgramTest, ACallPrintsTheAnswerAndNothingElse) {
  const Outcome outcome({"call", target_, "Reflection.ListServices", "--compact"});
  EXPECT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_EQ(outcome.out, "{\"service\":[\"farcall.Reflection\"]}\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(ServedProgramTest, RequestsComeFromArgumentsStandardInputOrFiles) {
  const std::string file = testing::TempDir() + "request.json";
  const std::string json = "{\"service\": \"no.such.Service\"}";
  std::ofstream(file) << json;
  for (const std::string& request : {json, std::string("-"), "@" + file}) {
    const Outcome outcome({"call", target_, "Reflection.GetFiles", request}, json);
    EXPECT_EQ(outcome.code, kCallFailed);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("farcall.Reflection.GetFiles failed: ENOSERVICE (1001): "));
  }
}

TEST_F(ServedProgramTest, VerboseTellsWhatCarriedTheCall) {
  const Outcome outcome(
      {"call", target_, "Reflection.ListServices", "--verbose", "--use_rdma", "--header", "k=v"});
  EXPECT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(absl::StrCat("* ", target_, " over ")));
  EXPECT_THAT(outcome.err, HasSubstr(" us\n"));
}

TEST_F(ServedProgramTest, AttachmentsAreSentAndSaved) {
  const std::string sent = testing::TempDir() + "sent";
  const std::string saved = testing::TempDir() + "saved";
  std::ofstream(sent) << std::string(100'000, 'x');
  const Outcome outcome({"call", target_, "Reflection.ListServices", "--attachment", sent,
                         "--save-attachment", saved});
  EXPECT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_TRUE(std::ifstream(saved).good()) << "empty, since this service attaches nothing";
}

TEST_F(ServedProgramTest, ListShowsServicesMessagesAndASample) {
  EXPECT_THAT(Outcome({"list", target_}).out,
              HasSubstr("farcall.Reflection\n  ListServices(farcall.ListServicesRequest) -> "));
  const Outcome service({"list", target_, "Reflection"});
  EXPECT_THAT(service.out, HasSubstr("service Reflection {"));
  EXPECT_THAT(service.out, HasSubstr("required string service = 1;"));
  EXPECT_EQ(Outcome({"list", target_, "Reflection.GetFiles"}).out,
            absl::StrCat("farcall call ", target_,
                         " farcall.Reflection.GetFiles '{\"service\": \"\"}'\n"));
  EXPECT_THAT(Outcome({"list", target_, "Nothing"}).err,
              HasSubstr("there is no service Nothing; there are: farcall.Reflection"));
}

TEST_F(ServedProgramTest, PressPrintsRowsAndASummary) {
  const Outcome outcome(
      {"press", target_, "Reflection.ListServices", "--duration=1100ms", "--concurrency=4"});
  EXPECT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_THAT(outcome.out, ContainsRegex("\n +[0-9]+ s "));
  EXPECT_THAT(outcome.out, HasSubstr("farcall.Reflection.ListServices: "));
  EXPECT_THAT(outcome.out, HasSubstr("load        4 calls under way, 1 connection\n"));
}

TEST_F(ServedProgramTest, PressPrintsJsonAlone) {
  const Outcome outcome({"press", target_, "Reflection.GetFiles", "{\"service\": \"none\"}",
                         "--duration=10ms", "--json=-"});
  EXPECT_EQ(outcome.code, kCallFailed) << "calls failed";
  EXPECT_THAT(outcome.out, StartsWith("{\"target\": "));
  EXPECT_THAT(outcome.out, HasSubstr("{\"1001\": {\"name\": \"ENOSERVICE\", "));
  EXPECT_THAT(outcome.err, HasSubstr("latency us"));
}

TEST_F(ServedProgramTest, AFileThatTakesNoJsonIsNamed) {
  const Outcome outcome({"press", target_, "Reflection.ListServices", "--duration=10ms",
                         "--json=/nowhere/at/all.json"});
  EXPECT_EQ(outcome.code, kBadArguments);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write /nowhere/at/all.json"));
}

}  // namespace
}  // namespace farcall::cli
