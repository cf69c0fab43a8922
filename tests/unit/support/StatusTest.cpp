#include "support/Status.h"

#include <gtest/gtest.h>
#include <memory>
#include <utility>

namespace {

using plim::Status;
using plim::StatusCode;
using plim::StatusOr;

TEST(Status, OkIsEmpty) {
  Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::Ok);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.toString(), "ok");
  EXPECT_TRUE(plim::okStatus().ok());
}

TEST(Status, EveryMakerGivesItsCode) {
  const std::pair<Status, StatusCode> cases[] = {
      {plim::cancelledError("m"), StatusCode::Cancelled},
      {plim::invalidArgumentError("m"), StatusCode::InvalidArgument},
      {plim::notFoundError("m"), StatusCode::NotFound},
      {plim::alreadyExistsError("m"), StatusCode::AlreadyExists},
      {plim::resourceExhaustedError("m"), StatusCode::ResourceExhausted},
      {plim::failedPreconditionError("m"), StatusCode::FailedPrecondition},
      {plim::outOfRangeError("m"), StatusCode::OutOfRange},
      {plim::unimplementedError("m"), StatusCode::Unimplemented},
      {plim::internalError("m"), StatusCode::Internal},
      {plim::unavailableError("m"), StatusCode::Unavailable},
      {plim::dataLossError("m"), StatusCode::DataLoss},
  };
  for (const auto &[status, code] : cases) {
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(status.message(), "m");
    EXPECT_EQ(status.toString(), std::string(plim::statusCodeName(code)) + ": m");
  }
}

TEST(Status, CodesHaveTheNumbersOfTheCInterface) {
  EXPECT_EQ(static_cast<int>(StatusCode::Ok), 0);
  EXPECT_EQ(static_cast<int>(StatusCode::InvalidArgument), 3);
  EXPECT_EQ(static_cast<int>(StatusCode::OutOfRange), 11);
  EXPECT_EQ(static_cast<int>(StatusCode::DataLoss), 15);
  EXPECT_EQ(plim::statusCodeName(static_cast<StatusCode>(10)), "unknown");
}

TEST(Status, ContextGoesInFront) {
  Status status = plim::dataLossError("bad checksum").withContext("cache entry 7");
  EXPECT_EQ(status.code(), StatusCode::DataLoss);
  EXPECT_EQ(status.message(), "cache entry 7: bad checksum");
  EXPECT_TRUE(Status().withContext("anything").ok());
}

TEST(Status, KnowsThePlaceThatTheMessageBeginsWith) {
  auto place = [](std::string message) {
    Status status = errorAtPlace(StatusCode::OutOfRange, message);
    EXPECT_EQ(status.code(), StatusCode::OutOfRange);
    EXPECT_EQ(status.message(), message);
    if (status.diagnostics().empty())
      return std::string("none");
    const plim::Diagnostic &said = status.diagnostics()[0];
    return said.file + "|" + std::to_string(said.line) + "|" + std::to_string(said.column) + "|" +
           said.message;
  };
  EXPECT_EQ(place("net.mlir:3:8: no"), "net.mlir|3|8|no");
  EXPECT_EQ(place("C:\\a: b.mlir:3:8: no: 4:5: yes\nmore"), "C:\\a: b.mlir|3|8|no: 4:5: yes\nmore");
  EXPECT_EQ(place("a:3:8: "), "a|3|8|");
  for (const char *none : {"", "no", ":3:8: no", "net.mlir:3: no", "net.mlir:3:8 no",
                           "net.mlir:0:8: no", "net.mlir:3:-8: no", "net.mlir:3:99999999999: no",
                           "net.mlir\n:3:8: no", "net.mlir:3:8:", ":::"})
    EXPECT_EQ(place(none), "none") << none;
  // What is put in front moves no place.
  EXPECT_EQ(errorAtPlace(StatusCode::OutOfRange, "a:3:8: no")
                .withContext("x:1:2: words")
                .diagnostics()[0]
                .line,
            3u);
}

TEST(Status, CopiesShareTheMessage) {
  Status first = plim::internalError("kept");
  Status second = first;
  first = Status();
  EXPECT_TRUE(first.ok());
  EXPECT_EQ(second.message(), "kept");
}

TEST(StatusOr, HoldsAValueOrAFailure) {
  StatusOr<int> good = 3;
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  EXPECT_TRUE(good.status().ok());
  StatusOr<int> bad = plim::notFoundError("no such thing");
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().code(), StatusCode::NotFound);
}

TEST(StatusOr, MovesValuesThatCannotBeCopied) {
  StatusOr<std::unique_ptr<int>> held = std::make_unique<int>(5);
  ASSERT_TRUE(held.ok());
  std::unique_ptr<int> taken = *std::move(held);
  EXPECT_EQ(*taken, 5);
}

Status passOn(const Status &status, bool &wentOn) {
  PLIM_RETURN_IF_ERROR(status);
  wentOn = true;
  return plim::okStatus();
}

TEST(StatusMacros, ReturnIfError) {
  bool wentOn = false;
  EXPECT_EQ(passOn(plim::cancelledError("stop"), wentOn).code(), StatusCode::Cancelled);
  EXPECT_FALSE(wentOn);
  EXPECT_TRUE(passOn(plim::okStatus(), wentOn).ok());
  EXPECT_TRUE(wentOn);
}

StatusOr<int> sum(StatusOr<int> a, StatusOr<int> b) {
  PLIM_ASSIGN_OR_RETURN(int left, std::move(a));
  PLIM_ASSIGN_OR_RETURN(int right, std::move(b));
  return left + right;
}

TEST(StatusMacros, AssignOrReturn) {
  StatusOr<int> good = sum(1, 2);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  StatusOr<int> bad = sum(1, plim::outOfRangeError("second"));
  EXPECT_EQ(bad.status().message(), "second");
}

} // namespace
