#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/stand_in_server.hpp"

namespace harmonia::test {

/// The metadata of a model with one FP64 input of two columns.
inline const std::string kMetadata =
    R"({"name": "m", "platform": "", "inputs": [{"name": "x", "datatype": "FP64", "shape": [-1, 2]}],
        "outputs": [{"name": "y", "datatype": "FP64", "shape": [-1, 1]}]})";

inline Reply with_body(const std::string& body) {
  Reply reply;
  reply.body = body;
  return reply;
}

inline Reply with_status(int status, const std::string& body) {
  Reply reply = with_body(body);
  reply.status = status;
  return reply;
}

/// x0² − x1² for every row of the request.
inline Reply right_answer(const Request& request) {
  const auto input = nlohmann::json::parse(request.body)["inputs"][0];
  const auto x = input["data"].get<std::vector<double>>();
  std::vector<double> y;
  for (std::size_t i = 0; i + 1 < x.size(); i += 2) y.push_back(x[i] * x[i] - x[i + 1] * x[i + 1]);
  const nlohmann::json output{{"name", "y"}, {"datatype", "FP64"}, {"shape", {y.size(), 1}}, {"data", y}};
  return with_body(nlohmann::json{{"model_name", "m"}, {"outputs", {output}}}.dump());
}

/// Gives the metadata, and leaves inference to `infer`.
inline StandInServer::Handler inference(StandInServer::Handler infer) {
  return [infer = std::move(infer)](const Request& request) {
    return request.method == "GET" ? with_body(kMetadata) : infer(request);
  };
}

}  // namespace harmonia::test
