// The steps of a call, one by one: what each has done when it ends, and what is given back when a call ends early.
#include "engine/session/Call.h"
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>
#include <thread>

namespace plim {
namespace {

using namespace testing;
using session::Call;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CallStepsTest : public ::testing::Test {
protected:
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, stateSource);
  const Function add = lookup(module, "add");
  const std::vector<Value> arguments = {makeBuffer<float>({2}, {1, 2})};
  std::vector<Value> results = {scalarF32(7)};
  CallOptions options;

  bool areUntouched() const { return std::holds_alternative<Scalar>(results[0]); }
  std::vector<float> total() const {
    return elements<float>(callOk(add, {makeBuffer<float>({2}, {0, 0})})[0]);
  }
};

TEST_F(CallStepsTest, RunInTheirOrderAndDeliverLast) {
  {
    Call call(add, arguments, results, options);
    EXPECT_TRUE(call.bind().ok());
    EXPECT_TRUE(call.plan().ok());
    EXPECT_TRUE(call.acquire().ok());
    EXPECT_TRUE(call.run().ok());
    EXPECT_TRUE(areUntouched());
    EXPECT_TRUE(call.deliver().ok());
  }
  EXPECT_THAT(elements<float>(results[0]), ElementsAre(11, 22));
}

TEST_F(CallStepsTest, BindingAndPlanningRunNothing) {
  {
    Call call(add, arguments, results, options);
    EXPECT_TRUE(call.bind().ok());
    EXPECT_TRUE(call.plan().ok());
    EXPECT_THAT(total(), ElementsAre(10, 20)); // and keep no other call from running
  }
  EXPECT_TRUE(areUntouched());
}

TEST_F(CallStepsTest, BindingRefusesWhatDoesNotFit) {
  const std::vector<Value> three = {makeBuffer<float>({3}, {1, 2, 3})};
  EXPECT_THAT(std::string(Call(add, three, results, options).bind().message()),
              HasSubstr("argument #0 (%x) of 'add' is 3xf32, expected 2xf32"));
  std::vector<Value> two(2);
  EXPECT_THAT(std::string(Call(add, arguments, two, options).bind().message()),
              HasSubstr("got room for 2"));
  const std::vector<Buffer> outputs = {std::get<Buffer>(three[0])};
  options.outputs = outputs;
  EXPECT_THAT(std::string(Call(add, arguments, results, options).bind().message()),
              HasSubstr("the buffer given for result #0 of 'add' is 3xf32"));
}

TEST_F(CallStepsTest, ATurnIsKeptUntilTheCodeHasRunOrTheCallEnds) {
  std::stop_source stop;
  stop.request_stop();
  CallOptions impatient;
  impatient.stop = stop.get_token();
  auto anotherTurn = [&] {
    StatusCode code = StatusCode::Unknown;
    std::thread([&] {
      Call another(add, arguments, {}, impatient);
      EXPECT_TRUE(another.bind().ok());
      EXPECT_TRUE(another.plan().ok());
      code = another.acquire().code();
    }).join();
    return code;
  };
  {
    Call call(add, arguments, results, options);
    EXPECT_TRUE(call.bind().ok());
    EXPECT_TRUE(call.plan().ok());
    EXPECT_TRUE(call.acquire().ok());
    EXPECT_EQ(anotherTurn(), StatusCode::Cancelled);
    EXPECT_TRUE(call.run().ok());
    EXPECT_EQ(anotherTurn(), StatusCode::Ok);
  }
  {
    Call call(add, arguments, results, options);
    EXPECT_TRUE(call.bind().ok());
    EXPECT_TRUE(call.plan().ok());
    EXPECT_TRUE(call.acquire().ok());
  }
  EXPECT_EQ(anotherTurn(), StatusCode::Ok);
}

TEST_F(CallStepsTest, ResultsThatAreNotDeliveredAreGivenBack) {
  const uint64_t before = engine->memoryStatistics().buffers.liveBytes;
  {
    Call call(add, arguments, results, options);
    EXPECT_TRUE(call.bind().ok());
    EXPECT_TRUE(call.plan().ok());
    EXPECT_TRUE(call.acquire().ok());
    EXPECT_TRUE(call.run().ok());
    EXPECT_GT(engine->memoryStatistics().buffers.liveBytes, before);
  }
  EXPECT_EQ(engine->memoryStatistics().buffers.liveBytes, before);
  EXPECT_TRUE(areUntouched());
}

} // namespace
} // namespace plim
