#include "http_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "harmonia/core/error.hpp"
#include "harmonia/core/sha256.hpp"
#include "harmonia/core/text.hpp"
#include "http_connection.hpp"
#include "http_text.hpp"

namespace harmonia {
namespace {

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

// A request and its answer, as this server sees them.
struct Turn {
  std::optional<std::vector<HttpField>> fields;  // of the request; none: they are not of HTTP
  httplib::Request* request = nullptr;
  bool answered = false;  // by us, and not by httplib
  bool closing = false;   // the connection ends after the answer
};

// Leads from httplib's request to its turn: put into the member `progress`, of which servers have no use.
struct TurnLink {
  Turn* turn;
  bool operator()(std::uint64_t, std::uint64_t) const { return true; }
};

// None: httplib could not read the request.
Turn* turn_of(const httplib::Request& request) {
  const auto* const link = request.progress.target<TurnLink>();
  return link == nullptr ? nullptr : link->turn;
}

void close_after(Turn& turn) {
  turn.closing = true;
  turn.request->headers.erase("Connection");
  turn.request->headers.emplace("Connection", "close");
}

HttpRequest request_of(const httplib::Request& from) {
  HttpRequest request;
  request.method = from.method;
  request.path = from.path;
  request.target = from.target;
  request.client = from.remote_addr;
  if (const Turn* const turn = turn_of(from); turn != nullptr && turn->fields) request.fields = *turn->fields;
  for (const auto& [name, value] : request.fields) request.headers.emplace(lower(name), value);
  for (const auto& [name, value] : from.params) request.query.emplace(name, value);
  return request;
}

// The first part of the path, after its slash; the path goes on after it.
std::string_view next_part(std::string_view& path) {
  const std::size_t end = std::min(path.find('/', 1), path.size());
  const std::string_view part = path.substr(1, end - 1);
  path.remove_prefix(end);
  return part;
}

bool matches(const HttpRoute& route, HttpRequest& request) {
  std::string_view wanted = route.path, path = request.path;
  while (wanted.starts_with('/') && path.starts_with('/')) {
    const std::string_view expected = next_part(wanted), part = next_part(path);
    if (expected == "*") {
      if (part.empty() || part == "." || part == "..") return false;
      request.rest = part;
    } else if (expected != part) {
      return false;
    }
  }
  return wanted.empty() && path.empty();
}

// A thread for every connection, made when there is none to spare; as many connections again may wait for
// one. Further ones are run by the thread that accepts, which refuses them.
class BoundedThreads final : public httplib::TaskQueue {
 public:
  explicit BoundedThreads(std::size_t most) : most_(most) {}

  void enqueue(std::function<void()> connection) override {
    {
      const std::lock_guard lock(mutex_);
      if (running_ + waiting_.size() < 2 * most_) {
        waiting_.push_back(std::move(connection));
        if (waiting_.size() <= idle_ || threads_.size() >= most_ || add_thread()) {
          entered_.notify_one();
          return;
        }
        connection = std::move(waiting_.back());
        waiting_.pop_back();
      }
    }
    connection();
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    entered_.notify_all();
    threads_.clear();  // joins
  }

 private:
  // False: the system has none, and nor have we.
  bool add_thread() {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      return !threads_.empty();  // one of them will have time
    }
    return true;
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      entered_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
      --idle_;
      if (waiting_.empty()) return;
      const std::function<void()> connection = std::move(waiting_.front());
      waiting_.pop_front();
      ++running_;
      lock.unlock();
      connection();
      lock.lock();
      --running_;
    }
  }

  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable entered_;
  std::deque<std::function<void()>> waiting_;
  std::size_t idle_ = 0, running_ = 0;
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace

HttpReply http_error(int status, std::string_view message) {
  using Json = nlohmann::json;
  HttpReply reply;
  reply.status = status;
  reply.body =
      Json{{"error", {{"message", message}}}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return reply;
}

ListenAddress read_listen_address(const std::string& text) {
  ListenAddress address;
  const std::size_t colon = text.rfind(':');
  std::string_view host =
      colon == std::string::npos ? std::string_view(address.host) : std::string_view(text).substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string_view digits = std::string_view(text).substr(colon == std::string::npos ? 0 : colon + 1);
  const std::optional<double> port = read_number(digits);
  const bool whole = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!port || !whole || *port > 65535 || host.empty())
    throw Error(ErrorCode::usage,
                fmt::format("--listen {}; expected HOST:PORT, such as 127.0.0.1:8088", in_quotes(text)));
  address.host = std::string(host);
  address.port = static_cast<int>(*port);
  return address;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

bool is_same_secret(const std::string& text, const std::string& key) {
  return sha256_hex(text) == sha256_hex(key);
}

bool has_bearer(const HttpRequest& request, const std::string& key) {
  constexpr std::string_view kBearer = "bearer ";
  const std::string sent = request.header("authorization");
  if (!lower(sent).starts_with(kBearer)) return false;
  return is_same_secret(std::string(trim(std::string_view(sent).substr(kBearer.size()))), key);
}

class HttpServer::Listener final : public httplib::Server {
 public:
  Listener(HttpOptions options, std::vector<HttpRoute> routes)
      : options_(std::move(options)), routes_(std::move(routes)) {
    const auto take = [this](const httplib::Request& request, httplib::Response& response,
                             const httplib::ContentReader& reader) { answer(request, response, &reader); };
    const auto take_empty = [this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response, nullptr);
    };
    constexpr const char* kAll = ".*";
    Get(kAll, take_empty).Options(kAll, take_empty);
    Post(kAll, take).Put(kAll, take).Patch(kAll, take).Delete(kAll, take);
    set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
      const Turn* const turn = turn_of(request);
      if (turn == nullptr || !turn->answered) answer_unread(request, response);
    });
    set_exception_handler([](const httplib::Request&, httplib::Response& response,
                             const std::exception_ptr&) { response.status = 500; });
    new_task_queue = [this] { return new BoundedThreads(options_.limits.connections); };  // it deletes it
    set_tcp_nodelay(true);
    set_payload_max_length(options_.limits.body);
    set_keep_alive_max_count(1000000);
    set_keep_alive_timeout(static_cast<time_t>(options_.limits.idle_seconds));
    set_socket_options([](socket_t socket) {  // as is usual, but no second server on the same port
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    start();
  }

  ~Listener() override {
    stopping_ = true;
    stop();
    thread_.join();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const std::string& address() const { return address_; }

 private:
  void start() {
    const int port = options_.port == 0                           ? bind_to_any_port(options_.host)
                     : bind_to_port(options_.host, options_.port) ? options_.port
                                                                  : -1;
    if (port <= 0) {
      throw Error(ErrorCode::usage, fmt::format("cannot listen on {}:{}; expected an address of this machine "
                                                "and a port that is free",
                                                options_.host, options_.port));
    }
    constexpr int kBacklog = 1024;  // httplib lets five wait, and a client that finds no room waits a second
    ::listen(svr_sock_, kBacklog);
    const bool is_ipv6 = options_.host.find(':') != std::string::npos;
    address_ = fmt::format("http://{}{}{}:{}", is_ipv6 ? "[" : "", options_.host, is_ipv6 ? "]" : "", port);
    thread_ = std::jthread([this] {
      accepting_ = std::this_thread::get_id();
      listen_after_bind();
      ended_ = true;
    });
    constexpr std::chrono::milliseconds kTick{1};
    while (!is_running() && !ended_) std::this_thread::sleep_for(kTick);  // stop() needs that
  }

  bool process_and_close_socket(socket_t socket) override {
    if (std::this_thread::get_id() == accepting_) {
      refuse_connection(socket);
      options_.replied({}, 503);
      return false;
    }
    HttpConnection connection(socket, options_.limits, stopping_);
    for (bool goes_on = true; goes_on && connection.wait() && !stopping_;) {
      connection.begin();
      bool client_closes = false;
      Turn turn;
      const bool done = process_request(connection, false, client_closes, [&](httplib::Request& request) {
        turn.request = &request;
        turn.fields = read_fields(connection.head());
        // httplib decodes percent signs in values.
        request.headers.clear();
        if (turn.fields) request.headers.insert(turn.fields->begin(), turn.fields->end());
        // A page of 300 kB is not worth a compressor's time; ranges would make one of many copies of it.
        request.headers.erase("Accept-Encoding");
        request.ranges.clear();
        request.progress = TurnLink{&turn};
      });
      goes_on = done && turn.answered && !client_closes && !turn.closing;
    }
    return true;
  }

  void answer(const httplib::Request& from, httplib::Response& response,
              const httplib::ContentReader* reader) {
    HttpRequest request = request_of(from);
    Turn& turn = *turn_of(from);
    const std::string fault =
        turn.fields ? framing_fault(*turn.fields, reader != nullptr) : "a line of its head is no header";
    const bool has_body = from.has_header("Content-Length") || from.has_header("Transfer-Encoding");
    bool whole = fault.empty() && (reader == nullptr || !has_body);
    HttpReply reply;
    try {
      reply = !fault.empty()
                  ? http_error(400, "the request cannot be read: " + fault)
                  : reply_to(request, [&](const HttpRoute& route) -> std::optional<HttpReply> {
                      if (whole) return std::nullopt;
                      std::optional<HttpReply> refused = read_body(route, turn, *reader, request.body);
                      whole = !refused;
                      return refused;
                    });
    } catch (const Error& error) {
      reply = http_error(500, error.what());
    }
    if (!whole) close_after(turn);  // what is left of the body is no request
    write(request, reply, response);
    turn.answered = true;
  }

  // read: the body, as the route takes it.
  HttpReply reply_to(HttpRequest& request,
                     const std::function<std::optional<HttpReply>(const HttpRoute&)>& read) const {
    std::string known;
    for (const HttpRoute& route : routes_) {
      if (!matches(route, request)) continue;
      if (route.method != request.method && !(route.method == "GET" && request.method == "HEAD")) {
        known += (known.empty() ? "" : ", ") + route.method;
        continue;
      }
      if (route.admit) {
        if (std::optional<HttpReply> refused = route.admit(request)) return *refused;
      }
      if (std::optional<HttpReply> refused = read(route)) return *refused;
      return route.answer(request);
    }
    if (known.empty()) return http_error(404, fmt::format("no such path: {}", printable(request.path)));
    HttpReply reply = http_error(405, fmt::format("{} takes {} alone", printable(request.path), known));
    reply.headers.emplace_back("Allow", known);
    return reply;
  }

  std::optional<HttpReply> read_body(const HttpRoute& route, Turn& turn, const httplib::ContentReader& reader,
                                     std::string& body) const {
    const std::size_t most = route.body > 0 ? route.body : options_.limits.body;
    const HttpReply oversized =
        route.refuse(413, fmt::format("the body is too long; expected {} bytes at most", most));
    httplib::Request& from = *turn.request;
    if (!route.packed && from.has_header("Content-Encoding"))
      return route.refuse(415, "the body has a Content-Encoding; expected none");
    const std::optional<double> length = read_number(from.get_header_value("Content-Length"));
    if (length && !(*length <= static_cast<double>(most))) return oversized;
    // httplib would unpack what is packed, and take forms apart.
    from.headers.erase("Content-Encoding");
    from.headers.erase("Content-Type");
    bool too_long = false;
    const bool whole = reader([&](const char* data, std::size_t size) {
      too_long = body.size() + size > most;
      if (!too_long) body.append(data, size);
      return !too_long;
    });
    if (too_long) return oversized;
    if (!whole) return route.refuse(400, "the body broke off, or came too slowly");
    return std::nullopt;
  }

  void write(const HttpRequest& request, const HttpReply& reply, httplib::Response& response) const {
    response.status = reply.status;
    if (reply.passed_on) {
      for (const auto& [name, value] : reply.headers) response.headers.emplace(name, value);
    } else {
      for (const auto& [name, value] : options_.headers) response.set_header(name, value);
      for (const auto& [name, value] : reply.headers) {
        response.headers.erase(name);
        response.set_header(name, value);
      }
    }
    if (reply.next) {
      response.set_chunked_content_provider(
          reply.type, [next = reply.next](std::size_t, httplib::DataSink& sink) {
            std::optional<std::string> piece;
            try {
              piece = next();
            } catch (const Error&) {
              return false;
            }
            if (!piece) {
              sink.done();
              return true;
            }
            return piece->empty() ? sink.is_writable() : sink.write(piece->data(), piece->size());
          });
    } else {
      response.body = reply.body;
      if (!reply.type.empty()) response.set_header("Content-Type", reply.type);
    }
    options_.replied(request, reply.status);
  }

  // What httplib itself refuses: it is no HTTP, or its head is too long or came too slowly.
  void answer_unread(const httplib::Request& from, httplib::Response& response) const {
    const int status = response.status;
    write(request_of(from), http_error(status, "this is no request that can be read"), response);
  }

  const HttpOptions options_;
  const std::vector<HttpRoute> routes_;
  std::string address_;
  std::atomic<bool> ended_ = false, stopping_ = false;
  std::thread::id accepting_;  // written before there are others
  std::jthread thread_;
};

HttpServer::HttpServer(const HttpOptions& options, std::vector<HttpRoute> routes)
    : listener_(std::make_unique<Listener>(options, std::move(routes))) {}

HttpServer::~HttpServer() = default;

const std::string& HttpServer::address() const { return listener_->address(); }

}  // namespace harmonia
