// Variables of modules: states of their own, at once.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace plim {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char *statesSource = R"(
ml_program.global private mutable @total(dense<[10.0, 20.0]> : tensor<2xf32>) : tensor<2xf32>
func.func @add(%x: tensor<2xf32>) -> tensor<2xf32> {
  %old = ml_program.global_load @total : tensor<2xf32>
  %new = arith.addf %old, %x : tensor<2xf32>
  ml_program.global_store @total = %new : tensor<2xf32>
  return %new : tensor<2xf32>
}
memref.global "private" @ticks : memref<i64> = dense<0> {alignment = 256}
memref.global "private" @large : memref<5000xi8> = dense<7>
func.func @tick() -> i64 {
  %one = arith.constant 1 : i64
  %ticks = memref.get_global @ticks : memref<i64>
  %old = memref.load %ticks[] : memref<i64>
  %new = arith.addi %old, %one : i64
  memref.store %new, %ticks[] : memref<i64>
  return %new : i64
}
func.func @last(%x: memref<i8>) {
  %i = arith.constant 4999 : index
  %large = memref.get_global @large : memref<5000xi8>
  %v = memref.load %large[%i] : memref<5000xi8>
  memref.store %v, %x[] : memref<i8>
  return
}
// Of no state.
func.func @double(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = arith.addf %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
)";

class StateTest : public ::testing::TestWithParam<bool> {
protected:
  Function function(const char *name) const { return lookup(module, name); }
  std::shared_ptr<ModuleState> createState() const {
    StatusOr<std::shared_ptr<ModuleState>> state = module->createState();
    EXPECT_TRUE(state.ok()) << state.status().toString();
    return *state;
  }
  std::vector<float> add(float x, const std::shared_ptr<ModuleState> &state) const {
    StatusOr<std::vector<Value>> results =
        function("add").call(std::vector<Value>{makeBuffer<float>({2}, {x, x})}, {.state = state});
    EXPECT_TRUE(results.ok()) << results.status().toString();
    return results.ok() ? elements<float>((*results)[0]) : std::vector<float>();
  }
  uint64_t tick(const std::shared_ptr<ModuleState> &state) const {
    StatusOr<std::vector<Value>> results = function("tick").call({}, {.state = state});
    EXPECT_TRUE(results.ok()) << results.status().toString();
    return results.ok() ? std::get<Scalar>((*results)[0]).bits : 0;
  }

  std::shared_ptr<Engine> engine = makeEngine({.checked = GetParam()});
  std::shared_ptr<Module> module = load(*engine, statesSource);
};

TEST_P(StateTest, EachHasItsOwnValues) {
  std::shared_ptr<ModuleState> first = createState(), second = createState();
  EXPECT_THAT(add(1, first), ElementsAre(11, 21));
  EXPECT_THAT(add(1, first), ElementsAre(12, 22));
  EXPECT_THAT(add(5, second), ElementsAre(15, 25));
  EXPECT_THAT(add(100, nullptr), ElementsAre(110, 120));
  EXPECT_THAT(add(0, first), ElementsAre(12, 22));
  EXPECT_EQ(tick(first), 1u);
  EXPECT_EQ(tick(first), 2u);
  EXPECT_EQ(tick(second), 1u);
  first->reset();
  EXPECT_THAT(add(0, first), ElementsAre(10, 20));
  EXPECT_EQ(tick(first), 1u);
  EXPECT_THAT(add(0, second), ElementsAre(15, 25));
}

TEST_P(StateTest, ALargeVariableBeginsWithItsValue) {
  int8_t out = 0;
  Buffer x = *Buffer::wrap(&out, ElementType::I8, {}, /*readOnly=*/false, nullptr, nullptr);
  ASSERT_TRUE(function("last").call(std::vector<Value>{x}, {.state = createState()}).ok());
  EXPECT_EQ(out, 7);
}

TEST_P(StateTest, SignaturesSayWhoUsesIt) {
  EXPECT_TRUE(function("add").signature().usesState);
  EXPECT_TRUE(function("tick").signature().usesState);
  EXPECT_FALSE(function("double").signature().usesState);
  // Its code has no place for a state.
  EXPECT_EQ(function("tick").rawPointer(), nullptr);
}

TEST_P(StateTest, VariablesCanBeSeenAndSet) {
  std::shared_ptr<ModuleState> state = createState();
  StatusOr<Buffer> total = state->variable("total");
  ASSERT_TRUE(total.ok()) << total.status().toString();
  EXPECT_THAT(elements<float>(*total), ElementsAre(10, 20));
  static_cast<float *>(total->mutableData())[1] = -1;
  EXPECT_THAT(add(1, state), ElementsAre(11, 0));
  EXPECT_THAT(elements<float>(*total), ElementsAre(11, 0));
  StatusOr<Buffer> ticks = state->variable("ticks");
  ASSERT_TRUE(ticks.ok());
  if (!GetParam())
    EXPECT_EQ(reinterpret_cast<uintptr_t>(ticks->data()) % 256, 0u);
  StatusOr<Buffer> wrong = state->variable("totel");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().message(), "the module has no variable 'totel'; did you mean 'total'?");
  // The buffer keeps the memory.
  state.reset();
  EXPECT_THAT(elements<float>(*total), ElementsAre(11, 0));
}

TEST_P(StateTest, ItOutlivesModuleAndEngine) {
  std::shared_ptr<ModuleState> state = createState();
  module.reset();
  engine.reset();
  EXPECT_THAT(elements<float>(*state->variable("total")), ElementsAre(10, 20));
}

TEST_P(StateTest, WhatDoesNotFitIsAnError) {
  std::shared_ptr<Module> twin = load(*engine, statesSource);
  StatusOr<std::shared_ptr<ModuleState>> other = twin->createState();
  ASSERT_TRUE(other.ok());
  Status status = function("tick").call({}, {.state = *other}).status();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "the state for 'tick' is of another module");

  std::shared_ptr<ModuleState> state = createState();
  Buffer total = *state->variable("total");
  status = function("add").call(std::vector<Value>{total}, {.state = state}).status();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("argument #0 (%x) of 'add' overlaps the variables of the call"));
  std::array<Buffer, 1> outputs = {total};
  status = function("add")
               .call(std::vector<Value>{makeBuffer<float>({2}, {1, 1})},
                     {.outputs = outputs, .state = state})
               .status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("overlaps the variables of the call"));
  // Where nothing uses the variables they are memory like any other.
  EXPECT_THAT(elements<float>(callOk(function("double"), {total})[0]), ElementsAre(20, 40));
}

TEST_P(StateTest, StreamsRunAtOnce) {
  constexpr int streams = 4, calls = 200;
  std::vector<std::thread> threads;
  std::array<std::vector<float>, streams> last;
  for (int t = 0; t < streams; ++t)
    threads.emplace_back([&, t] {
      std::shared_ptr<ModuleState> state = createState();
      for (int i = 0; i < calls; ++i)
        last[static_cast<size_t>(t)] = add(static_cast<float>(t), state);
      EXPECT_EQ(tick(state), 1u);
    });
  // And others with the module's own.
  for (int i = 0; i < calls; ++i)
    add(1, nullptr);
  for (std::thread &thread : threads)
    thread.join();
  for (int t = 0; t < streams; ++t)
    EXPECT_THAT(last[static_cast<size_t>(t)], ElementsAre(10 + calls * static_cast<float>(t),
                                                          20 + calls * static_cast<float>(t)));
  EXPECT_THAT(add(0, nullptr), ElementsAre(210, 220));
}

TEST_P(StateTest, AModuleWithoutVariablesHasEmptyStates) {
  std::shared_ptr<Module> pure = load(*engine, saxpySource);
  StatusOr<std::shared_ptr<ModuleState>> state = pure->createState();
  ASSERT_TRUE(state.ok()) << state.status().toString();
  EXPECT_FALSE((*state)->variable("x").ok());
}

INSTANTIATE_TEST_SUITE_P(Engines, StateTest, ::testing::Values(false, true),
                         [](const auto &info) { return info.param ? "Checked" : "Unchecked"; });

} // namespace
} // namespace plim
