#include "monitor_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/sha256.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/monitor/row_reader.hpp"
#include "harmonia/report/monitor_report.hpp"
#include "http_text.hpp"
#include "monitor_metrics.hpp"
#include "sidecar.hpp"

namespace harmonia {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Json = nlohmann::ordered_json;

constexpr std::size_t kSmallBody = 4096;   // of what is read before a key was seen
constexpr milliseconds kTick{500};         // between two looks at what is to be shown
constexpr milliseconds kHeartbeat{10000};  // longest silence of an event stream
constexpr const char* kHtml = "text/html; charset=utf-8";

// Sixteen bytes that nobody can guess, in hexadecimal.
std::string random_text() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

std::optional<RowForm> form_of(const std::string& type) {
  if (type == "text/csv") return RowForm::csv;
  if (type == "application/json" || type == "application/x-ndjson" || type == "application/jsonl")
    return RowForm::json;
  return std::nullopt;
}

HttpReply text_reply(std::string body, const char* type) {
  HttpReply reply;
  reply.type = type;
  reply.body = std::move(body);
  return reply;
}

HttpReply page_reply(const LivePage& page, int status) {
  HttpReply reply = text_reply(page.html, kHtml);
  reply.status = status;
  reply.headers.emplace_back("Content-Security-Policy", page.policy);
  return reply;
}

HttpReply see_other(const std::string& cookie) {
  HttpReply reply;
  reply.status = 303;
  reply.headers = {{"Location", "/"}, {"Set-Cookie", cookie}};
  return reply;
}

HttpReply retry_later(const std::string& message, int seconds) {
  HttpReply reply = http_error(503, message);
  reply.headers.emplace_back("Retry-After", std::to_string(seconds));
  return reply;
}

// Lines about refused requests: some a second, and how many were left out.
class RefusalLog {
 public:
  explicit RefusalLog(std::function<void(const std::string&)> log) : log_(std::move(log)) {}

  void add(const HttpRequest& request, int status) {
    constexpr int kMost = 10;
    std::string line;
    {
      const std::lock_guard lock(mutex_);
      if (Clock::now() - second_ >= std::chrono::seconds(1)) {
        second_ = Clock::now();
        written_ = 0;
      }
      if (written_ >= kMost) {
        ++left_out_;
        return;
      }
      ++written_;
      line = request.method.empty() ? fmt::format("a connection was refused: {}", status)
                                    : fmt::format("{} {} from {} was refused: {}", printable(request.method),
                                                  printable(request.path), request.client, status);
      if (left_out_ > 0) line += fmt::format("; and {} before", counted(left_out_, "other"));
      left_out_ = 0;
    }
    log_(line);
  }

 private:
  std::function<void(const std::string&)> log_;
  std::mutex mutex_;
  Clock::time_point second_{};
  int written_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace

class MonitorServer::Site {
 public:
  Site(const MonitorServerOptions& options, std::vector<ServedModel> models, PushRows push)
      : options_(options), models_(std::move(models)), push_(std::move(push)), refusals_(options.log) {
    if (push_ && options_.ingest_key.empty() && !is_loopback(options_.host)) {
      throw Error(ErrorCode::usage,
                  fmt::format("{} takes rows from other machines; expected a key for that", options_.host));
    }
    session_ = sha256_hex(random_text() + options_.read_key);
  }

  std::vector<HttpRoute> routes() {
    const auto reader = [this](const HttpRequest& request) { return admit_reader(request); };
    const auto everybody = [](const HttpRequest&) { return std::optional<HttpReply>(); };
    std::vector<HttpRoute> routes;
    const auto add = [&](const char* method, const char* path, auto admit, auto answer) {
      routes.push_back({method, path, admit,
                        [this, answer](const HttpRequest& r) { return (this->*answer)(r); },
                        std::string_view(path) == "/v1/rows" ? 0 : kSmallBody});
    };
    add("GET", "/", everybody, &Site::page);
    add(
        "POST", "/login", [](const HttpRequest& request) { return admit_form(request); }, &Site::log_in);
    add("POST", "/logout", everybody, &Site::log_out);
    add("GET", "/api/status", reader, &Site::status);
    add("GET", "/api/alerts/*", reader, &Site::alert);
    add("GET", "/api/events", reader, &Site::events);
    add(
        "POST", "/v1/rows", [this](const HttpRequest& request) { return admit_rows(request); }, &Site::rows);
    add("GET", "/metrics", reader, &Site::metrics);
    add("GET", "/healthz", everybody, &Site::health);
    add("GET", "/readyz", everybody, &Site::readiness);
    add("GET", "/openapi.json", everybody, &Site::api);
    if (options_.sidecar != nullptr)
      std::ranges::move(options_.sidecar->routes(), std::back_inserter(routes));
    return routes;
  }

  void replied(const HttpRequest& request, int status) {
    ++replies_.at(static_cast<std::size_t>(status >= 100 && status < 600 ? status / 100 : 0));
    const bool passed_on = request.path.starts_with("/v2");  // what the model server says is not our affair
    if (status >= 400 && status != 404 && !passed_on) refusals_.add(request, status);
  }

 private:
  // Without a key only names of this machine are answered: a web page could have its own name lead here.
  std::optional<HttpReply> admit_name(const HttpRequest& request) const {
    if (!is_loopback(options_.host) || is_loopback(host_name(request))) return std::nullopt;
    return http_error(403,
                      fmt::format("asked for as {}; expected 127.0.0.1 or localhost where there is no key",
                                  in_quotes(host_name(request))));
  }

  static std::optional<HttpReply> admit_key(const HttpRequest& request, const std::string& key) {
    if (has_bearer(request, key)) return std::nullopt;
    const bool sent = !request.header("authorization").empty();
    HttpReply reply = sent ? http_error(403, "the key is wrong")
                           : http_error(401, "no key; expected the header Authorization: Bearer KEY");
    if (!sent) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    return reply;
  }

  bool has_session(const HttpRequest& request) const {
    return is_same_secret(cookie_of(request, cookie_name(request)), session_);
  }

  std::optional<HttpReply> admit_reader(const HttpRequest& request) const {
    if (options_.read_key.empty()) return admit_name(request);
    if (has_session(request)) return std::nullopt;
    return admit_key(request, options_.read_key);
  }

  static std::optional<HttpReply> admit_form(const HttpRequest& request) {
    if (media_type(request) == "application/x-www-form-urlencoded") return std::nullopt;
    return http_error(415, "expected the form of the page");
  }

  std::optional<HttpReply> admit_rows(const HttpRequest& request) const {
    if (options_.ingest_key.empty()) {
      if (std::optional<HttpReply> refused = admit_name(request)) return refused;
      if (!request.header("origin").empty())
        return http_error(403, "sent by a web page; expected a key, or another sender");
    } else if (std::optional<HttpReply> refused = admit_key(request, options_.ingest_key)) {
      return refused;
    }
    if (!push_) return http_error(404, "this monitor takes its rows from elsewhere");
    if (!form_of(media_type(request))) {
      return http_error(415, fmt::format("Content-Type {}; expected text/csv, application/json or "
                                         "application/x-ndjson",
                                         in_quotes(request.header("content-type"))));
    }
    constexpr std::size_t kLongestId = 200;
    if (request.header("x-harmonia-batch").size() > kLongestId)
      return http_error(400, fmt::format("X-Harmonia-Batch is longer than {} bytes", kLongestId));
    return std::nullopt;
  }

  HttpReply page(const HttpRequest& request) {
    if (options_.read_key.empty()) {
      if (std::optional<HttpReply> refused = admit_name(request)) return *refused;
    } else if (!has_session(request)) {
      return page_reply(login_page(false), 401);
    }
    return page_reply(monitor_page(!options_.read_key.empty()), 200);
  }

  HttpReply log_in(const HttpRequest& request) {
    if (options_.read_key.empty()) return http_error(404, "nobody has to log in here");
    if (!is_same_secret(form_value(request.body, "token"), options_.read_key))
      return page_reply(login_page(true), 403);
    return see_other(fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(request), session_));
  }

  HttpReply log_out(const HttpRequest& request) {
    return see_other(fmt::format("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", cookie_name(request)));
  }

  std::vector<WatchedModel> watched() const {
    std::vector<WatchedModel> all;
    all.reserve(models_.size());
    for (const ServedModel& model : models_)
      all.push_back({model.name, model.baseline, model.options, model.status(), std::nullopt});
    if (options_.sidecar != nullptr) all.front().inference = options_.sidecar->counts();
    return all;
  }

  // What pages are sent, made anew when it is older than a tick. The same text is the same pointer.
  std::shared_ptr<const std::string> snapshot() {
    const std::lock_guard lock(mutex_);
    if (snapshot_ && Clock::now() - made_ < kTick * 4 / 5) return snapshot_;
    std::string text = monitor_status_json(watched());
    made_ = Clock::now();
    if (!snapshot_ || *snapshot_ != text) snapshot_ = std::make_shared<const std::string>(std::move(text));
    return snapshot_;
  }

  HttpReply status(const HttpRequest&) {
    return text_reply(monitor_status_json(watched()), "application/json");
  }

  HttpReply alert(const HttpRequest& request) {
    const auto asked = request.query.find("model");
    for (const ServedModel& model : models_) {
      if (asked != request.query.end() && asked->second != model.name) continue;
      for (const Alert& alert : model.status().alerts) {
        if (std::to_string(alert.id) == request.rest)
          return text_reply(alert_text(alert, *model.baseline), "application/json");
      }
    }
    return http_error(404, fmt::format("no alert {}, or not any more", in_quotes(request.rest)));
  }

  // Sends the status when it has changed, and something now and then, by which both sides notice that the
  // other is gone.
  class Events {
   public:
    explicit Events(Site& site) : site_(site) {}
    ~Events() { --site_.pages_; }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    std::optional<std::string> next() {
      if (sent_) std::this_thread::sleep_for(kTick);
      std::shared_ptr<const std::string> present = sent_;
      try {
        present = site_.snapshot();
      } catch (const Error&) {
        if (!sent_) return std::nullopt;  // a file that others write may be busy; the page asks again
      }
      if (present != sent_) {
        sent_ = std::move(present);
        spoke_ = Clock::now();
        return fmt::format("event: status\nretry: 2000\ndata: {}\n\n", *sent_);
      }
      if (Clock::now() - spoke_ < kHeartbeat) return std::string();
      spoke_ = Clock::now();
      return ":\n\n";
    }

   private:
    Site& site_;
    std::shared_ptr<const std::string> sent_;
    Clock::time_point spoke_;
  };

  HttpReply events(const HttpRequest&) {
    if (++pages_ > options_.most_pages) {
      --pages_;
      return retry_later("too many pages are open", 10);
    }
    HttpReply reply;
    reply.type = "text/event-stream";
    reply.next = [events = std::make_shared<Events>(*this)] { return events->next(); };
    return reply;
  }

  HttpReply rows(const HttpRequest& request) {
    StreamBatch batch;
    try {
      RowReaderOptions reading;
      reading.id = options_.id;
      reading.name = "the body";
      reading.form = *form_of(media_type(request));
      batch = RowReader(models_.front().baseline->features, reading).read_all(request.body);
    } catch (const Error& error) {
      return http_error(400, error.what());
    }
    batch.id = request.header("x-harmonia-batch");
    batch.time = time_now();
    const std::size_t count = batch.rows.values.rows();
    constexpr std::size_t kMostReasons = 10;
    Json reasons = Json::array();
    for (std::size_t i = 0; i < std::min(batch.refused.size(), kMostReasons); ++i)
      reasons.push_back({{"row", batch.refused[i].position}, {"reason", batch.refused[i].reason}});
    Json json{{"rows", count}, {"refused", batch.refused.size()}, {"repeated", false}};
    if (!reasons.empty()) json["reasons"] = std::move(reasons);
    switch (push_(std::move(batch), options_.ingest_wait)) {
      case PushOutcome::kept:
        break;
      case PushOutcome::repeated:
        json["repeated"] = true;
        break;
      case PushOutcome::full:
        ++refused_batches_;
        return retry_later("too many rows wait to be measured", 1);
      case PushOutcome::stopped:
        return retry_later("the monitor ends", 5);
      case PushOutcome::late:
        return retry_later("still being measured; send it again with the same X-Harmonia-Batch", 5);
    }
    return text_reply(json.dump(-1, ' ', false, Json::error_handler_t::replace), "application/json");
  }

  HttpReply metrics(const HttpRequest&) {
    ServerCounts counts;
    for (std::size_t i = 0; i < replies_.size(); ++i) counts.replies.at(i) = replies_.at(i);
    counts.refused_batches = refused_batches_;
    counts.pages = pages_;
    counts.sinks = options_.sinks();
    return text_reply(monitor_metrics(watched(), counts), kMetricsType);
  }

  HttpReply health(const HttpRequest&) {
    return text_reply(Json{{"status", "ok"}, {"version", HARMONIA_VERSION}}.dump(), "application/json");
  }

  HttpReply readiness(const HttpRequest&) {
    const std::string reason = options_.not_ready();
    return reason.empty() ? text_reply(R"({"status":"ready"})", "application/json") : retry_later(reason, 1);
  }

  HttpReply api(const HttpRequest&) { return text_reply(monitor_api(), "application/json"); }

  const MonitorServerOptions options_;
  const std::vector<ServedModel> models_;
  const PushRows push_;
  std::string session_;  // what the cookie of those who have logged in holds
  RefusalLog refusals_;
  std::mutex mutex_;
  std::shared_ptr<const std::string> snapshot_;
  Clock::time_point made_;
  std::atomic<std::size_t> pages_ = 0;
  std::atomic<std::uint64_t> refused_batches_ = 0;
  std::array<std::atomic<std::uint64_t>, 6> replies_{};
};

MonitorServer::MonitorServer(const MonitorServerOptions& options, std::vector<ServedModel> models,
                             PushRows push)
    : site_(std::make_unique<Site>(options, std::move(models), std::move(push))) {
  HttpOptions http;
  http.host = options.host;
  http.port = options.port;
  http.limits = options.limits;
  if (options.sidecar != nullptr) {  // its clients are services, which keep connections for later
    http.limits.body = std::max(http.limits.body, kLongestInference);
    http.limits.connections = std::max<std::size_t>(http.limits.connections, 512);
    http.limits.idle_seconds = std::max(http.limits.idle_seconds, 60.0);
  }
  http.headers = {{"Cache-Control", "no-store"},
                  {"X-Content-Type-Options", "nosniff"},
                  {"X-Frame-Options", "DENY"},
                  {"Referrer-Policy", "no-referrer"},
                  {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"}};
  http.replied = [site = site_.get()](const HttpRequest& request, int status) {
    site->replied(request, status);
  };
  server_ = std::make_unique<HttpServer>(http, site_->routes());
}

MonitorServer::~MonitorServer() = default;

const std::string& MonitorServer::address() const { return server_->address(); }

}  // namespace harmonia
