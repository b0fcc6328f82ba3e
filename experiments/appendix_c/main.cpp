// What [Kersting 2024, appendix C] says of balls alone: how centrally and evenly their points lie (figure
// 11), and what becomes of gamma when the simplex loses its last vertex. Prints CSV; `run` puts it beside the
// paper's statements.
//   appendix_c REPEATS ROWS SEED N...
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harmonia/ball/ball.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/model/function_model.hpp"

namespace harmonia {
namespace {

constexpr double kConfidence = 0.95;

struct Study {
  std::size_t repeats = 0;  // random balls, or rotations of the simplex
  std::size_t rows = 0;     // of the unit cube, for gamma
  std::uint64_t seed = 0;
  std::vector<std::size_t> dimensions;
};

// Points of units first … first + count − 1, one a row; of every unit only the first `signs` points.
Matrix<double> points_of(const RowBall& ball, std::uint64_t first, std::size_t count, std::size_t signs) {
  const std::size_t n = ball.x().size();
  Matrix<double> points(count * signs, n);
  std::vector<double> direction(n);
  for (std::size_t i = 0; i < points.rows(); ++i) {
    const std::uint64_t unit = first + i / signs;
    const RowBall::Place place = ball.place(unit, i % signs);
    const std::span<double> out(points.row(i), n);
    if (place.dense) {
      ball.direction(unit, direction);
      ball.fill_dense(place, direction, out);
    } else {
      ball.fill(place, out);
      if (place.own != RowBall::Place::kNone) out[place.own] = ball.own_coordinate(place);
    }
  }
  return points;
}

double length(std::span<const double> v) {
  double squares = 0;
  for (const double component : v) squares += component * component;
  return std::sqrt(squares);
}

std::vector<double> vector_sum(const Matrix<double>& points) {
  std::vector<CompensatedSum> sums(points.columns());
  for (std::size_t i = 0; i < points.rows(); ++i) {
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j].add(points.row(i)[j]);
  }
  std::vector<double> values(sums.size());
  for (std::size_t j = 0; j < sums.size(); ++j) values[j] = sums[j].value();
  return values;
}

// Over the points themselves, which are all there are: divided by their number, not by one less.
double angle_deviation(const Matrix<double>& points, std::span<const double> fixed) {
  Moments angles;
  for (std::size_t i = 0; i < points.rows(); ++i) {
    double cosine = 0;
    for (std::size_t j = 0; j < fixed.size(); ++j) cosine += points.row(i)[j] * fixed[j];
    angles.add(std::acos(std::clamp(cosine, -1.0, 1.0)));
  }
  const auto count = static_cast<double>(points.rows());
  return std::sqrt(angles.variance() * (count - 1) / count);
}

void print(const std::string& quantity, const std::string& ball, std::size_t n, std::size_t points,
           const Moments& values) {
  const double freedom = std::max(1.0, static_cast<double>(values.count()) - 1);
  const double half = student_t_quantile((1 + kConfidence) / 2, freedom) * values.standard_error();
  fmt::print("{},{},{},{},{:.17g},{:.17g},{:.17g},{:.17g},{}\n", quantity, ball, n, points, values.mean(),
             values.mean() - half, values.mean() + half, values.deviation(), values.count());
}

// One kind of ball: its statistics over repeats, or over the one there is.
class Coverage {
 public:
  Coverage(std::string name, std::size_t n) : name_(std::move(name)), axis_(n), diagonal_(n) {
    axis_[0] = 1;
    std::fill(diagonal_.begin(), diagonal_.end(), 1 / std::sqrt(static_cast<double>(n)));
  }

  void add(const Matrix<double>& points) {
    count_ = points.rows();
    const double sum = length(vector_sum(points));
    sum_.add(sum);
    square_.add(sum * sum);
    to_axis_.add(angle_deviation(points, axis_));
    to_diagonal_.add(angle_deviation(points, diagonal_));
    for (std::size_t i = 0; i < points.rows(); ++i) {
      largest_error_ = std::max(largest_error_, std::abs(length({points.row(i), points.columns()}) - 1));
    }
  }

  void show() const {
    print("sum", name_, axis_.size(), count_, sum_);
    print("sum_squared", name_, axis_.size(), count_, square_);
    print("angles_to_axis", name_, axis_.size(), count_, to_axis_);
    print("angles_to_diagonal", name_, axis_.size(), count_, to_diagonal_);
    Moments error;
    error.add(largest_error_);
    print("length_error", name_, axis_.size(), count_, error);
  }

 private:
  std::string name_;
  std::vector<double> axis_, diagonal_;
  std::size_t count_ = 0;
  Moments sum_, square_, to_axis_, to_diagonal_;
  double largest_error_ = 0;  // of the points' length, which is 1
};

Ball unit_ball(BallKind kind, std::size_t count, std::uint64_t seed) {
  BallOptions options;
  options.kind = kind;
  options.count = count;
  options.radius = 1;
  return {options, {}, seed};
}

void coverage(const Study& study, std::size_t n) {
  const std::vector<double> centre(n);
  Coverage random("random", n);
  const Ball random_ball = unit_ball(BallKind::random, n, study.seed);
  for (std::uint64_t repeat = 0; repeat < study.repeats; ++repeat) {
    random.add(points_of(RowBall(random_ball, centre, repeat), 0, n, 1));
  }
  random.show();

  const auto fixed = [&](const std::string& name, BallKind kind, std::size_t units, std::size_t signs) {
    const Ball ball = unit_ball(kind, 0, study.seed);
    Coverage coverage(name, n);
    coverage.add(points_of(RowBall(ball, centre, 0), 0, units, signs));
    coverage.show();
  };
  fixed("simplex", BallKind::simplex, n + 1, 1);
  fixed("simplex-less-one", BallKind::simplex, n, 1);
  fixed("simplex+anti", BallKind::simplex_pairs, n + 1, 2);
  fixed("cross", BallKind::cross, n, 2);

  Coverage rotated("rotated-simplex", n);
  const Ball rotated_ball = unit_ball(BallKind::rotated, study.repeats, study.seed);
  const RowBall around(rotated_ball, centre, 0);
  for (std::uint64_t k = 0; k < study.repeats; ++k) rotated.add(points_of(around, k * (n + 1), n + 1, 1));
  rotated.show();
}

// gamma on the n vertices that are left, of rows of the unit cube.
void gamma_less_one(const Study& study, std::size_t n, const std::string& name) {
  const auto model = make_function_model(name, n);
  DataOptions cube;
  cube.inputs = n;
  cube.seed = study.seed;
  const auto data = open_data(fmt::format("uniform:{}", study.rows), cube);
  const Ball ball = unit_ball(BallKind::simplex, 0, study.seed);
  Moments gamma;
  RowBlock block;
  std::vector<double> values(n);
  while (data->read(block, rows_per_block(n))) {
    for (std::size_t i = 0; i < block.values.rows(); ++i) {
      const MatrixView<const double> x = block.values.view().slice(i, 1);
      double centre = 0;
      model->evaluate(x, {&centre, 1, 1});
      const Matrix<double> points = points_of(RowBall(ball, {x.data, n}, block.first + i), 0, n, 1);
      model->evaluate(points.view(), {values.data(), n, 1});
      CompensatedSum sum;
      for (const double value : values) sum.add(value - centre);
      gamma.add(std::abs(sum.value() / static_cast<double>(n)));
    }
  }
  print("gamma_" + name, "simplex-less-one", n, n, gamma);
}

std::uint64_t whole(const std::string& text, std::uint64_t least) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number) != std::from_chars_result{end, std::errc{}} ||
      number < least) {
    throw std::invalid_argument(fmt::format("'{}'; expected a whole number from {} on", text, least));
  }
  return number;
}

Study parse(std::span<char*> arguments) {
  if (arguments.size() < 5) throw std::invalid_argument("expected REPEATS ROWS SEED N...");
  Study study{whole(arguments[1], 2), whole(arguments[2], 2), whole(arguments[3], 0), {}};
  for (char* const text : arguments.subspan(4)) study.dimensions.push_back(whole(text, 2));
  return study;
}

}  // namespace
}  // namespace harmonia

int main(int argc, char** argv) try {
  const harmonia::Study study = harmonia::parse({argv, static_cast<std::size_t>(argc)});
  fmt::print("quantity,ball,n,points,value,low,high,deviation,count\n");
  for (const std::size_t n : study.dimensions) {
    harmonia::coverage(study, n);
    harmonia::gamma_less_one(study, n, "f1");
    harmonia::gamma_less_one(study, n, "f2");
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "appendix_c: {}\n", error.what());
  return 2;
}
