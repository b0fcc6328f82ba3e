#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "harmonia/text/conversation_gamma.hpp"
#include "harmonia/text/conversation_queue.hpp"
#include "harmonia/text/endpoint.hpp"
#include "harmonia/text/upstream.hpp"

namespace harmonia {

/// How the gateway listens and what it measures.
struct GatewayOptions {
  std::string host = "127.0.0.1";
  int port = 8077;                      ///< 0: one that is free
  EndpointOptions endpoint;             ///< upstream; its key, if there is one, replaces that of the clients
  std::string key;                      ///< that clients have to send as a bearer token; empty: none
  double pass_seconds = 600;            ///< longest silence of the upstream in a call that is passed on
  double sample = 0.1;                  ///< share of chat calls that is measured
  std::chrono::milliseconds budget{0};  ///< longest that an answer waits for its gamma
  AngleConvention convention = AngleConvention::angle;
  ConversationOptions conversation;
  ConversationQueueOptions queue;
};

/// How many calls came, and what became of them.
struct GatewayCounts {
  std::uint64_t passed = 0;   ///< calls of all kinds that were passed on
  std::uint64_t sampled = 0;  ///< answers that are or were to be measured
  std::size_t dropped = 0;    ///< measurements that were pending at the end
};

/// Serves until it is stopped: passes /v1/* on to the upstream, and measures a share of what is answered.
/// listening: called once with the base address that clients use. Answers under way at the stop are finished,
/// measurements are dropped. Throws Error(usage) if it cannot listen.
GatewayCounts serve_gateway(const GatewayOptions& options, Embedder& embedder, const std::stop_token& stop,
                            const std::function<void(const std::string&)>& listening);

}  // namespace harmonia
