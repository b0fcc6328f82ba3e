// Inference requests are foreign: their rows are read, or one line says why not.
#include "harmonia/monitor/inference_rows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "support/expect_error.hpp"

namespace harmonia {
namespace {

std::string request(const std::string& shape, const std::string& datatype, const std::string& data) {
  return fmt::format(R"({{"inputs": [{{"name": "x", "shape": {}, "datatype": "{}", "data": {}}}]}})", shape,
                     datatype, data);
}

std::vector<double> values(const StreamBatch& batch) {
  const MatrixView<const double> view = batch.rows.values.view();
  return {view.data, view.data + view.rows * view.columns};
}

std::vector<double> read(const std::string& body, std::size_t features = 2) {
  const StreamBatch batch = read_inference_rows(body, std::nullopt, features, "m");
  EXPECT_EQ(batch.first, 0U);
  EXPECT_EQ(batch.next, batch.rows.values.rows());
  EXPECT_EQ(batch.rows.values.columns(), features);
  EXPECT_TRUE(batch.refused.empty());
  return values(batch);
}

// A request whose data is bytes, those of the values.
template <class T>
StreamBatch read_bytes(const std::string& shape, const std::string& datatype, const std::vector<T>& data,
                       std::size_t missing = 0) {
  std::string body = fmt::format(
      R"({{"inputs": [{{"name": "x", "shape": {}, "datatype": "{}", "parameters": {{"binary_data_size": {}}}}}]}})",
      shape, datatype, data.size() * sizeof(T));
  const std::size_t json_bytes = body.size();
  body.resize(json_bytes + data.size() * sizeof(T));
  std::memcpy(body.data() + json_bytes, data.data(), data.size() * sizeof(T));
  body.resize(body.size() - missing);
  return read_inference_rows(body, json_bytes, 2, "m");
}

void refuses(const std::string& body, const std::string& message) {
  test::expect_error(ErrorCode::model, "model m: " + message,
                     [&] { read_inference_rows(body, std::nullopt, 2, "m"); });
}

TEST(InferenceRows, AreReadFlatAndNested) {
  const std::vector<double> expected{1, 2.5, -3, 4e3};
  EXPECT_EQ(read(request("[2, 2]", "FP64", "[1, 2.5, -3, 4e3]")), expected);
  EXPECT_EQ(read(request("[2, 2]", "FP64", "[[1, 2.5], [-3, 4e3]]")), expected);
  EXPECT_EQ(read(request("[2, 1, 2]", "FP64", "[[[1, 2.5]], [[-3, 4e3]]]")), expected);
  EXPECT_EQ(read(request("[4]", "FP64", "[1, 2.5, -3, 4e3]"), 1), expected);
  EXPECT_EQ(read(request("[1, 2]", "INT64", "[7, -8]")), (std::vector<double>{7, -8}));
  EXPECT_EQ(read(request("[1, 2]", "BOOL", "[true, false]")), (std::vector<double>{1, 0}));
}

// As the server has it: 0.1 is the float nearest to it.
TEST(InferenceRows, HaveThePrecisionOfTheirType) {
  EXPECT_EQ(read(request("[1, 2]", "FP32", "[0.1, 0.5]")), (std::vector<double>{0.1F, 0.5}));
  EXPECT_EQ(read(request("[1, 2]", "FP64", "[0.1, 0.5]")), (std::vector<double>{0.1, 0.5}));
}

TEST(InferenceRows, NullIsAMissingValue) {
  const std::vector<double> found = read(request("[1, 2]", "FP64", "[null, 1]"));
  EXPECT_TRUE(std::isnan(found[0]));
  EXPECT_EQ(found[1], 1);
}

TEST(InferenceRows, HaveTheIdOfTheirRequest) {
  const std::string body =
      R"({"id": "q-7", "inputs": [{"name": "x", "shape": [2, 2], "datatype": "FP64", "data": [1, 2, 3, 4]}]})";
  EXPECT_EQ(read_inference_rows(body, std::nullopt, 2, "m").rows.ids,
            (std::vector<std::string>{"q-7", "q-7"}));
  EXPECT_TRUE(
      read_inference_rows(request("[1, 2]", "FP64", "[1, 2]"), std::nullopt, 2, "m").rows.ids.empty());
}

TEST(InferenceRows, AreReadFromBytes) {
  EXPECT_EQ(values(read_bytes<float>("[2, 2]", "FP32", {0.1F, 2, 3, 4})),
            (std::vector<double>{0.1F, 2, 3, 4}));
  EXPECT_EQ(values(read_bytes<double>("[1, 2]", "FP64", {0.1, -2})), (std::vector<double>{0.1, -2}));
  EXPECT_EQ(values(read_bytes<std::int16_t>("[1, 2]", "INT16", {-300, 7})), (std::vector<double>{-300, 7}));
  EXPECT_EQ(values(read_bytes<std::uint8_t>("[1, 2]", "UINT8", {255, 7})), (std::vector<double>{255, 7}));
}

TEST(InferenceRows, OfBytesThatDoNotFitAreRefused) {
  const auto fails = [](const std::string& message, auto action) {
    test::expect_error(ErrorCode::model, "model m: the request " + message, action);
  };
  fails("has 15 bytes of data; expected 4 values of FP32", [] {
    read_bytes<float>("[2, 2]", "FP32", {1, 2, 3, 4}, 1);
  });
  fails("has 16 bytes of data; expected 2 values of FP32", [] {
    read_bytes<float>("[1, 2]", "FP32", {1, 2, 3, 4});
  });
  fails("is FP16 in bytes; expected FP32, FP64 or whole numbers", [] {
    read_bytes<std::int16_t>("[1, 2]", "FP16", {1, 2});
  });
  fails("holds an infinite value", [] {
    read_bytes<double>("[1, 2]", "FP64", {1, std::numeric_limits<double>::infinity()});
  });
  fails("has 2 bytes; its header says 3 of JSON", [] { read_inference_rows("{}", 3, 2, "m"); });
}

TEST(InferenceRows, OfOtherKindsAreRefused) {
  refuses("", "the request is empty; expected JSON");
  refuses("{", "the request is not JSON: '{'");
  refuses("[]", "the request is []; expected a JSON object");
  refuses("{}", "the request has no list of inputs; expected one input");
  refuses(R"({"inputs": [{}, {}]})", "the request has 2 inputs; expected one input");
  refuses(R"({"inputs": [7]})", "the request is of datatype null; expected numbers");
  refuses(request("[1, 2]", "BYTES", R"(["a", "b"])"), "the request is of datatype BYTES; expected numbers");
  refuses(request("[2]", "FP64", "[1, 2]"),
          "the request has shape [2]; expected [rows, …] with 2 values a row");
  refuses(request("[0, 2]", "FP64", "[]"),
          "the request has shape [0,2]; expected [rows, …] with 2 values a row");
  refuses(request("[1099511627776, 1099511627776]", "FP64", "[]"),
          "the request has shape [1099511627776,1099511627776]; expected [rows, …] with 2 values a row");
  refuses(request("[1, 2]", "FP64", "[1]"), "the request holds 1 values; its shape [1,2] expects 2");
  refuses(request("[1, 2]", "FP64", "[[[1, 2]]]"), "the request's data is nested deeper than its shape");
  refuses(request("[1, 2]", "FP64", R"([1, "2"])"), "the request holds the text '2'; expected numbers");
  refuses(request("[1, 2]", "FP64", "7"), "the request's data is 7; expected a list");
  refuses(request("[1, 2]", "FP32", "[1, 1e300]"), "the request holds an infinite value");
}

}  // namespace
}  // namespace harmonia
