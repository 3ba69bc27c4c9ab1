// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/queues/flush_list.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace farcall {
namespace {

class Output final : public Flushable {
 public:
  explicit Output(std::function<void()> on_flush = nullptr) : on_flush_(std::move(on_flush)) {}
  void Flush() override {
    ++flushes;
    // A copy: the output may end its own life.
    if (const auto on_flush = on_flush_) on_flush();
  }
  bool queued() const { return flush_slot != kNotQueued; }

  int flushes = 0;

 private:
  std::function<void()> on_flush_;
};

TEST(FlushListTest, FlushesOnceHoweverOftenItWasAdded) {
  FlushList list;
  Output output;
  EXPECT_TRUE(list.empty());
  list.Add(output);
  list.Add(output);
  EXPECT_FALSE(list.empty());
  list.FlushAll();
  EXPECT_EQ(output.flushes, 1);
  EXPECT_TRUE(list.empty());
  list.FlushAll();
  EXPECT_EQ(output.flushes, 1);
}

TEST(FlushListTest, FlushesInTheOrderOfAdding) {
  FlushList list;
  std::vector<int> order;
  Output a([&] { order.push_back(1); });
  Output b([&] { order.push_back(2); });
  Output c([&] { order.push_back(3); });
  list.Add(b);
  list.Add(a);
  list.Add(c);
  list.FlushAll();
  EXPECT_EQ(order, (std::vector<int>{2, 1, 3}));
}

TEST(FlushListTest, WhatWasRemovedIsNotFlushed) {
  FlushList list;
  Output a;
  Output b;
  list.Add(a);
  list.Add(b);
  list.Remove(a);
  list.Remove(a);
  list.FlushAll();
  EXPECT_EQ(a.flushes, 0);
  EXPECT_EQ(b.flushes, 1);
}

TEST(FlushListTest, WhatWasRemovedCanBeAddedAgain) {
  FlushList list;
  Output a;
  list.Add(a);
  list.Remove(a);
  list.Add(a);
  list.FlushAll();
  EXPECT_EQ(a.flushes, 1);
}

TEST(FlushListTest, AFlushMayRemoveAndDestroyAnother) {
  FlushList list;
  auto b = std::make_unique<Output>();
  Output a([&] {
    list.Remove(*b);
    b.reset();
  });
  list.Add(a);
  list.Add(*b);
  list.FlushAll();
  EXPECT_EQ(a.flushes, 1);
  EXPECT_TRUE(list.empty());
}

TEST(FlushListTest, AFlushMayEndItsOwnLife) {
  FlushList list;
  std::unique_ptr<Output> output;
  output = std::make_unique<Output>([&] { output.reset(); });
  list.Add(*output);
  list.FlushAll();
  EXPECT_EQ(output, nullptr);
}

TEST(FlushListTest, TheLastOfSeveralMayStayOnce) {
  FlushList list;
  std::vector<int> order;
  Output a([&] { order.push_back(1); });
  Output b([&] { order.push_back(2); });
  Output low([&] { order.push_back(9); });
  Output c([&] {
    order.push_back(3);
    list.Add(low);
  });
  list.Add(c);
  list.Add(a);
  list.Add(b);
  list.FlushAll(/*but_last=*/true);
  EXPECT_EQ(order, (std::vector<int>{3, 1, 9}));
  EXPECT_TRUE(b.queued());
  list.Add(b);
  list.Add(a);
  list.FlushAll(/*but_last=*/true);
  EXPECT_EQ(order, (std::vector<int>{3, 1, 9, 2}));
  EXPECT_TRUE(a.queued());
  list.FlushAll(/*but_last=*/true);
  EXPECT_EQ(order, (std::vector<int>{3, 1, 9, 2, 1})) << "it is the only one";
  EXPECT_TRUE(list.empty());
}

TEST(FlushListTest, WhatStayedMayBeRemovedAndDestroyedByAnother) {
  FlushList list;
  auto last = std::make_unique<Output>();
  Output a([&] {
    list.Remove(*last);
    last.reset();
  });
  list.Add(a);
  list.Add(*last);
  list.FlushAll(/*but_last=*/true);
  EXPECT_EQ(last, nullptr);
  list.FlushAll();
  EXPECT_TRUE(list.empty());
}

TEST(FlushListTest, ALayerBelowIsFlushedInTheSameCall) {
  FlushList list;
  Output low;
  Output middle([&] { list.Add(low); });
  Output high([&] { list.Add(middle); });
  list.Add(high);
  list.FlushAll();
  EXPECT_EQ(low.flushes, 1);
  EXPECT_TRUE(list.empty());
}

TEST(FlushListTest, OutputThatFeedsItselfEndsAndStaysQueued) {
  FlushList list;
  Output* self = nullptr;
  Output output([&] { list.Add(*self); });
  self = &output;
  list.Add(output);
  list.FlushAll();
  EXPECT_GT(output.flushes, 0);
  EXPECT_LT(output.flushes, 10);
  EXPECT_FALSE(list.empty());
  list.Remove(output);
  EXPECT_FALSE(output.queued());
}

TEST(FlushListTest, PlacesStayTrueOverRounds) {
  // In the second round the places begin anew: removing must hit the right output.
  FlushList list;
  Output c;
  Output b;
  Output a([&] {
    list.Add(b);
    list.Add(c);
  });
  Output filler;
  Output remover([&] { list.Remove(c); });
  list.Add(filler);
  list.Add(a);
  Output late([&] { list.Add(remover); });
  list.Add(late);
  list.FlushAll();  // round 2: b, c, remover
  EXPECT_EQ(b.flushes, 1);
  EXPECT_EQ(c.flushes, 1);
  EXPECT_EQ(remover.flushes, 1);

  Output d([&] { list.Remove(c); });
  Output e([&] {
    list.Add(d);
    list.Add(c);
    list.Add(b);
  });
  list.Add(filler);
  list.Add(e);
  list.FlushAll();  // round 2: d, (c), b
  EXPECT_EQ(c.flushes, 1);
  EXPECT_EQ(b.flushes, 2);
}

}  // namespace
}  // namespace farcall
