// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tools/node/testing/fixture.h"

namespace farcall::selectors {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Ended {
  int code;
  std::string out;
  std::string err;
};

Ended RunWith(const std::vector<std::string>& arguments, const std::string& input = "") {
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  Streams streams{in, out, err};
  const int code = RunProgram(arguments, streams);
  return {code, out.str(), err.str()};
}

std::string JsonOf(const std::vector<std::string>& fixtures) {
  std::string lines;
  for (const std::string& name : fixtures) {
    const node::FixtureTree tree = node::FixtureTree::Named(name);
    const Ended run = RunWith({"--root", tree.root(), "--format=json"});
    EXPECT_EQ(run.code, kPrinted) << run.err;
    lines += run.out;
  }
  return lines;
}

TEST(ProgramTest, HelpNamesOptionsAndExitCodes) {
  const Ended run = RunWith({"--help"});
  EXPECT_EQ(run.code, kPrinted);
  for (const char* const part :
       {"usage: gen_selectors", "--per-rail", "--from FILE", "exit codes"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
}

TEST(ProgramTest, ThisMachineIsReadWithoutArguments) {
  const Ended run = RunWith({"--format", "json"});
  EXPECT_EQ(run.code, kPrinted);
  EXPECT_THAT(run.out, StartsWith("{\"hostname\":"));
}

TEST(ProgramTest, AConfigMapIsPrinted) {
  const node::FixtureTree tree = node::FixtureTree::Named("cx7_infiniband");
  const Ended run = RunWith({"--root", tree.root(), "--max=500", "--resource", "hca", "--prefix",
                             "example.com", "--name=devices", "--namespace=rdma"});
  EXPECT_EQ(run.code, kPrinted);
  for (const char* const part :
       {"# example.com/hca selects\n", "  name: devices\n  namespace: rdma\n",
        "\"resourcePrefix\": \"example.com\"", "\"resourceName\": \"hca\"", "\"rdmaHcaMax\": 500",
        "\"linkTypes\": [\"infiniband\"]"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
  EXPECT_EQ(run.err, "");
}

TEST(ProgramTest, VirtualFunctionsAreForTheSriovPlugin) {
  const node::FixtureTree tree = node::FixtureTree::Named("sriov");
  const Ended run = RunWith({"--root", tree.root(), "--format=sriov"});
  EXPECT_EQ(run.code, kPrinted);
  for (const char* const part :
       {"  name: sriovdp-config\n", "\"resourceList\": [", "\"resourcePrefix\": \"nvidia.com\"",
        "\"resourceName\": \"rdma_vf\"", "\"devices\": [\"101e\"]", "\"isRdma\": true"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
  EXPECT_THAT(run.out, Not(HasSubstr("rdmaHcaMax")));
}

TEST(ProgramTest, ManyNodesComeFromStandardInputOrFiles) {
  const std::string lines = JsonOf({"cx7_roce", "cx7_roce_other"});
  const Ended run = RunWith({"--from", "-", "--per-rail"}, lines);
  EXPECT_EQ(run.code, kPrinted) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\"resourceName\": \"hca_shared_devices_b\""));
  EXPECT_THAT(run.out, HasSubstr("\"ifNames\": [\"ens1f1np1\", \"ens3f1np1\"]"));
  EXPECT_THAT(run.err, HasSubstr("warning: the nodes' interfaces have different names"));
  const std::string file = ::testing::TempDir() + "/nodes.json";
  std::ofstream(file) << lines;
  EXPECT_EQ(RunWith({"--from", file, "--per-rail"}).out, run.out);
}

TEST(ProgramTest, ANodeCanBeGivenItsName) {
  const node::FixtureTree tree = node::FixtureTree::Named("cx7_roce");
  const Ended run = RunWith({"--root", tree.root(), "--node-name=worker-7", "--format=json"});
  EXPECT_THAT(run.out, StartsWith("{\"hostname\":\"worker-7\""));
}

TEST(ProgramTest, NothingToSelectTellsWhy) {
  const node::FixtureTree tree = node::FixtureTree::Named("rxe");
  const Ended run = RunWith({"--root", tree.root()});
  EXPECT_EQ(run.code, kCannotSelect);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("left out: rxe-node-1: rxe0: rxe is a driver in software"));
  EXPECT_THAT(run.err, HasSubstr("no RDMA device is left to select"));
  const Ended table = RunWith({"--root", tree.root(), "--format=table"});
  EXPECT_EQ(table.code, kPrinted);
  EXPECT_THAT(table.out, HasSubstr("no: rxe is a driver in software"));
}

TEST(ProgramTest, WrongArgumentsNameTheOption) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--format=xml"}, "--format: shared, sriov, table or json"},
      {{"nodes.json"}, "what is \"nodes.json\"? Files are given by --from"},
      {{"--link=wifi"}, "--link: infiniband or ethernet"},
      {{"--link="}, "--link: infiniband or ethernet"},
      {{"--max=0"}, "--max"},
      {{"--min-rate=fast"}, "--min-rate"},
      {{"--resource=a-b"}, "--resource: letters, digits and _ only, not \"a-b\""},
      {{"--name=a\nb"}, "--name"},
      {{"--from=/nonexistent"}, "--from /nonexistent: cannot be opened"},
      {{"--from=-", "--root=/"}, "--root"},
      {{"--colour"}, "--colour"},
  };
  for (const auto& [arguments, message] : cases) {
    const Ended run = RunWith(arguments);
    EXPECT_EQ(run.code, kBadArguments) << message;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(message));
    EXPECT_THAT(run.err, HasSubstr("\"gen_selectors --help\" tells what it takes"));
  }
}

TEST(ProgramTest, InputThatIsNoInventoryNamesFileAndPlace) {
  const Ended text = RunWith({"--from=-"}, "Error from server (NotFound)\n");
  EXPECT_EQ(text.code, kBadArguments);
  EXPECT_THAT(text.err, HasSubstr("--from -: line 1: \"Error from server"));
  const Ended field = RunWith({"--from=-"}, "{\"hostname\": \"a\"}\n{\"color\": 1}\n");
  EXPECT_EQ(field.code, kBadArguments);
  EXPECT_THAT(field.err, HasSubstr("object 2"));
  EXPECT_EQ(RunWith({"--from=-"}, "").code, kCannotSelect);
}

// --- The page's samples are what is printed ---

struct Sample {
  std::vector<std::string> arguments;
  std::string output;
};

std::vector<Sample> SamplesOf(const std::string& page) {
  std::vector<Sample> samples;
  std::vector<std::string> blocks = absl::StrSplit(page, "```");
  for (size_t i = 1; i < blocks.size(); i += 2) {
    absl::string_view block = blocks[i];
    block.remove_prefix(block.find('\n') + 1);
    if (!absl::ConsumePrefix(&block, "$ gen_selectors ")) continue;
    const size_t end = block.find('\n');
    samples.push_back(
        {absl::StrSplit(block.substr(0, end), ' '), std::string(block.substr(end + 1))});
  }
  return samples;
}

std::string Page() {
  std::ifstream file("docs/gen_selectors.md");
  std::ostringstream page;
  page << file.rdbuf();
  return page.str();
}

TEST(ProgramTest, TheOptionsOfThePageAreThere) {
  const std::string help = RunWith({"--help"}).out;
  const std::string page = Page();
  const std::set<std::string> of_others = {"--config"};
  const std::regex option("--[a-z][a-z-]*");
  size_t found = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), option), end; at != end; ++at) {
    if (of_others.count(at->str()) > 0) continue;
    ++found;
    EXPECT_THAT(help, HasSubstr(absl::StrCat("  ", at->str(), " ")));
  }
  EXPECT_GT(found, 10u);
}

TEST(ProgramTest, TheSamplesOfThePageAreWhatItPrints) {
  const std::vector<Sample> samples = SamplesOf(Page());
  ASSERT_EQ(samples.size(), 2u);
  const std::string nodes = JsonOf({"cx7_infiniband", "mixed_fabric", "rxe"});
  for (Sample sample : samples) {
    for (std::string& argument : sample.arguments) {
      if (argument == "nodes.json") argument = "-";
    }
    const Ended run = RunWith(sample.arguments, nodes);
    EXPECT_EQ(run.code, kPrinted) << run.err;
    EXPECT_EQ(run.out, sample.output);
  }
}

}  // namespace
}  // namespace farcall::selectors
