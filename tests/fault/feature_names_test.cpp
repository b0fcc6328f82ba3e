#include "harmonia/model/feature_names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/expect_error.hpp"

namespace harmonia {
namespace {

using Names = std::vector<std::string>;

void check(const Names& model, const Names& data) {
  ModelInfo info;
  info.name = "m.json";
  info.features = model;
  check_features(info, {.source = "rows.csv", .inputs = data.size(), .features = data, .rows = {}});
}

TEST(FeatureNames, FitOrAreNotThere) {
  check({"a", "b"}, {"a", "b"});
  check({}, {"a", "b"});
  check({"a", "b"}, {});
  check({"f0", "f1"}, {"a", "b"});
  check({"Column_0", "Column_1"}, {"a", "b"});
  check({"a", "b"}, {"x0", "x1"});
  check({"a", "b"}, {"x0", "x2"});
  check({"fixed_acidity", "pH"}, {"fixed acidity", "pH"});
}

TEST(FeatureNames, InAnotherOrder) {
  test::expect_error(
      ErrorCode::input,
      "data rows.csv has the columns b, a; model m.json expects them in another order: --columns a,b", [] {
        check({"a", "b"}, {"b", "a"});
      });
  test::expect_error(
      ErrorCode::input,
      "data rows.csv has the columns x2, x1; model m.json expects them in another order: --columns x1,x2",
      [] {
        check({"x1", "x2"}, {"x2", "x1"});
      });
}

TEST(FeatureNames, Missing) {
  test::expect_error(
      ErrorCode::input,
      "data rows.csv has no column b; model m.json expects a, b: name the data's columns in this order "
      "with --columns",
      [] {
        check({"a", "b"}, {"a", "c"});
      });
  test::expect_error(
      ErrorCode::input,
      "data rows.csv has no columns a, b; model m.json expects a, b: name the data's columns in this "
      "order with --columns",
      [] {
        check({"a", "b"}, {"k", "l", "m"});
      });
}

TEST(FeatureNames, MoreThanTheModelNames) {
  test::expect_error(
      ErrorCode::input,
      "data rows.csv has the columns a, b, id; model m.json expects some of them: --columns a,b", [] {
        check({"a", "b"}, {"a", "b", "id"});
      });
}

TEST(FeatureNames, WhatIsProposedCanBePasted) {
  test::expect_error(
      ErrorCode::input,
      "data rows.csv has the columns pH, fixed acidity, it's; model m.json expects them in another order: "
      "--columns 'fixed acidity,pH,it'\\''s'",
      [] {
        check({"fixed_acidity", "pH", "it's"}, {"pH", "fixed acidity", "it's"});
      });
}

TEST(FeatureNames, ManyAreAllProposed) {
  Names model, data;
  for (int i = 0; i < 12; ++i) {
    model.push_back("c" + std::to_string(i));
    data.push_back("c" + std::to_string(11 - i));
  }
  test::expect_error(
      ErrorCode::input,
      "data rows.csv has the columns c11, c10, c9, c8, c7, c6, c5, c4, …; model m.json expects "
      "them in another order: --columns c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11",
      [&] { check(model, data); });
}

}  // namespace
}  // namespace harmonia
