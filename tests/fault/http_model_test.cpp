// Servers that fail are tried again or reported by one line that says which, what happened and what was
// expected.
#include "harmonia/model/http_model.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "support/inference_stand_in.hpp"
#include "support/model_checks.hpp"

namespace harmonia {
namespace {

using test::awkward_rows;
using test::inference;
using test::message_of;
using test::Reply;
using test::Request;
using test::right_answer;
using test::says;
using test::StandInServer;
using test::with_body;
using test::with_status;

constexpr std::array kExample{3.0, 2.0};

std::unique_ptr<Model> open(const StandInServer& server, const ModelOptions& options = {}) {
  return open_http_model(server.url() + "/v2/models/m", options, kExample);
}

std::string fails(const StandInServer& server, const ModelOptions& options = {}) {
  return message_of(ErrorCode::model, [&] { open(server, options); });
}

// The error of a server that answers every inference so.
std::string answer_fails(const Reply& reply, const ModelOptions& options = {}) {
  const StandInServer server(inference([&](const Request&) { return reply; }));
  return fails(server, options);
}

std::string metadata_fails(const std::string& metadata) {
  const StandInServer server([&](const Request&) { return with_body(metadata); });
  return fails(server);
}

std::string output(const std::string& shape, const std::string& data, const std::string& datatype = "FP64") {
  return fmt::format(R"({{"outputs": [{{"name": "y", "datatype": "{}", "shape": {}, "data": {}}}]}})",
                     datatype, shape, data);
}

std::size_t wrong_rows(const Matrix<double>& x, const Matrix<double>& y) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const double* row = x.row(i);
    if (y.row(i)[0] != row[0] * row[0] - row[1] * row[1]) ++wrong;
  }
  return wrong;
}

TEST(Http, AnswersOverOneConnection) {
  const StandInServer server(inference(right_answer));
  const auto model = open(server);
  EXPECT_EQ(model->info().inputs, 2U);
  EXPECT_EQ(model->info().outputs, 1U);
  EXPECT_EQ(model->info().scalar, Scalar::float64);
  const Matrix<double> x = awkward_rows(300, 2);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(wrong_rows(x, test::evaluate(*model, x)), 0U);
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(server.requests(), 22);
}

TEST(Http, AnswersSeveralThreadsAtOnce) {
  const StandInServer server(inference(right_answer));
  const auto model = open(server);
  std::atomic<std::size_t> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = 0; i < 20; ++i) {
          const Matrix<double> x = awkward_rows(10 * i + t + 1, 2);
          wrong += wrong_rows(x, test::evaluate(*model, x));
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_LE(server.connections(), 5);
}

// Two megabytes of rows: no pause for "100-continue".
TEST(Http, SendsLargeBatches) {
  const StandInServer server(inference(right_answer));
  const auto model = open(server);
  const Matrix<double> x = awkward_rows(60000, 2);
  EXPECT_EQ(wrong_rows(x, test::evaluate(*model, x)), 0U);
}

TEST(Http, AsksForFewerRowsWhereManyAreRefused) {
  std::atomic<int> refused = 0;
  const StandInServer server(inference([&](const Request& request) {
    if (nlohmann::json::parse(request.body)["inputs"][0]["shape"][0] <= 256) return right_answer(request);
    ++refused;
    return with_status(400, R"({"error": "batch size must be <= 256"})");
  }));
  const auto model = open(server);
  const Matrix<double> x = awkward_rows(1000, 2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(wrong_rows(x, test::evaluate(*model, x)), 0U);
  EXPECT_EQ(refused, 1);
}

TEST(Http, SendsFewRowsToASlowModel) {
  const StandInServer server(inference([&](const Request& request) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return right_answer(request);
  }));
  EXPECT_EQ(open(server)->info().preferred_batch, 256U);
}

TEST(Http, SendsFloatsAndShapesAsDeclared) {
  std::string sent;
  const StandInServer server([&](const Request& request) {
    if (request.method == "GET") {
      return with_body(R"({"inputs": [{"name": "a \"b\"", "datatype": "FP32", "shape": [-1, 1, 2]}]})");
    }
    sent = request.body;
    return with_body(output("[1]", "[0.1]", "FP32"));
  });
  const auto model = open(server);
  EXPECT_EQ(model->info().scalar, Scalar::float32);
  const std::array<float, 2> x{0.1F, -1e-20F};
  double y = 0;
  model->evaluate(MatrixView<const float>{x.data(), 1, 2}, {&y, 1, 1});
  EXPECT_EQ(sent, R"({"inputs":[{"name":"a \"b\"","shape":[1,1,2],"datatype":"FP32","data":[0.1,-1e-20]}]})");
  EXPECT_EQ(y, static_cast<double>(0.1F));  // what the server had, not what it printed
}

TEST(Http, SendsOneRowAtATimeToAModelOfOne) {
  const StandInServer server([&](const Request& request) {
    if (request.method == "GET")
      return with_body(R"({"inputs": [{"name": "x", "datatype": "FP64", "shape": [1, 2]}]})");
    return request.body.find("\"shape\":[1,2]") == std::string::npos ? with_status(400, "")
                                                                     : right_answer(request);
  });
  const auto model = open(server);
  const Matrix<double> x = awkward_rows(5, 2);
  EXPECT_EQ(wrong_rows(x, test::evaluate(*model, x)), 0U);
}

TEST(Http, ReadsEveryNumber) {
  const StandInServer server(inference([](const Request& request) {
    const bool one = request.body.find("\"shape\":[1,2]") != std::string::npos;
    return with_body(one ? output("[1,2]", "[[1,2]]") : output("[2,2]", "[[1,null],[true,-2.5e-3]]"));
  }));
  const auto model = open(server);
  const Matrix<double> y = test::evaluate(*model, awkward_rows(2, 2));
  EXPECT_EQ(y.row(0)[0], 1);
  EXPECT_TRUE(std::isnan(y.row(0)[1]));
  EXPECT_EQ(y.row(1)[0], 1);
  EXPECT_EQ(y.row(1)[1], -0.0025);
}

TEST(Http, ChoosesAnOutput) {
  const StandInServer server([&](const Request& request) {
    if (request.method == "GET")
      return with_body(R"({"inputs": [], "outputs": [{"name": "a"}, {"name": "b"}]})");
    if (request.body.find(R"("outputs":[{"name":"b"}])") == std::string::npos)
      return with_status(400, "not asked");
    return with_body(R"({"outputs": [{"name": "a", "datatype": "BYTES", "shape": [1], "data": ["x"]},
                                     {"name": "b", "datatype": "INT64", "shape": [1, 3], "data": [1, 2, 3]}]})");
  });
  ModelOptions options;
  options.output_name = "b";
  EXPECT_EQ(open(server, options)->info().outputs, 3U);
  options.output_name = "c";
  EXPECT_TRUE(
      says(message_of(ErrorCode::usage, [&] { open(server, options); }), "has no output 'c'; it has a, b"));
}

TEST(Http, SendsHeadersAndKeepsThemSecret) {
  const StandInServer server([&](const Request& request) {
    const bool known = request.headers.find("Authorization: Bearer secret\r\n") != std::string::npos;
    if (!known) return with_status(401, R"({"error": "who are you"})");
    return request.method == "GET" ? with_body(test::kMetadata) : with_status(403, R"({"error": "not you"})");
  });
  EXPECT_TRUE(says(fails(server), "status 401: who are you"));
  ModelOptions options;
  options.headers = {"Authorization: Bearer secret"};
  const std::string message = fails(server, options);
  EXPECT_TRUE(says(message, "status 403: not you"));
  EXPECT_FALSE(says(message, "secret"));
  for (const char* wrong : {"secret", "Authorization: secret\r\nX: y", ": secret"}) {
    options.headers = {wrong};
    const std::string refused = message_of(ErrorCode::usage, [&] { open(server, options); });
    EXPECT_TRUE(says(refused, "header 1 is not of the form 'Name: value' on one line"));
    EXPECT_FALSE(says(refused, "secret"));
  }
}

TEST(HttpFaults, TriesAgainAfterErrorsOfTheServer) {
  std::atomic<int> count = 0;
  const StandInServer server(inference(
      [&](const Request& request) { return ++count <= 2 ? with_status(500, "{}") : right_answer(request); }));
  EXPECT_EQ(open(server)->info().outputs, 1U);
  EXPECT_EQ(count, 3);
}

TEST(HttpFaults, GivesUp) {
  ModelOptions options;
  options.retries = 2;
  std::atomic<int> count = 0;
  const StandInServer server(inference([&](const Request&) {
    ++count;
    return with_status(500, R"({"error": "out of\nmemory"})");
  }));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(
      says(fails(server, options), "model " + server.url(), "status 500 after 3 tries: out of memory"));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));  // 100 + 200
  EXPECT_EQ(count, 3);
}

TEST(HttpFaults, WaitsAsLongAsItIsAsked) {
  std::atomic<int> count = 0;
  const StandInServer server(inference([&](const Request& request) {
    if (++count > 1) return right_answer(request);
    Reply reply = with_status(429, "");
    reply.headers = "Retry-After: 1\r\n";
    return reply;
  }));
  const auto begin = std::chrono::steady_clock::now();
  open(server);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(990));
}

TEST(HttpFaults, WaitsNoLongerThanTheTimeout) {
  std::atomic<int> count = 0;
  const StandInServer server(inference([&](const Request& request) {
    if (++count > 1) return right_answer(request);
    Reply reply = with_status(503, "");
    reply.headers = "Retry-After: 3600\r\n";
    return reply;
  }));
  ModelOptions options;
  options.timeout_seconds = 1;
  const auto begin = std::chrono::steady_clock::now();
  open(server, options);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(HttpFaults, IsDown) {
  std::string url;
  {
    const StandInServer server(inference(right_answer));
    url = server.url() + "/v2/models/m";
  }
  ModelOptions options;
  options.retries = 1;
  EXPECT_EQ(message_of(ErrorCode::model, [&] { open_http_model(url, options, kExample); }),
            "model " + url + ": connection refused after 2 tries");
}

// A second request, no third: the server may be busy with the first.
TEST(HttpFaults, IsSlow) {
  std::atomic<int> count = 0;
  const StandInServer server(inference([&](const Request&) {
    ++count;
    Reply reply;
    reply.hang = true;
    return reply;
  }));
  ModelOptions options;
  options.timeout_seconds = 0.6;
  EXPECT_TRUE(says(fails(server, options), "no answer within 0.6 s after 2 tries"));
  EXPECT_EQ(count, 2);
}

TEST(HttpFaults, ClosesInTheMiddleOfItsAnswer) {
  std::atomic<int> count = 0;
  const StandInServer server(inference([&](const Request& request) {
    Reply reply = right_answer(request);
    if (++count <= 2) reply.bytes = 10;
    return reply;
  }));
  EXPECT_EQ(open(server)->info().outputs, 1U);
  ModelOptions options;
  options.retries = 1;
  Reply reply = with_body(output("[1]", "[1]"));
  reply.bytes = 5;
  EXPECT_TRUE(says(answer_fails(reply, options), "closed before the answer was complete after 2 tries"));
}

TEST(HttpFaults, RefusesOurRequest) {
  std::atomic<int> count = 0;
  const StandInServer server(inference([&](const Request&) {
    ++count;
    return with_status(400, R"({"error": "input 'x' is unknown"})");
  }));
  EXPECT_TRUE(says(fails(server), "status 400: input 'x' is unknown"));
  EXPECT_EQ(count, 1);
}

TEST(HttpFaults, RedirectsAreNotFollowed) {
  Reply reply = with_status(302, "");
  reply.headers = "Location: http://127.0.0.1:1/\r\n";
  EXPECT_TRUE(says(answer_fails(reply), "status 302"));
}

TEST(HttpFaults, AnswersWhatCannotBeUsed) {
  EXPECT_TRUE(
      says(answer_fails(with_body("<html>\nhello</html>")), "its answer is not JSON: '<html> hello</html>'"));
  EXPECT_TRUE(says(answer_fails(with_body("")), "its answer is empty; expected JSON"));
  EXPECT_TRUE(says(answer_fails(with_body(output("[1]", "[1]").substr(0, 40))), "its answer is not JSON"));
  EXPECT_TRUE(says(answer_fails(with_body("[1, 2]")), "its answer is [1,2]; expected a JSON object"));
  EXPECT_TRUE(says(answer_fails(with_body("{}")), "its answer has no outputs"));
  EXPECT_TRUE(says(answer_fails(with_body(R"({"outputs": []})")), "its answer has no outputs"));
  EXPECT_TRUE(says(answer_fails(with_body(output("[2, 1]", "[1, 2]"))),
                   "has shape [2,1]; expected [1, …] for 1 rows"));
  EXPECT_TRUE(says(answer_fails(with_body(output("[1, -1]", "[1]"))), "has shape [1,-1]"));
  EXPECT_TRUE(says(answer_fails(with_body(output("null", "[1]"))), "has shape null"));
  EXPECT_TRUE(
      says(answer_fails(with_body(output("[1, 3]", "[1, 2]"))), "holds 2 values; its shape [1,3] expects 3"));
  EXPECT_TRUE(says(answer_fails(with_body(output("[1, 0]", "[]"))), "has shape [1,0]"));
  EXPECT_TRUE(
      says(answer_fails(with_body(output("[1]", "[\"a\"]"))), "holds the text 'a'; expected numbers"));
  EXPECT_TRUE(says(answer_fails(with_body(output("[1]", "[\"a\"]", "BYTES"))),
                   "of datatype BYTES; expected numbers"));
  EXPECT_TRUE(says(answer_fails(with_body(output("[1]", "[[1]]"))), "nested deeper than its shape"));
  EXPECT_TRUE(says(answer_fails(with_body(output("[1]", "7"))), "data is 7; expected a list"));
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_TRUE(says(answer_fails(with_body(deep)), "a nested list; expected a JSON object"));
  EXPECT_TRUE(says(answer_fails(with_body(output(deep, deep))), "has shape a nested list"));
}

TEST(HttpFaults, AnswersAnotherNumberOfColumns) {
  std::atomic<int> count = 0;
  const StandInServer server(inference([&](const Request&) {
    return with_body(++count == 1 ? output("[1, 2]", "[1, 2]") : output("[1, 3]", "[1, 2, 3]"));
  }));
  const auto model = open(server);
  EXPECT_TRUE(says(message_of(ErrorCode::model, [&] { test::evaluate(*model, awkward_rows(1, 2)); }),
                   "answered 3 values a row; expected 2, as in its first answer"));
}

TEST(HttpFaults, DeclaresWhatCannotBeUsed) {
  EXPECT_TRUE(says(metadata_fails("hello"), "its metadata is not JSON: 'hello'"));
  EXPECT_TRUE(says(metadata_fails(R"({"inputs": 3})"), "gives inputs as 3; expected a list"));
  EXPECT_TRUE(says(metadata_fails(R"({"inputs": [{"name": "a"}, {"name": "b"}]})"), "takes 2 inputs (a, b)"));
  const auto input = [](const std::string& datatype, const std::string& shape) {
    return fmt::format(R"({{"inputs": [{{"name": "x", "datatype": "{}", "shape": {}}}]}})", datatype, shape);
  };
  EXPECT_TRUE(says(metadata_fails(input("INT64", "[-1, 2]")), "input 'x' is INT64; expected FP32 or FP64"));
  EXPECT_TRUE(says(metadata_fails(input("BYTES", "[-1, 2]")), "input 'x' is BYTES"));
  EXPECT_TRUE(says(metadata_fails(input("FP32", "[2]")), "has shape [2]; expected [-1, N, …], rows first"));
  EXPECT_TRUE(says(metadata_fails(input("FP32", "[]")), "has shape []"));
  EXPECT_TRUE(says(metadata_fails(input("FP32", "[-1, -1, -1]")), "has shape [-1,-1,-1]"));
}

TEST(HttpFaults, ExpectsAnotherWidth) {
  const StandInServer server(inference(right_answer));
  const std::array<double, 3> example{1, 2, 3};
  const std::string url = server.url() + "/v2/models/m";
  EXPECT_EQ(message_of(ErrorCode::input, [&] { open_http_model(url, {}, example); }),
            "data has 3 columns; model " + url + " expects 2");
}

TEST(HttpFaults, InfinityHasNoJson) {
  const StandInServer server(inference(right_answer));
  const auto model = open(server);
  Matrix<double> x = awkward_rows(2, 2);
  x.row(1)[0] = -INFINITY;
  EXPECT_TRUE(says(message_of(ErrorCode::model, [&] { test::evaluate(*model, x); }), "row 1 holds -inf"));
}

TEST(HttpFaults, AddressesThatAreNone) {
  const auto refused = [](const std::string& address) {
    return message_of(ErrorCode::usage, [&] { open_http_model(address, {}, kExample); });
  };
  for (const char* wrong :
       {"http://h", "http://h/", "http://h/v1/models/m", "http://h/v2/models/", "http://h/v2/models/m/infer",
        "http://h/v2/models/m/versions/", "http://h/v2/models/m?x=1"}) {
    EXPECT_TRUE(says(refused(wrong), wrong, "expected http(s)://host[:port]/v2/models/NAME[/versions/V]"));
  }
  EXPECT_FALSE(says(refused("http://user:secret@h/v2/models/m"), "secret"));
}

}  // namespace
}  // namespace harmonia
