// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/client/connect_to_target.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rpc/naming/resolve.h"
#include "rpc/session/session_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

class ConnectToTargetTest : public ::testing::Test {
 protected:
  ~ConnectToTargetTest() override {
    world_.loop->RunOrPost([this] { result_.reset(); });
  }

  void Start(const std::string& text) {
    const absl::StatusOr<Target> target = Target::Parse(text);
    ASSERT_TRUE(target.ok()) << target.status();
    ConnectOptions options;
    options.timeout = milliseconds(123);
    world_.loop->RunOrPost([&] {
      ConnectToTarget(world_.parts, *world_.loop, *target, options, [this](auto connection) {
        EXPECT_TRUE(world_.loop->held());
        EXPECT_FALSE(result_.has_value()) << "called twice";
        result_ = std::move(connection);
      });
      EXPECT_FALSE(result_.has_value()) << "called from inside";
    });
  }
  // storage:80 at 192.0.2.x.
  void StartInTurn(const std::vector<uint8_t>& hosts) {
    std::vector<Address> addresses;
    for (const uint8_t host : hosts) addresses.push_back(Address::Ipv4({192, 0, 2, host}, 80));
    world_.loop->RunOrPost([&] {
      ConnectInTurn(world_.transport, *world_.loop, "storage:80", addresses, {},
                    [this](auto connection) {
                      EXPECT_FALSE(result_.has_value()) << "called twice";
                      result_ = std::move(connection);
                    });
    });
  }
  void ExpectAttempt(const std::string& peer) {
    ASSERT_EQ(world_.transport.attempts.size(), 1u) << "one after the other";
    EXPECT_EQ(world_.transport.attempts[0].peer.ToString(), peer);
    EXPECT_FALSE(result_.has_value());
  }
  std::string Error() const {
    return result_ && !result_->ok() ? std::string(result_->status().message()) : "";
  }

  SessionWorld world_;
  std::optional<absl::StatusOr<std::unique_ptr<Connection>>> result_;
};

TEST_F(ConnectToTargetTest, ANumberIsConnectedToAtOnce) {
  Start("192.0.2.7:8002");
  ASSERT_EQ(world_.transport.attempts.size(), 1u);
  EXPECT_TRUE(world_.blocking.empty());
  EXPECT_EQ(world_.transport.attempts[0].peer.ToString(), "192.0.2.7:8002");
  EXPECT_EQ(world_.transport.attempts[0].options.timeout, milliseconds(123));
  world_.transport.Succeed();
  ASSERT_TRUE(result_.has_value());
  EXPECT_TRUE(result_->ok());
}

TEST_F(ConnectToTargetTest, ANumberThatFailsTellsTheTransportsError) {
  Start("unix:/run/echo.sock");
  world_.transport.Fail(absl::UnavailableError("cannot connect to unix:/run/echo.sock: refused"));
  EXPECT_EQ(Error(), "cannot connect to unix:/run/echo.sock: refused");
}

TEST_F(ConnectToTargetTest, ANameIsResolvedOffTheLoop) {
  Start("localhost:8002");
  EXPECT_TRUE(world_.transport.attempts.empty());
  ASSERT_EQ(world_.blocking.size(), 1u);
  world_.RunBlocking();
  EXPECT_TRUE(world_.transport.attempts.empty()) << "the answer comes by the loop's mailbox";
  world_.Run();
  ASSERT_EQ(world_.transport.attempts.size(), 1u);
  EXPECT_EQ(world_.transport.attempts[0].peer.port(), 8002);
  EXPECT_EQ(world_.transport.attempts[0].options.timeout, milliseconds(123));
  world_.transport.Succeed();
  ASSERT_TRUE(result_.has_value());
  EXPECT_TRUE(result_->ok());
}

TEST_F(ConnectToTargetTest, TheAddressesAreTriedInTurnUntilOneAnswers) {
  StartInTurn({1, 2, 3});
  ExpectAttempt("192.0.2.1:80");
  world_.transport.Fail(absl::DeadlineExceededError("no answer within 123ms"));
  ExpectAttempt("192.0.2.2:80");
  world_.transport.Succeed();
  EXPECT_TRUE(world_.transport.attempts.empty());
  ASSERT_TRUE(result_.has_value());
  EXPECT_TRUE(result_->ok());
}

TEST_F(ConnectToTargetTest, WhenNoneAnswersTheLastErrorIsToldWithTheName) {
  StartInTurn({1, 2});
  world_.transport.Fail(absl::DeadlineExceededError("no answer within 123ms"));
  ExpectAttempt("192.0.2.2:80");
  world_.transport.Fail(absl::UnavailableError("cannot connect to 192.0.2.2:80: refused"));
  EXPECT_TRUE(world_.transport.attempts.empty());
  ASSERT_TRUE(result_.has_value());
  EXPECT_EQ(result_->status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Error(),
            "cannot reach storage:80, address 2 of 2: cannot connect to 192.0.2.2:80: refused");
}

// However many addresses the machine's resolver gives for it.
TEST_F(ConnectToTargetTest, TheAddressesOfANameAreThoseOfTheResolverInItsOrder) {
  const auto addresses = Resolve("localhost", 8002);
  ASSERT_TRUE(addresses.ok()) << addresses.status();
  Start("localhost:8002");
  world_.RunBlocking();
  world_.Run();
  for (size_t i = 0; i < addresses->size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_FALSE(result_.has_value());
    ASSERT_EQ(world_.transport.attempts.size(), 1u) << "one after the other";
    EXPECT_EQ(world_.transport.attempts[0].peer, (*addresses)[i]);
    world_.transport.Fail(absl::UnavailableError("refused"));
  }
  EXPECT_TRUE(world_.transport.attempts.empty());
  ASSERT_TRUE(result_.has_value());
  EXPECT_EQ(result_->status().code(), absl::StatusCode::kUnavailable);
  const std::string count = std::to_string(addresses->size());
  EXPECT_EQ(Error(),
            "cannot reach localhost:8002, address " + count + " of " + count + ": refused");
}

TEST_F(ConnectToTargetTest, ANameThatDoesNotExistFailsWithoutAnAttempt) {
  Start("no-such-host.invalid:80");
  world_.RunBlocking();
  world_.Run();
  EXPECT_TRUE(world_.transport.attempts.empty());
  EXPECT_EQ(Error().rfind("cannot resolve no-such-host.invalid: ", 0), 0u) << Error();
}

TEST_F(ConnectToTargetTest, TooManyNamesAtOnceFailLaterAndByName) {
  world_.refuse_blocking = true;
  Start("localhost:8002");
  EXPECT_FALSE(result_.has_value());
  world_.Run();
  ASSERT_TRUE(result_.has_value());
  EXPECT_EQ(result_->status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Error(), "cannot resolve localhost: too many names wait to be resolved already");
}

TEST_F(ConnectToTargetTest, ANameIsResolvedAgainOnlyWhereItCouldNotBeReached) {
  const auto connects = [this] {
    result_.reset();
    Start("localhost:8002");
    const size_t asked = world_.blocking.size();
    world_.RunBlocking();
    world_.Run();
    return asked;
  };
  EXPECT_EQ(connects(), 1u);
  const auto wire = world_.transport.Succeed();
  world_.Run();
  ASSERT_TRUE(result_.has_value() && result_->ok());
  world_.loop->RunOrPost([this] { result_.reset(); });
  EXPECT_EQ(connects(), 0u);
  while (!world_.transport.attempts.empty()) {
    world_.transport.Fail(absl::UnavailableError("refused"));
  }
  EXPECT_EQ(connects(), 1u);
  while (!world_.transport.attempts.empty()) {
    world_.transport.Fail(absl::UnavailableError("refused"));
  }
}

TEST_F(ConnectToTargetTest, KeepsNothingOfTheAttemptOnceItIsOver) {
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owned;
  const absl::StatusOr<Target> target = Target::Parse("localhost:8002");
  world_.loop->RunOrPost([&] {
    ConnectToTarget(world_.parts, *world_.loop, *target, {}, [owned = std::move(owned)](auto) {});
  });
  world_.RunBlocking();
  world_.Run();
  while (!world_.transport.attempts.empty()) {
    EXPECT_FALSE(watch.expired());
    world_.transport.Fail(absl::UnavailableError("refused"));
  }
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace farcall
