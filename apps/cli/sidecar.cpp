#include "sidecar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/model/http_model.hpp"
#include "harmonia/text/upstream.hpp"

namespace harmonia {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kReadWhole = std::size_t{1} << 20;  // bytes; longer answers pass in pieces

// An error as the protocol has it.
HttpReply protocol_error(int status, std::string_view message) {
  using Json = nlohmann::json;
  HttpReply reply;
  reply.status = status;
  reply.body = Json{{"error", message}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  return reply;
}

// Sentences, one a minute at most.
class SeldomNote {
 public:
  explicit SeldomNote(std::function<void(const std::string&)> note) : note_(std::move(note)) {}

  void say(const std::string& line) {
    constexpr std::chrono::minutes kSilence{1};
    {
      const std::lock_guard lock(mutex_);
      if (said_ && Clock::now() - *said_ < kSilence) return;
      said_ = Clock::now();
    }
    note_(line);
  }

 private:
  std::function<void(const std::string&)> note_;
  std::mutex mutex_;
  std::optional<Clock::time_point> said_;
};

// name: in lower case.
bool is_named(const HttpHeader& header, std::string_view name) {
  return std::ranges::equal(header.first, name, {}, [](unsigned char c) { return std::tolower(c); });
}

std::string header_of(const std::vector<HttpHeader>& headers, std::string_view name) {
  const auto found =
      std::ranges::find_if(headers, [&](const HttpHeader& header) { return is_named(header, name); });
  return found == headers.end() ? std::string() : found->second;
}

// An inference request whose rows are to be read.
struct Inference {
  std::string body;
  std::vector<HttpHeader> headers;
};

// Hands requests to a thread of its own, one after another. Some bytes of them wait at most.
class ReadingThread {
 public:
  explicit ReadingThread(std::function<void(const Inference&)> read)
      : read_(std::move(read)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

  // False: too many wait.
  bool add(Inference request) {
    constexpr std::size_t kMost = kLongestInference;  // a request of this length is taken if none waits
    const std::lock_guard lock(mutex_);
    const std::size_t size = request.body.size();
    if (!waiting_.empty() && bytes_ + size > kMost) return false;
    bytes_ += size;
    waiting_.push_back(std::move(request));
    entered_.notify_one();
    return true;
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (entered_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
      const Inference request = std::move(waiting_.front());
      waiting_.pop_front();
      bytes_ -= request.body.size();
      lock.unlock();
      read_(request);
      lock.lock();
      if (stop.stop_requested()) return;
    }
  }

  std::function<void(const Inference&)> read_;
  std::mutex mutex_;
  std::condition_variable_any entered_;
  std::deque<Inference> waiting_;
  std::size_t bytes_ = 0;
  std::jthread thread_;  // last: it uses the others
};

// By which a side-car knows requests again that come back to it. [RFC 9110, section 7.6.3]
std::string own_name() {
  std::random_device device;
  return fmt::format("1.1 harmonia-{:08x}{:08x}", device(), device());
}

}  // namespace

class Sidecar::Parts {
 public:
  explicit Parts(const SidecarOptions& options)
      : options_(options),
        address_(read_model_address(options.model)),
        upstream_({address_.server, options.ca_file, options.timeout_seconds, stopping_.get_token()}),
        full_(options.note),
        silent_(options.note),
        unreadable_(options.note),
        reading_([this](const Inference& request) { measure(request); }) {}

  std::vector<HttpRoute> routes() {
    std::vector<HttpRoute> routes;
    const auto add = [&](const char* method, const char* path) {
      HttpRoute route{method, path, nullptr, [this](const HttpRequest& request) { return pass(request); }};
      route.packed = true;
      route.refuse = protocol_error;
      routes.push_back(std::move(route));
    };
    add("GET", "/v2");
    add("GET", "/v2/health/live");
    add("GET", "/v2/health/ready");
    add("GET", "/v2/models/*");
    add("GET", "/v2/models/*/ready");
    add("POST", "/v2/models/*/infer");
    add("GET", "/v2/models/*/versions/*");
    add("GET", "/v2/models/*/versions/*/ready");
    add("POST", "/v2/models/*/versions/*/infer");
    return routes;
  }

  void stop() { stopping_.request_stop(); }

  InferenceCounts counts() const {
    const std::lock_guard lock(mutex_);
    return {requests_, unread_, rows_, dropped_rows_, unanswered_, last_unread_};
  }

 private:
  HttpReply pass(const HttpRequest& request) {
    UpstreamRequest call;
    call.method = request.method;
    call.target = request.target;
    if (std::ranges::any_of(call.target, [](unsigned char c) { return c <= ' ' || c >= 0x7f; }))
      return protocol_error(400, "the path holds a character that has to be escaped");
    call.headers = passed_on(request.fields);
    if (std::ranges::any_of(call.headers, [&](const HttpHeader& header) {
          return is_named(header, "via") && header.second.find(name_) != std::string::npos;
        }))
      return protocol_error(508, "this side-car passes on to itself; expected the model server's address");
    call.headers.emplace_back("Via", name_);
    call.body = request.body;
    try {
      HttpReply reply = answer_of(upstream_.send(call), request.method == "HEAD");
      if (is_watched(request) && reply.status >= 200 && reply.status < 300) {
        if (!reading_.add({std::move(call.body), std::move(call.headers)}))
          count_unread("too many requests wait to be read");
      }
      return reply;
    } catch (const UpstreamSilent& error) {
      return unanswered(504, error);
    } catch (const Error& error) {
      return unanswered(502, error);
    }
  }

  HttpReply unanswered(int status, const Error& error) {
    ++unanswered_;
    silent_.say(fmt::format("inference fails, as the model server does not answer: {}", error.what()));
    return protocol_error(status, fmt::format("harmonia side-car: {}", error.what()));
  }

  static HttpReply answer_of(std::unique_ptr<UpstreamAnswer> answer, bool head_alone) {
    HttpReply reply;
    reply.passed_on = true;
    reply.status = answer->status();
    reply.type = header_of(answer->headers(), "content-type");
    reply.headers = passed_on(answer->headers());
    std::erase_if(reply.headers, [](const HttpHeader& header) { return is_named(header, "content-type"); });
    if (head_alone) {
      if (std::string length = header_of(answer->headers(), "content-length"); !length.empty())
        reply.headers.emplace_back("Content-Length", std::move(length));
    }
    bool more = true;
    while (more && reply.body.size() <= kReadWhole) more = answer->read(reply.body);
    if (!more) return reply;
    if (reply.type.empty()) reply.type = "application/octet-stream";
    reply.next = [rest = std::shared_ptr<UpstreamAnswer>(std::move(answer)),
                  first = std::move(reply.body)]() mutable -> std::optional<std::string> {
      std::string piece = std::exchange(first, {});
      if (piece.empty() && !rest->read(piece)) return std::nullopt;
      return piece;
    };
    reply.body.clear();
    return reply;
  }

  // Whether it is inference of the watched model, as its address names that.
  bool is_watched(const HttpRequest& request) const {
    constexpr std::string_view kInfer = "/infer";
    if (request.method != "POST" || !request.path.ends_with(kInfer)) return false;
    const std::string sent = request.target.substr(0, request.target.find('?'));
    return std::ranges::any_of(std::array{request.path, sent}, [&](std::string_view path) {
      if (!path.starts_with(address_.path)) return false;
      path.remove_prefix(address_.path.size());
      return path == kInfer || path.starts_with("/versions/");
    });
  }

  void measure(const Inference& request) {
    try {
      offer(read(request));
      ++requests_;                           // after the rest: who sees it counted sees what became of it
    } catch (const std::exception& error) {  // of whatever kind: nothing fails but the reading
      count_unread(error.what());
    }
  }

  void count_unread(const std::string& reason) {
    unreadable_.say(fmt::format("an inference request cannot be measured: {}", reason));
    const std::lock_guard lock(mutex_);
    last_unread_ = reason;
    ++unread_;
    ++requests_;
  }

  void offer(StreamBatch batch) {
    const std::size_t rows = batch.next;
    if (options_.offer(std::move(batch))) {
      rows_ += rows;
      return;
    }
    const std::uint64_t dropped = dropped_rows_ += rows;
    full_.say(
        fmt::format("rows of inference come faster than they are measured, and too many wait: {} left "
                    "out so far; a smaller --share helps",
                    counted(dropped, "row")));
  }

  StreamBatch read(const Inference& request) const {
    const auto& [body, headers] = request;
    const std::string packed = header_of(headers, "content-encoding");
    if (!packed.empty() && packed != "identity")
      throw Error(ErrorCode::model,
                  fmt::format("the request's Content-Encoding is {}; expected none", in_quotes(packed)));
    std::optional<std::size_t> json_bytes;
    if (const std::string length = header_of(headers, "inference-header-content-length"); !length.empty()) {
      const std::optional<double> bytes = read_number(length);
      if (!bytes || !(*bytes >= 0 && *bytes <= static_cast<double>(body.size())))
        throw Error(ErrorCode::model,
                    fmt::format("Inference-Header-Content-Length is {}; expected at most {}",
                                in_quotes(length), body.size()));
      json_bytes = static_cast<std::size_t>(*bytes);
    }
    return read_inference_rows(body, json_bytes, options_.features, options_.model);
  }

  const SidecarOptions options_;
  const ModelAddress address_;
  const std::string name_ = own_name();
  std::stop_source stopping_;
  Upstream upstream_;
  std::atomic<std::uint64_t> requests_ = 0, unread_ = 0, rows_ = 0, dropped_rows_ = 0, unanswered_ = 0;
  mutable std::mutex mutex_;
  std::string last_unread_;
  SeldomNote full_, silent_, unreadable_;
  ReadingThread reading_;  // last: it uses the others
};

Sidecar::Sidecar(const SidecarOptions& options) : parts_(std::make_unique<Parts>(options)) {}
Sidecar::~Sidecar() = default;

std::vector<HttpRoute> Sidecar::routes() { return parts_->routes(); }
void Sidecar::stop() { parts_->stop(); }
InferenceCounts Sidecar::counts() const { return parts_->counts(); }

}  // namespace harmonia
