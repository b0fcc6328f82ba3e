#include <gtest/gtest.h>

#include "harmonia/core/error.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/function_model.hpp"

namespace harmonia {
namespace {

GammaOptions options_of(const std::string& ball) {
  GammaOptions options;
  options.ball = parse_ball(ball);
  options.ball.radius = 1;
  return options;
}

Run run_of(std::uint64_t evaluations) {
  return {.seed = 1, .threads = 1, .ledger = Ledger(evaluations), .progress = {}, .stop = {}};
}

// Every row that the budget leaves without a value once took its own stack frame.
TEST(GammaBudget, LeavesAnyNumberOfRowsWithoutAValue) {
  const auto model = make_function_model("f2", 2);
  const Matrix<double> x(60000, 2);
  harmonia::Run run = run_of(10);
  const GammaResult result = gamma(*model, x.view(), options_of("simplex+anti"), run);
  ASSERT_EQ(result.rows.size(), 60000U);
  EXPECT_EQ(result.rows[0].outcome, Outcome::exact);
  EXPECT_EQ(result.rows[59999].outcome, Outcome::budget);
  EXPECT_EQ(run.ledger.spent(), 7U);
}

// Twice this count is beyond 64 bits: the cost came out small, and the budget was not kept.
TEST(GammaBudget, RefusesMoreDirectionsThanItCanNumber) {
  const auto model = make_function_model("f2", 2);
  const Matrix<double> x(1, 2);
  for (const char* ball :
       {"random-pairs:18446744073709551615", "rotated:9223372036854775808", "random:4294967297"}) {
    harmonia::Run run = run_of(10);
    EXPECT_THROW(gamma(*model, x.view(), options_of(ball), run), Error) << ball;
    EXPECT_EQ(run.ledger.spent(), 0U);
  }
  GammaOptions options = options_of("rotated:2147483648");
  options.sample = 3;
  harmonia::Run run = run_of(10);
  EXPECT_THROW(gamma(*model, x.view(), options, run), Error);
}

}  // namespace
}  // namespace harmonia
