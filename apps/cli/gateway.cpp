#include "gateway.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "connections.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/core/sha256.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/report/measurement_report.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kLongestCall = std::size_t{1} << 28;  // bytes; longer ones are refused
constexpr std::size_t kReadWhole = std::size_t{1}
                                   << 20;  // longer answers that nobody measures pass in pieces
constexpr const char* kJson = "application/json";

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

// Hashes are compared, so that the time it takes says nothing about the key.
bool is_bearer(const std::string& header, const std::string& key) {
  constexpr std::string_view kBearer = "bearer ";
  if (!lower(header).starts_with(kBearer)) return false;
  return sha256_hex(trim(std::string_view(header).substr(kBearer.size()))) == sha256_hex(key);
}

void answer_error(httplib::Response& response, int status, const std::string& message,
                  const std::string& type, const std::string& code) {
  response.status = status;
  response.set_content(endpoint_error_json(message, type, code), kJson);
}

// The value of a header, the last one that was sent.
std::string header_of(const std::vector<HttpHeader>& headers, std::string_view name) {
  for (const auto& [key, value] : headers)
    if (lower(key) == name) return value;
  return {};
}

// The body as it was sent. httplib acts on these headers, and a proxy must not: it would take apart forms,
// unpack what is packed, pack answers and cut ranges out of them.
std::optional<std::string> read_as_sent(const httplib::Request& request, const httplib::ContentReader* reader,
                                        bool wanted) {
  auto& own = const_cast<httplib::Request&>(request);  // the server's, which is not const
  own.headers.erase("Accept-Encoding");
  own.ranges.clear();
  std::string body;
  if (reader == nullptr || !(request.has_header("Content-Length") || request.has_header("Transfer-Encoding")))
    return body;
  own.headers.erase("Content-Type");
  own.headers.erase("Content-Encoding");
  const bool whole = (*reader)([&](const char* data, std::size_t size) {
    if (wanted) body.append(data, size);
    return true;
  });
  return whole ? std::optional(std::move(body)) : std::nullopt;
}

class Gateway {
 public:
  Gateway(const GatewayOptions& options, Embedder& embedder)
      : options_(options),
        upstream_({options.endpoint.url, options.endpoint.ca_file, options.pass_seconds}),
        queue_(options.queue, [&] { return make_measure(embedder); }) {}

  void add_routes(httplib::Server& server) {
    const auto pass = [this](const httplib::Request& request, httplib::Response& response,
                             const httplib::ContentReader& reader) { take(request, response, &reader); };
    const auto pass_empty = [this](const httplib::Request& request, httplib::Response& response) {
      take(request, response, nullptr);
    };
    server.Get("/health", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(fmt::format("{{\"status\":\"ok\",\"version\":\"{}\"}}", HARMONIA_VERSION), kJson);
    });
    server.Get("/v1/gamma/([^/]+)", [this](const httplib::Request& request, httplib::Response& response) {
      if (is_allowed(request, response)) tell_gamma(request.matches[1].str(), response);
    });
    constexpr const char* kAll = ".*";
    server.Get(kAll, pass_empty).Options(kAll, pass_empty);
    server.Post(kAll, pass).Put(kAll, pass).Patch(kAll, pass).Delete(kAll, pass);
  }

  // Drops what is not measured yet.
  std::size_t close() {
    const std::size_t dropped = queue_.close();
    measuring_.request_stop();
    return dropped;
  }

  GatewayCounts counts() const { return {passed_, sampled_, 0}; }

 private:
  ConversationQueue::Measure make_measure(Embedder& embedder) {
    EndpointOptions endpoint = options_.endpoint;
    endpoint.headers.clear();
    endpoint.stop = measuring_.get_token();
    auto meter = std::make_shared<ConversationMeter>(endpoint, options_.conversation, embedder, embedding_);
    return [meter](const ConversationTask& task) { return meter->measure(task); };
  }

  // A web page that the user has open could spend the upstream's key otherwise.
  bool is_allowed(const httplib::Request& request, httplib::Response& response) const {
    if (!options_.key.empty()) {
      if (is_bearer(request.get_header_value("Authorization"), options_.key)) return true;
      response.set_header("WWW-Authenticate", "Bearer");
      answer_error(response, 401, "the gateway's key is missing or wrong; expected it as a bearer token",
                   "invalid_request_error", "invalid_api_key");
      return false;
    }
    const bool has_secret = !options_.endpoint.key.empty() || !options_.endpoint.headers.empty();
    if (!has_secret || !request.has_header("Origin")) return true;
    answer_error(response, 403, "calls from web pages need a gateway that has a key of its own",
                 "invalid_request_error", "forbidden");
    return false;
  }

  void tell_gamma(const std::string& id, httplib::Response& response) const {
    const std::optional<Measurement> found = queue_.find(id);
    if (!found) {
      return answer_error(response, 404, fmt::format("no measurement {}, or not any more", printable(id)),
                          "invalid_request_error", "not_found");
    }
    response.status = found->status == MeasurementStatus::pending ? 202 : 200;
    response.set_content(json_of(*found), kJson);
  }

  std::string json_of(const Measurement& measurement) const {
    return measurement_json(measurement, options_.convention, options_.conversation);
  }

  void take(const httplib::Request& request, httplib::Response& response,
            const httplib::ContentReader* reader) {
    UpstreamRequest call;
    for (const auto& [name, value] : request.headers) call.headers.emplace_back(name, value);
    const bool allowed = is_allowed(request, response);
    std::optional<std::string> body = read_as_sent(request, reader, allowed);
    if (!allowed || !body) return;
    constexpr std::string_view kOurs = "/v1";
    // As it was sent; the path is decoded. Nothing but what lies below the upstream's address is asked for.
    if (!request.target.starts_with("/v1/") || (request.path + "/").find("/../") != std::string::npos) {
      return answer_error(response, 404, fmt::format("no such path: {}", printable(request.path)),
                          "invalid_request_error", "not_found");
    }
    call.method = request.method;
    call.target = request.target.substr(kOurs.size());
    call.body = std::move(*body);
    const std::string asked = lower(header_of(call.headers, "x-harmonia"));
    const bool is_chat = request.method == "POST" && request.path == "/v1/chat/completions";
    rewrite_headers(call.headers);
    const std::uint64_t number = passed_++;
    try {
      pass(call, response, is_chat && is_sampled(asked, number), number);
    } catch (const UpstreamSilent& error) {
      refuse(response, 504, error, "gateway_timeout");
    } catch (const Error& error) {
      refuse(response, 502, error, "bad_gateway");
    }
  }

  static void refuse(httplib::Response& response, int status, const Error& error, const std::string& code) {
    response.headers.clear();
    answer_error(response, status, fmt::format("harmonia gateway: {}", error.what()), "upstream_error", code);
  }

  bool is_sampled(const std::string& asked, std::uint64_t number) const {
    if (asked == "measure" || asked == "skip") return asked == "measure";
    const DrawKey key{options_.conversation.seed, Stream::subsample, number & 0xffffffffU, 0};
    return draw_uniform(key, 0) < options_.sample;
  }

  // What the upstream is sent: not what httplib adds or what concerns the client's connection.
  void rewrite_headers(std::vector<HttpHeader>& headers) const {
    headers = passed_on(std::move(headers));
    const bool own_key = !options_.key.empty() || !options_.endpoint.key.empty();
    std::erase_if(headers, [&](const HttpHeader& header) {
      const std::string name = lower(header.first);
      constexpr std::array<std::string_view, 6> kOwn{"remote_addr", "remote_port",     "local_addr",
                                                     "local_port",  "accept-encoding", "x-harmonia"};
      return std::ranges::find(kOwn, name) != kOwn.end() || (own_key && name == "authorization");
    });
    if (!options_.endpoint.key.empty())
      headers.emplace_back("Authorization", "Bearer " + options_.endpoint.key);
    for (const std::string& line : options_.endpoint.headers) {
      const std::size_t colon = std::min(line.find(':'), line.size() - 1);
      const std::string name(trim(line.substr(0, colon)));
      std::erase_if(headers, [&](const HttpHeader& header) { return lower(header.first) == lower(name); });
      headers.emplace_back(name, trim(line.substr(colon + 1)));
    }
  }

  // A call that was answered, at least its head.
  struct Exchange {
    UpstreamRequest call;
    std::uint64_t number = 0;
    std::unique_ptr<UpstreamAnswer> answer;
    std::string body;      // of the answer, as far as it was read
    bool streams = false;  // the answer comes as events
    std::string id;        // of the measurement; empty: there is none
  };

  void pass(UpstreamRequest& call, httplib::Response& response, bool sampled, std::uint64_t number) {
    Exchange exchange;
    exchange.answer = upstream_.send(call);
    exchange.call = std::move(call);
    exchange.number = number;
    UpstreamAnswer& answer = *exchange.answer;
    response.status = answer.status();
    const std::string type = header_of(answer.headers(), "content-type");
    for (const auto& [name, value] : answer.headers())
      if (is_passed_on(name) && lower(name) != "content-type") response.headers.emplace(name, value);
    const bool success = response.status >= 200 && response.status < 300;
    exchange.streams = lower(type).starts_with("text/event-stream");
    const std::optional<double> length = read_number(header_of(answer.headers(), "content-length"));
    const bool bodiless = exchange.call.method == "HEAD" || response.status == 204 || response.status == 304;
    sampled = sampled && success && !bodiless;
    const std::size_t whole = sampled ? kLongestMeasured : kReadWhole;  // what is longer passes in pieces
    const bool too_long = length ? *length > static_cast<double>(whole) : !sampled;
    if (bodiless || (!exchange.streams && !too_long)) {
      while (exchange.body.size() <= whole && answer.read(exchange.body)) {
      }
    }
    const bool pieces = !bodiless && (exchange.streams || too_long || exchange.body.size() > whole);
    if (sampled) {
      ++sampled_;
      exchange.id = queue_.open();
      response.set_header("X-Harmonia-Id", exchange.id);
    }
    if (pieces) return pass_pieces(std::move(exchange), type, response);
    if (sampled) measure_whole(exchange, response);
    response.body = std::move(exchange.body);
    if (!type.empty()) response.headers.emplace("Content-Type", type);
  }

  ConversationTask task_of(UpstreamRequest& call, std::string answer, std::uint64_t number) const {
    ConversationTask task;
    task.number = number & 0xffffffffU;
    for (const auto& [name, value] : call.headers) {
      const std::string small = lower(name);
      // What describes the body or the client. With the same key of idempotency the same answer would come.
      const bool left_out = small.starts_with("x-stainless-") || small.starts_with("content-") ||
                            small == "accept" || small == "user-agent" || small == "idempotency-key" ||
                            value.empty();
      if (!left_out) task.headers.push_back(fmt::format("{}: {}", name, value));
    }
    task.call = std::move(call.body);
    task.answer = std::move(answer);
    return task;
  }

  void measure_whole(Exchange& exchange, httplib::Response& response) {
    if (std::optional<ChatReply> reply = read_chat_reply(exchange.body)) {
      queue_.also_known_as(exchange.id, reply->id);
      queue_.enter(exchange.id, task_of(exchange.call, std::move(reply->text), exchange.number));
    } else {
      queue_.fail(exchange.id, "what the upstream sent is no answer to a chat");
    }
    const std::optional<Measurement> found = queue_.wait(exchange.id, options_.budget);
    if (!found) return;
    if (found->result.gamma) {
      const TextGamma& gamma = *found->result.gamma;
      response.set_header("X-Harmonia-Gamma",
                          fmt::format("{:.6g}", in_convention(gamma.gamma, options_.convention)));
      response.set_header("X-Harmonia-Convention", std::string(convention_name(options_.convention)));
      response.set_header("X-Harmonia-Band", std::string(band_name(band_of(gamma))));
    }
    if (std::optional<std::string> longer = with_member(exchange.body, "harmonia", json_of(*found)))
      exchange.body = std::move(*longer);
  }

  // Passes an answer on as it comes; a stream is measured when it has ended.
  void pass_pieces(Exchange&& begun, const std::string& type, httplib::Response& response) {
    const auto exchange = std::make_shared<Exchange>(std::move(begun));
    response.set_chunked_content_provider(
        type.empty() ? "application/octet-stream" : type,
        // All in one call: between calls the server looks whether it is to end, and would break the answer
        // off.
        [this, exchange](std::size_t, httplib::DataSink& sink) {
          const std::string& id = exchange->id;
          StreamedReply reply;
          if (!pass_all(*exchange, sink, reply)) return false;
          reply.end();
          if (!id.empty() && (!exchange->streams || reply.too_long())) {
            queue_.fail(id, fmt::format("the answer is too long to be measured; expected at most {} bytes",
                                        kLongestMeasured));
          } else if (!id.empty()) {
            queue_.enter(id, task_of(exchange->call, reply.reply().text, exchange->number));
          }
          sink.done();
          return true;
        },
        [this, id = exchange->id](bool success) {
          if (!id.empty() && !success) queue_.fail(id, "the answer broke off");
        });
  }

  bool pass_all(Exchange& exchange, httplib::DataSink& sink, StreamedReply& reply) {
    try {
      std::string& bytes = exchange.body;
      do {
        if (!exchange.id.empty() && exchange.streams) {
          const bool was_known = !reply.reply().id.empty();
          reply.add(bytes);
          if (!was_known) queue_.also_known_as(exchange.id, reply.reply().id);  // before the client knows it
        }
        if (bytes.empty() ? !sink.is_writable() : !sink.write(bytes.data(), bytes.size())) return false;
        bytes.clear();
      } while (exchange.answer->read(bytes));
      return true;
    } catch (const Error&) {
      return false;  // the client's connection is closed, as the upstream's was
    }
  }

  const GatewayOptions& options_;
  Upstream upstream_;
  std::mutex embedding_;  // an embedder takes one call at a time; the local one has all cores at work in it
  std::stop_source measuring_;
  std::atomic<std::uint64_t> passed_ = 0, sampled_ = 0;
  ConversationQueue queue_;  // last: its threads use all of the above
};

}  // namespace

GatewayCounts serve_gateway(const GatewayOptions& options, Embedder& embedder, const std::stop_token& stop,
                            const std::function<void(const std::string&)>& listening) {
  Gateway gateway(options, embedder);
  httplib::Server server;
  CallsUnderWay calls(server);
  gateway.add_routes(server);
  server.new_task_queue = [] { return new ConnectionThreads; };  // the server deletes it
  server.set_tcp_nodelay(true);
  server.set_payload_max_length(kLongestCall);
  server.set_keep_alive_max_count(1000000);
  server.set_socket_options([](socket_t socket) {  // as is usual, but no second gateway on the same port
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  const int port = options.port == 0                                 ? server.bind_to_any_port(options.host)
                   : server.bind_to_port(options.host, options.port) ? options.port
                                                                     : -1;
  if (port <= 0) {
    throw Error(ErrorCode::usage,
                fmt::format("cannot listen on {}:{}; expected an address of this machine and a port "
                            "that is free",
                            options.host, options.port));
  }
  const bool is_ipv6 = options.host.find(':') != std::string::npos;
  listening(fmt::format("http://{}{}{}:{}/v1", is_ipv6 ? "[" : "", options.host, is_ipv6 ? "]" : "", port));
  std::atomic<bool> ended = false;
  std::size_t dropped = 0;
  std::jthread ending([&] {
    constexpr std::chrono::milliseconds kTick{20};
    while (!stop.stop_requested() && !ended) std::this_thread::sleep_for(kTick);
    dropped = gateway.close();
    while (!server.is_running() && !ended) std::this_thread::sleep_for(kTick);
    if (!ended) server.stop();
    for (; !ended; std::this_thread::sleep_for(kTick)) calls.shut_idle(port);
  });
  const bool served = server.listen_after_bind();
  ended = true;
  ending.join();
  if (!served && !stop.stop_requested())
    throw Error(ErrorCode::usage, fmt::format("listening on {}:{} ended", options.host, port));
  GatewayCounts counts = gateway.counts();
  counts.dropped = dropped;
  return counts;
}

}  // namespace harmonia
